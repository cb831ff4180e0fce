package server_test

import (
	"bufio"
	"encoding/pem"
	"flag"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/kubetab/kubetab/server/internal/process"
)

var module = flag.String("wasm", "", "`file` of the WebAssembly module to play testdata/cluster against, under Node")

// storyNodes is how many nodes the clusters of the stories have.
const storyNodes = "3"

// TestCluster plays testdata/cluster with the kubectl of the same version, against bin/kubetab or, with -wasm, against
// the module. Each file is a terminal of its own in a namespace of its own, and its folder says what it needs:
//
//	controllers/  controllers alone: nothing is scheduled, and what a kubelet would report is written by hand. With
//	              -kubeconfig these files are played against another cluster: a real kube-apiserver with a real
//	              kube-controller-manager prints the same.
//	nodes/        nodes and the scheduler, too
//	sockets/      connections that carry more than requests and answers (exec, port-forward, client certificates),
//	              which a page does not have
//	alone/        nodes that others would miss or a clock that others go by: each file has a cluster of its own
func TestCluster(t *testing.T) {
	kubectl, err := process.Binary("kubectl")
	if err != nil {
		t.Fatal(err)
	}
	shared := *kubeconfig
	folders := []string{"controllers"}
	if shared == "" {
		shared = startCluster(t)
		folders = []string{"controllers", "nodes", "alone"}
		if *module == "" {
			folders = append(folders, "sockets")
		}
	}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join("testdata/cluster", folder, "*.txt"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no transcripts in %s (%v)", folder, err)
		}
		for _, file := range files {
			name := strings.TrimSuffix(filepath.Base(file), ".txt")
			t.Run(folder+"/"+name, func(t *testing.T) {
				t.Parallel()
				config := shared
				if folder == "alone" {
					config = startCluster(t)
				}
				play(t, file, openShell(t, kubectl, config, name))
			})
		}
	}
}

// startCluster starts what the stories are played against and returns the path of its administrator's kubeconfig.
func startCluster(t *testing.T) string {
	t.Helper()
	if *module == "" {
		return startKubetab(t, "--nodes", storyNodes).Kubeconfig
	}
	return startModule(t, *module)
}

// startModule runs the module under Node, behind TLS: over plain HTTP, kubectl sends no credentials.
func startModule(t *testing.T, module string) string {
	t.Helper()
	module, err := filepath.Abs(module)
	if err != nil {
		t.Fatal(err)
	}
	host := exec.Command("node", "../wasm/host.mjs", "--wasm", module, "--listen", "127.0.0.1:0", "--config", `{"nodes":`+storyNodes+`}`)
	host.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // also when the test is killed
	log, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	if err != nil {
		t.Fatal(err)
	}
	host.Stderr = log
	stdout, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = host.Process.Kill() // it may have ended
		_ = host.Wait()         // ... and then has told why
		_ = log.Close()
		if text, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("the module's log:\n%s", text)
		}
	})
	timer := time.AfterFunc(startLimit, func() { _ = host.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	timer.Stop()
	address, ok := strings.CutPrefix(strings.TrimSpace(line), "listening ")
	if !ok {
		t.Fatalf("the module does not start: %q, %v", line, err)
	}
	target, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewTLSServer(&httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(target) },
		FlushInterval: -1, // watches
	})
	t.Cleanup(front.Close)
	return adminConfig(t, front)
}

// adminConfig writes a kubeconfig without credentials: whoever brings none to the module is its administrator.
func adminConfig(t *testing.T, front *httptest.Server) string {
	t.Helper()
	const name = "module"
	config := clientcmdapi.NewConfig()
	config.Clusters[name] = &clientcmdapi.Cluster{
		Server:                   front.URL,
		CertificateAuthorityData: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: front.Certificate().Raw}),
	}
	config.AuthInfos[name] = &clientcmdapi.AuthInfo{}
	config.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	config.CurrentContext = name
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}
