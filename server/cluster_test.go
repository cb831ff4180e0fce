package server_test

import (
	"bytes"
	"context"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubetab/kubetab/internal/testmodule"
	"github.com/kubetab/kubetab/server/internal/process"
)

var module = flag.String("wasm", "", "`file` of the WebAssembly module to play testdata/cluster against, too, under Node")

// storyNodes is how many nodes the clusters of the stories have.
const storyNodes = 3

// TestCluster plays testdata/cluster with the kubectl of the same version, against bin/kubetab and, with -wasm, against
// the module. Each file is a terminal of its own in a namespace of its own, and its folder says what it needs:
//
//	controllers/  controllers alone: nothing is scheduled, and what a kubelet would report is written by hand. With
//	              -kubeconfig these files alone are played, against another cluster: a real kube-apiserver with a real
//	              kube-controller-manager prints the same.
//	nodes/        nodes and the scheduler, too
//	sockets/      connections that carry more than requests and answers (exec, port-forward, client certificates),
//	              which a page does not have
//	alone/        nodes that others would miss: one file after the other, on a cluster that no other file is played on
func TestCluster(t *testing.T) {
	t.Parallel()
	kubectl, err := process.Binary("kubectl")
	if err != nil {
		t.Fatal(err)
	}
	native := func(t *testing.T) string { return startKubetab(t, "--nodes", strconv.Itoa(storyNodes)).Kubeconfig }
	stories := []story{{"native", native, []string{"controllers", "nodes", "sockets"}, true}, {"native-alone", native, []string{"alone"}, false}}
	if *module != "" {
		wasm := func(t *testing.T) string { return startModule(t, *module) }
		stories = append(stories, story{"wasm", wasm, []string{"controllers", "nodes"}, true}, story{"wasm-alone", wasm, []string{"alone"}, false})
	}
	if *kubeconfig != "" {
		stories = []story{{"other", func(*testing.T) string { return *kubeconfig }, []string{"controllers"}, true}}
	}
	for _, s := range stories {
		// One start after the other and before any story: a start has much to
		// do, and next to a dozen stories it would take minutes.
		config := s.start(t)
		if *kubeconfig == "" {
			awaitNodes(t, kubectl, config)
		}
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			s.tell(t, kubectl, config)
		})
	}
}

// awaitNodes returns when the nodes take Pods, which is a moment after the server is ready.
func awaitNodes(t *testing.T, kubectl, config string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	ready := strings.Join(slices.Repeat([]string{"True"}, storyNodes), " ")
	c := exec.CommandContext(ctx, "sh", "-c", `until [ "$("$0" get nodes -o jsonpath='{.items[*].spec.taints}{.items[*].status.conditions[?(@.type=="Ready")].status}')" = "$1" ]; do sleep 0.1; done`, kubectl, ready)
	c.Env = append(os.Environ(), "KUBECONFIG="+config)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("the nodes are not there: %v %s", err, out)
	}
}

// readTypes has the server make its document of types, once and with the time that it takes: whoever asks first waits for
// that, and kubectl, which asks before it sends a manifest, gives up after 32 seconds. The server itself breaks off a
// request after 60, but what it has made by then it keeps.
func readTypes(t *testing.T, config string) {
	t.Helper()
	c, err := clientcmd.BuildConfigFromFlags("", config)
	if err != nil {
		t.Fatal(err)
	}
	c.Timeout = time.Minute
	client, err := discovery.NewDiscoveryClientForConfig(c)
	if err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); ; {
		_, err := client.OpenAPISchema()
		if err == nil {
			return
		}
		if time.Since(begun) > startLimit {
			t.Fatal(err)
		}
	}
}

// story is what one cluster is told.
type story struct {
	name     string
	start    func(t *testing.T) string // returns the path of its administrator's kubeconfig
	folders  []string
	parallel bool // files at the same time
}

func (s story) tell(t *testing.T, kubectl, config string) {
	readTypes(t, config)
	for _, folder := range s.folders {
		files, err := filepath.Glob(filepath.Join("testdata/cluster", folder, "*.txt"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no transcripts in %s (%v)", folder, err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".txt")
			t.Run(name, func(t *testing.T) {
				if s.parallel {
					t.Parallel()
				}
				play(t, file, openShell(t, kubectl, config, name))
			})
		}
	}
}

// startModule runs the module behind TLS, and returns its administrator's kubeconfig: over plain HTTP, kubectl sends no
// credentials.
func startModule(t *testing.T, wasm string) string {
	t.Helper()
	target, err := url.Parse(testmodule.Start(t, testmodule.Options{WASM: wasm, Config: fmt.Sprintf(`{"nodes":%d}`, storyNodes)}).URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			if r.In.Header.Get("Authorization") == "Bearer "+nobody {
				r.Out.Header.Del("Authorization")
			}
		},
		FlushInterval: -1, // watches
	}
	front := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// The body is read before it is passed on. Otherwise the proxy may look for its end only after the answer has
		// begun, when the server has closed it, and then gives up the connection on which the answer arrives.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	return adminConfig(t, front)
}

// nobody is a token that the front takes away: kubectl asks for a name and a password where there are no credentials,
// and whoever brings none to the module is its administrator.
const nobody = "nobody"

// adminConfig writes the administrator's kubeconfig of a module behind front.
func adminConfig(t *testing.T, front *httptest.Server) string {
	t.Helper()
	const name = "module"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{
		Server:                   front.URL,
		CertificateAuthorityData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw}),
	}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: nobody}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}
