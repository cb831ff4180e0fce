package server_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/component-helpers/auth/rbac/validation"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/cluster"
	"github.com/kubetab/kubetab/core/manifests"
	"github.com/kubetab/kubetab/server"
	"github.com/kubetab/kubetab/server/internal/process"
)

// asStored is everything in a cluster that nobody changes by himself, as the API gives it, by path.
func asStored(t *testing.T, client *kubernetes.Clientset) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, path := range []string{
		"/api/v1/namespaces", "/api/v1/configmaps", "/api/v1/secrets", "/api/v1/serviceaccounts", "/api/v1/services", "/api/v1/persistentvolumeclaims",
		"/apis/rbac.authorization.k8s.io/v1/clusterroles", "/apis/scheduling.k8s.io/v1/priorityclasses",
	} {
		body, err := client.RESTClient().Get().AbsPath(path).SetHeader("Accept", "application/json").DoRaw(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		var list struct {
			Items []json.RawMessage `json:"items"`
		}
		if err := json.Unmarshal(body, &list); err != nil {
			t.Fatal(err)
		}
		for _, item := range list.Items {
			var of struct {
				Metadata metav1.ObjectMeta `json:"metadata"`
			}
			if err := json.Unmarshal(item, &of); err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(of.Metadata.Name, "kube-root-ca.crt") || of.Metadata.Name == "extension-apiserver-authentication" {
				continue // each cluster's own
			}
			found[path+"/"+of.Metadata.Namespace+"/"+of.Metadata.Name] = string(item)
		}
	}
	return found
}

// areAggregated reports whether the ClusterRoles that are made of others have the rules of all of them.
func areAggregated(t *testing.T, client *kubernetes.Clientset) bool {
	t.Helper()
	roles, err := client.RbacV1().ClusterRoles().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, whole := range roles.Items {
		if whole.AggregationRule == nil {
			continue
		}
		for _, selector := range whole.AggregationRule.ClusterRoleSelectors {
			selects, err := metav1.LabelSelectorAsSelector(&selector)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range roles.Items {
				if !selects.Matches(labels.Set(part.Labels)) {
					continue
				}
				if covers, _ := validation.Covers(whole.Rules, part.Rules); !covers {
					return false
				}
			}
		}
	}
	return true
}

// save has kubetab bundle save a file of a running server.
func save(t *testing.T, p *process.Process, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "saved.kubetab")
	code, stdout, stderr := kubetab(t, append([]string{"bundle", "save", path, "--kubeconfig", p.Kubeconfig}, args...)...)
	if code != 0 || stderr != "" || !strings.HasPrefix(stdout, path) {
		t.Fatalf("code %d, stdout %q, stderr %q", code, stdout, stderr)
	}
	return path
}

