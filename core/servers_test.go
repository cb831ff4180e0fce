package core

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/generic"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/client-go/kubernetes"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"
	"k8s.io/kubernetes/pkg/registry/core/componentstatus"

	"github.com/kubetab/kubetab/core/internal/itemjson"
)

// followed are the functions of upstream that createServerChain and
// createKubeAPIServer follow, with the hash of their source.
var followed = []struct{ file, name, sha256 string }{
	{"cmd/kube-apiserver/app/server.go", "CreateServerChain", "c5631a7aac06b45ea32ef94236eb1da3955674941f0473cfc4e271faadc38056"},
	{"pkg/controlplane/instance.go", "New", "d58a8c9aedd9cb0b15533febfda85cf70d2c06bcd73c3a69143b6b17fe7d0dda"},
}

// A new version of upstream that does more when it makes its servers must not
// go unnoticed: read what changed, follow it in servers.go, and put the new
// hash here.
func TestServersAreUpstreams(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/kubernetes").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range followed {
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, filepath.Join(strings.TrimSpace(string(out)), f.file), nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		var source bytes.Buffer
		for _, d := range file.Decls {
			if function, ok := d.(*ast.FuncDecl); ok && function.Name.Name == f.name {
				if err := printer.Fprint(&source, files, function); err != nil {
					t.Fatal(err)
				}
			}
		}
		sum := sha256.Sum256(source.Bytes())
		if got := hex.EncodeToString(sum[:]); got != f.sha256 {
			t.Errorf("%s of %s is not what it was when servers.go was written: %s", f.name, f.file, got)
		}
	}
}

// groupProvider is a provider of upstream's kind, and hooked one with a post-start hook.
type groupProvider struct {
	controlplaneapiserver.RESTStorageProvider
	off bool
}

func (g groupProvider) NewRESTStorage(serverstorage.APIResourceConfigSource, generic.RESTOptionsGetter) (genericapiserver.APIGroupInfo, error) {
	if g.off {
		return genericapiserver.APIGroupInfo{}, nil
	}
	return genericapiserver.NewDefaultAPIGroupInfo("apps", legacyscheme.Scheme, legacyscheme.ParameterCodec, legacyscheme.Codecs), nil
}

type hooked struct{ groupProvider }

func (hooked) PostStartHook() (string, genericapiserver.PostStartHookFunc, error) {
	return "hook", nil, nil
}

func TestProvidersKeepTheirHooks(t *testing.T) {
	items := itemjson.New(0)
	if _, ok := providing(groupProvider{}, items, nil).(genericapiserver.PostStartHookProvider); ok {
		t.Error("a provider without a hook got one")
	}
	hook, ok := providing(hooked{}, items, nil).(genericapiserver.PostStartHookProvider)
	if !ok {
		t.Fatal("a provider has lost its hook")
	}
	if name, _, err := hook.PostStartHook(); name != "hook" || err != nil {
		t.Errorf("its hook is %q, %v", name, err)
	}
	was, _ := groupProvider{}.NewRESTStorage(nil, nil)
	for _, provider := range []controlplaneapiserver.RESTStorageProvider{groupProvider{}, hooked{}} {
		info, err := providing(provider, items, nil).NewRESTStorage(nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		json, _ := runtime.SerializerInfoForMediaType(info.NegotiatedSerializer.SupportedMediaTypes(), runtime.ContentTypeJSON)
		theirs, _ := runtime.SerializerInfoForMediaType(was.NegotiatedSerializer.SupportedMediaTypes(), runtime.ContentTypeJSON)
		if reflect.TypeOf(json.Serializer) == reflect.TypeOf(theirs.Serializer) {
			t.Errorf("the lists of %T are not those of itemjson", provider)
		}
	}
	if info, err := providing(groupProvider{off: true}, items, nil).NewRESTStorage(nil, nil); err != nil || info.NegotiatedSerializer != nil {
		t.Errorf("a group that is off: %v, %v", info, err)
	}
}

// Nothing listens at the ports of the components that are in this process.
func TestComponentStatuses(t *testing.T) {
	client := kubernetes.NewForConfigOrDie(sharedEngine(t).RESTConfig()).CoreV1().ComponentStatuses()
	list, err := client.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, status := range list.Items {
		names = append(names, status.Name)
		if c := status.Conditions; len(c) != 1 || c[0].Type != corev1.ComponentHealthy || c[0].Status != corev1.ConditionTrue || c[0].Message != "ok" {
			t.Errorf("%s: %+v", status.Name, c)
		}
	}
	slices.Sort(names)
	if want := []string{"controller-manager", "etcd-0", "scheduler"}; !slices.Equal(names, want) {
		t.Errorf("%q", names)
	}
	// Without a scheduler the answer is upstream's.
	upstreams := func() map[string]componentstatus.Server { return map[string]componentstatus.Server{"scheduler": nil} }
	if server := running(upstreams, Config{NoScheduler: true}.components())()["scheduler"]; server != nil {
		t.Errorf("a scheduler that is not there: %v", server)
	}
}
