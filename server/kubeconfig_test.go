package server

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

func TestWriteKubeconfig(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kubeconfig")
	k := Kubeconfig{Server: "https://127.0.0.1:6443", CA: mustOpenKeys(t, "", testNow).CA(), Tokens: map[string]string{"kubetab-admin": "secret"}}
	if err := WriteKubeconfig(path, k); err != nil {
		t.Fatal(err)
	}
	rest, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	if rest.Host != k.Server || rest.BearerToken != k.Tokens["kubetab-admin"] || string(rest.CAData) != string(k.CA) || rest.Insecure {
		t.Errorf("client-go reads %+v", rest)
	}

	t.Run("again, with mode 0600", func(t *testing.T) {
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := WriteKubeconfig(path, k); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
			t.Errorf("mode %v, want 0600", info.Mode())
		}
		if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 1 {
			t.Errorf("%d files, want only the kubeconfig", len(entries))
		}
	})
	t.Run("still ours after kubectl config set-context", func(t *testing.T) {
		edit(t, path, func(c *clientcmdapi.Config) { c.Contexts["kubetab-admin"].Namespace = "team" })
		if err := CheckKubeconfig(path); err != nil {
			t.Error(err)
		}
	})
	t.Run("through a symbolic link", func(t *testing.T) {
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(path, link); err != nil {
			t.Fatal(err)
		}
		if err := WriteKubeconfig(link, k); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Error("the link was replaced by a file")
		}
	})
	t.Run("an empty file, as mktemp leaves it", func(t *testing.T) {
		empty := filepath.Join(t.TempDir(), "tmp.x")
		if err := os.WriteFile(empty, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := WriteKubeconfig(empty, k); err != nil {
			t.Error(err)
		}
	})
	t.Run("a pipe is written to, not replaced", func(t *testing.T) { // as /dev/null must not be, when root gives it
		pipe := filepath.Join(t.TempDir(), "pipe")
		if err := syscall.Mkfifo(pipe, 0o600); err != nil {
			t.Fatal(err)
		}
		read := make(chan string)
		go func() {
			data, err := os.ReadFile(pipe)
			if err != nil {
				t.Error(err)
			}
			read <- string(data)
		}()
		if err := WriteKubeconfig(pipe, k); err != nil {
			t.Fatal(err)
		}
		if got := <-read; !strings.Contains(got, k.Server) {
			t.Errorf("the reader got %q", got)
		}
		if info, err := os.Stat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
			t.Error("the pipe was replaced")
		}
	})
	t.Run("no such folder", func(t *testing.T) {
		missing := filepath.Join(t.TempDir(), "missing", "kubeconfig")
		if err := WriteKubeconfig(missing, k); err == nil || !strings.Contains(err.Error(), missing+": no such file or directory") {
			t.Errorf("error %v, want the path and the reason", err)
		}
	})
}

func TestForeignKubeconfigIsNotOverwritten(t *testing.T) {
	k := Kubeconfig{Server: "https://127.0.0.1:6443", Tokens: map[string]string{"kubetab-admin": "secret"}}
	for name, content := range map[string]string{
		"kubeconfig of another cluster": "apiVersion: v1\nkind: Config\nclusters: [{name: kubetab, cluster: {server: 'https://prod'}}]\n",
		"no kubeconfig at all":          "a note to myself\n",
	} {
		path := filepath.Join(t.TempDir(), "kubeconfig")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := WriteKubeconfig(path, k); !errors.Is(err, ErrForeignKubeconfig) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v, want ErrForeignKubeconfig with the path", name, err)
		}
		if data, _ := os.ReadFile(path); string(data) != content {
			t.Errorf("%s: overwritten", name)
		}
	}

	for name, change := range map[string]func(*clientcmdapi.Config){
		"a second cluster": func(c *clientcmdapi.Config) { c.Clusters["prod"] = clientcmdapi.NewCluster() },
		"a second user":    func(c *clientcmdapi.Config) { c.AuthInfos["me"] = clientcmdapi.NewAuthInfo() },
		"a second context": func(c *clientcmdapi.Config) { c.Contexts["prod"] = clientcmdapi.NewContext() },
	} {
		path := filepath.Join(t.TempDir(), "kubeconfig")
		if err := WriteKubeconfig(path, k); err != nil {
			t.Fatal(err)
		}
		edit(t, path, change)
		if err := WriteKubeconfig(path, k); !errors.Is(err, ErrForeignKubeconfig) {
			t.Errorf("%s added since: error %v, want ErrForeignKubeconfig", name, err)
		}
	}
}

// edit changes a kubeconfig as `kubectl config` does.
func edit(t *testing.T, path string, change func(*clientcmdapi.Config)) {
	t.Helper()
	c, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	change(c)
	if err := clientcmd.WriteToFile(*c, path); err != nil {
		t.Fatal(err)
	}
}