// TestBundle: a cluster that is saved and served again is the same object by object, in memory and in a folder.
func TestBundle(t *testing.T) {
	t.Parallel()
	first := startKubetab(t)
	client := clientset(t, restConfig(t, first))
	ctx := t.Context()
	for n := range 3 {
		if _, err := client.CoreV1().ConfigMaps("default").Create(ctx, configMap(fmt.Sprint("made-", n)), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "mine"}, StringData: map[string]string{"password": "of-a-person"}}
	if _, err := client.CoreV1().Secrets("default").Create(ctx, secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	var want map[string]string
	path := ""
	for { // controllers may still be at work on what every cluster is born with
		before := asStored(t, client)
		path = save(t, first, "--name", "of a test")
		if want = asStored(t, client); maps.Equal(before, want) && areAggregated(t, client) {
			break
		}
	}
	without := save(t, first, "--secrets=false")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	code, stdout, stderr := kubetab(t, "bundle", "show", path)
	for _, part := range []string{`name        "of a test"`, "Kubernetes  \"v1.37.2+kubetab\"", "      1  Secret  v1\n", "Namespace  v1\n", "resource versions\n"} {
		if code != 0 || stderr != "" || !strings.Contains(stdout, part) {
			t.Errorf("show: code %d, stderr %q, and no %q in\n%s", code, stderr, part, stdout)
		}
	}
	code, shown, stderr := kubetab(t, "bundle", "show", "--kubeconfig", first.Kubeconfig)
	if code != 0 || stderr != "" || len(counts(shown)) != 6 || !slices.Equal(counts(shown), counts(stdout)) {
		t.Errorf("show of the server: code %d, stderr %q\n%s\nand of the file\n%s", code, stderr, shown, stdout)
	}
	if _, stdout, _ := kubetab(t, "bundle", "show", without); strings.Contains(stdout, "Secret") {
		t.Errorf("a bundle without Secrets:\n%s", stdout)
	}
	with := everyByte(t, path)
	if !bytes.Contains(with, []byte("of-a-person")) {
		t.Error("the Secret of a person is not found: the search means nothing")
	}
	if all := append(with, everyByte(t, without)...); holdsAny(all, credentials(t, first, restConfig(t, first))) {
		t.Error("a bundle holds what the kubeconfig of its server holds")
	}

	files := []bundle.File{{Path: "note.txt", Data: []byte("of a page\n")}, {Path: "notes/empty", Data: []byte{}}}
	change(t, path, func(b *bundle.Bundle) { b.Files, b.Settings = files, bundle.Settings{} })
	dir := filepath.Join(t.TempDir(), "data")
	for what, command := range map[string][]string{
		"in memory":      {"serve", "--from", path},
		"in a folder":    {"serve", "--from", path, "--data-dir", dir},
		"by bundle open": {"bundle", "open", path},
	} {
		second := startCommand(t, command)
		got := asStored(t, clientset(t, restConfig(t, second)))
		for key, object := range want {
			if got[key] != object {
				t.Errorf("%s: %s:\n%s\nis not\n%s", what, key, got[key], object)
			}
		}
		again := opened(t, save(t, second))
		if !reflect.DeepEqual(again.Files, files) {
			t.Errorf("%s: its files are %q", what, again.Files)
		}
		if nodes := *again.Settings.Nodes; nodes != 2 { // as where nobody says how many
			t.Errorf("%s: a bundle without settings has %d nodes", what, nodes)
		}
		second.Signal(syscall.SIGTERM)
		if code, stderr := second.Wait(endLimit); code != 0 || stderr != "" {
			t.Errorf("%s: ended with code %d, stderr %q", what, code, stderr)
		}
	}
	// A folder with files of somebody else is left as it is.
	mine := filepath.Join(t.TempDir(), "data")
	note := filepath.Join(mine, "workspace", "mine.txt")
	if err := cluster.WriteFiles(filepath.Dir(note), []bundle.File{{Path: filepath.Base(note), Data: files[0].Data}}); err != nil {
		t.Fatal(err)
	}
	code, _, stderr = kubetab(t, "serve", "--listen", "127.0.0.1:0", "--http", "", "--from", path, "--data-dir", mine)
	if _, err := os.Stat(note); code != 1 || !strings.Contains(stderr, "holds other files") || err != nil {
		t.Errorf("beside a person's files: code %d, stderr %q, and the file: %v", code, stderr, err)
	}
	// The folder is a cluster of its own from then on, and its files are a person's.
	files[0].Data = []byte("of a person\n")
	if err := os.WriteFile(filepath.Join(dir, "workspace", "note.txt"), files[0].Data, 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, stderr = kubetab(t, "serve", "--listen", "127.0.0.1:0", "--http", "", "--from", path, "--data-dir", dir)
	if code != 1 || !strings.Contains(stderr, "holds a cluster already") {
		t.Errorf("into a cluster: code %d, stderr %q", code, stderr)
	}
	third := startKubetab(t, "--data-dir", dir)
	if got := asStored(t, clientset(t, restConfig(t, third))); len(got) < len(want) {
		t.Errorf("%d objects of %d are left in the folder", len(got), len(want))
	}
	if again := opened(t, save(t, third)).Files; !reflect.DeepEqual(again, files) {
		t.Errorf("its files are %q, at a later start", again)
	}
}

// opened reads a bundle.
func opened(t *testing.T, path string) *bundle.Bundle {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	b, err := bundle.Read(file, bundle.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// change writes a bundle anew, as another program might have written it.
func change(t *testing.T, path string, how func(*bundle.Bundle)) {
	t.Helper()
	b := opened(t, path)
	how(b)
	var changed bytes.Buffer
	if err := bundle.Write(&changed, b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, changed.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// counts are the lines of bundle show that count what is in asStored.
func counts(shown string) []string {
	return regexp.MustCompile(`(?m)^ *\d+  (Namespace|Secret|ServiceAccount|Service|ClusterRole|PriorityClass)  .*$`).FindAllString(shown, -1)
}

// credentials are what a server's kubeconfig holds, and nobody else is to have: tokens, and the certificate of the CA.
func credentials(t *testing.T, p *process.Process, admin *rest.Config) [][]byte {
	t.Helper()
	config, err := clientcmd.LoadFromFile(p.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(admin.CAData)
	if block == nil {
		t.Fatal("the kubeconfig has no CA")
	}
	found := [][]byte{block.Bytes, []byte(base64.StdEncoding.EncodeToString(admin.CAData)[100:])}
	for _, user := range config.AuthInfos {
		if user.Token == "" {
			t.Fatal("a person of the kubeconfig has no token")
		}
		found = append(found, []byte(user.Token))
	}
	return found
}

func holdsAny(all []byte, parts [][]byte) bool {
	return slices.ContainsFunc(parts, func(part []byte) bool { return bytes.Contains(all, part) })
}

// everyByte is a bundle, and what is compressed in it, read without package bundle.
func everyByte(t *testing.T, path string) []byte {
	t.Helper()
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(file[bytes.Index(file, []byte{0x1f, 0x8b}):]))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	return append(file, body...)
}

// TestManifestsStayInTheDirectory: no name of a file leads elsewhere.
func TestManifestsStayInTheDirectory(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"../x.yaml", "a/../../x.yaml", "below/x.yaml", ".."} {
		dir := filepath.Join(t.TempDir(), "new")
		if paths, err := server.WriteManifests(dir, []manifests.File{{Name: name}}); err == nil || len(paths) > 0 {
			t.Errorf("%s: %v, %v", name, paths, err)
		}
	}
}

// TestBundleRefused: each with one line that says what to do, and nothing is written.
func TestBundleRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	torn := filepath.Join(dir, "torn.kubetab")
	if err := os.WriteFile(torn, []byte("kind: Pod\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"serve", "--listen", "127.0.0.1:0", "--http", "", "--from", torn}, 1, "--from " + torn + ": the file cannot be read as a bundle: at byte 1"},
		{[]string{"serve", "--from", torn, "--etcd-servers", "http://127.0.0.1:1"}, 2, "--from and --etcd-servers exclude each other"},
		{[]string{"bundle", "open", torn, "--listen", "127.0.0.1:0", "--http", ""}, 1, "the file cannot be read as a bundle"},
		{[]string{"bundle", "open"}, 2, "give one FILE"},
		{[]string{"bundle", "show", filepath.Join(dir, "none")}, 1, "no such file"},
		{[]string{"bundle", "show", torn, torn}, 2, "give one FILE, or none"},
		{[]string{"bundle", "show", torn, "--kubeconfig", torn}, 2, "exclude each other"},
		{[]string{"bundle", "show"}, 1, "start kubetab serve"},
		{[]string{"bundle", "save", torn}, 1, "is there already"},
		{[]string{"bundle", "save", filepath.Join(dir, "new.kubetab")}, 1, "start kubetab serve"},
		{[]string{"bundle", "save", filepath.Join(dir, "new.kubetab"), "--secrets=perhaps"}, 2, "true or false"},
	} {
		code, stdout, stderr := kubetab(t, c.args...)
		if code != c.code || stdout != "" || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: code %d, stdout %q, stderr %q, want %q", c.args, code, stdout, stderr, c.want)
		}
	}
	if data, err := os.ReadFile(torn); err != nil || !bytes.Equal(data, []byte("kind: Pod\n")) {
		t.Errorf("the file that was there: %q, %v", data, err)
	}
}

// TestBundleIsForTheAdministrator: the other people of the kubeconfig do not get it.
func TestBundleIsForTheAdministrator(t *testing.T) {
	t.Parallel()
	p := startKubetab(t)
	admin := restConfig(t, p)
	for _, as := range []string{"kubetab-edit", "kubetab-view", "system:anonymous"} {
		config := *admin
		config.Impersonate.UserName = as
		_, err := clientset(t, &config).RESTClient().Get().AbsPath("/kubetab/bundle").DoRaw(t.Context())
		if !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v", as, err)
		}
	}
	path := filepath.Join(t.TempDir(), "of-a-viewer.kubetab")
	data, err := os.ReadFile(p.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	viewer := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(viewer, bytes.Replace(data, []byte("current-context: kubetab-admin"), []byte("current-context: kubetab-view"), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := kubetab(t, "bundle", "save", path, "--kubeconfig", viewer)
	if code != 1 || !strings.Contains(stderr, "refuses") || !strings.Contains(stderr, "kubetab-view") {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
	if names, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); err != nil || slices.Contains(names, path) {
		t.Errorf("%v, %v", names, err)
	}
}
