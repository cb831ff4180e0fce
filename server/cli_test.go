package server_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/kubetab/kubetab/server/internal/process"
)

// kubetab runs bin/kubetab to its end.
func kubetab(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	binary, err := process.Binary("kubetab")
	if err != nil {
		t.Fatal(err)
	}
	var out, errOut bytes.Buffer
	c := exec.CommandContext(t.Context(), binary, args...)
	c.Dir, c.Stdout, c.Stderr = t.TempDir(), &out, &errOut
	err = c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return c.ProcessState.ExitCode(), out.String(), errOut.String()
}

func TestVersion(t *testing.T) {
	t.Parallel()
	code, out, stderr := kubetab(t, "version")
	for _, want := range []string{"kubetab   v1.37.2+kubetab", "\ncommit    ", "Go        " + runtime.Version(), "platform  " + runtime.GOOS + "/" + runtime.GOARCH} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in %q", want, out)
		}
	}
	if code != 0 || stderr != "" {
		t.Errorf("code %d, stderr %q", code, stderr)
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	for want, args := range map[string][]string{
		"kubetab serve\n":          {"--help"},
		"kubetab serve --data-dir": {"serve", "--help"},
		"--listen host:port":       {"help", "serve"},
		"kubetab version":          {"version", "-h"},
		"Available Commands:":      nil,
	} {
		code, out, stderr := kubetab(t, args...)
		if code != 0 || stderr != "" || !strings.Contains(out, want) {
			t.Errorf("kubetab %v: code %d, stderr %q, and no %q in\n%s", args, code, stderr, want, out)
		}
		if !strings.Contains(out, "Examples:") {
			t.Errorf("kubetab %v: no examples", args)
		}
	}
}

// Whatever is wrong, there is one line on standard error that starts with "kubetab: ", and nothing else.
func TestWhatIsWrongIsOneLine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	foreign := file("foreign", "apiVersion: v1\nkind: Config\nclusters: [{name: prod, cluster: {server: 'https://prod'}}]\n")
	garbage := filepath.Dir(file("garbage/kubetab.db", strings.Repeat("this is no record of ours\n", 100)))
	static := filepath.Dir(file("static/index.html", "the page"))
	for name, c := range map[string]struct {
		args []string
		code int
		want []string
	}{
		"unknown command":             {[]string{"srve"}, 2, []string{`unknown command "srve"`}},
		"unknown flag":                {[]string{"serve", "--liste", "x"}, 2, []string{"unknown flag: --liste", "kubetab serve --help"}},
		"no value":                    {[]string{"serve", "--drain", "soon"}, 2, []string{`"soon"`, "--drain"}},
		"an argument":                 {[]string{"serve", "now"}, 2, []string{`unexpected argument "now"`}},
		"two stores":                  {[]string{"serve", "--data-dir", "d", "--etcd-servers", "http://127.0.0.1:1"}, 2, []string{"--data-dir and --etcd-servers exclude each other"}},
		"a store without a page":      {[]string{"serve", "--http", "", "--share-dir", dir + "/s"}, 2, []string{"--share-dir without --http"}},
		"a store in a file":           {[]string{"serve", "--static", static, "--share-dir", foreign}, 1, []string{"--share-dir", foreign, "not a directory"}},
		"a token without a store":     {[]string{"serve", "--share-token-file", foreign}, 2, []string{"--share-token-file without --share-dir"}},
		"files without a page":        {[]string{"serve", "--http", "", "--fetch-from", "https://a.example"}, 2, []string{"--fetch-from without --http"}},
		"files from anywhere":         {[]string{"serve", "--fetch-from", "https://a.example,*"}, 2, []string{`--fetch-from: "*" is no origin`}},
		"policy without a log":        {[]string{"serve", "--audit-policy", "p"}, 2, []string{"--audit-policy without --audit-log"}},
		"no address":                  {[]string{"serve", "--listen", "localhost"}, 1, []string{"--listen localhost: not host:port"}},
		"address of somebody else":    {[]string{"serve", "--listen", "192.0.2.1:0"}, 1, []string{"not an address of this machine"}},
		"bad name for certificate":    {[]string{"serve", "--tls-san", "a b"}, 2, []string{"--tls-san a b"}},
		"no such page":                {[]string{"serve", "--listen", "127.0.0.1:0", "--static", dir + "/none"}, 1, []string{dir + "/none", "no such file or directory", "--static DIR"}},
		"foreign kubeconfig":          {[]string{"serve", "--kubeconfig", foreign}, 1, []string{foreign, "never overwritten", "--kubeconfig FILE"}},
		"kubeconfig without a folder": {[]string{"serve", "--kubeconfig", dir + "/none/config"}, 1, []string{dir + "/none/config", "no such file or directory"}},
		"data folder is a file":       {[]string{"serve", "--data-dir", foreign}, 1, []string{"--data-dir", foreign, "not a directory"}},
		"unreadable data":             {[]string{"serve", "--data-dir", garbage}, 1, []string{"--data-dir " + garbage, "cannot read the data"}},
		"etcd address is no URL":      {[]string{"serve", "--etcd-servers", "127.0.0.1:2379"}, 1, []string{"--etcd-servers 127.0.0.1:2379: not a URL"}},
		"unknown feature gate":        {[]string{"serve", "--feature-gates", "NoSuchGate=true"}, 1, []string{"NoSuchGate"}},
		"unknown API":                 {[]string{"serve", "--runtime-config", "nothing.example.org/v1=true"}, 1, []string{"nothing.example.org"}},
		"unknown version":             {[]string{"serve", "--emulated-version", "1.2"}, 1, []string{"1.2"}},
		"no such token file":          {[]string{"serve", "--token-auth-file", dir + "/none"}, 1, []string{"--token-auth-file", "no such file"}},
		"short token file":            {[]string{"serve", "--token-auth-file", file("tokens", "abc,me\n")}, 1, []string{"entry 1 has 2 columns"}},
		"no certificates":             {[]string{"serve", "--client-ca-file", foreign}, 1, []string{"--client-ca-file", "no PEM certificate"}},
		"audit log without a folder":  {[]string{"serve", "--audit-log", dir + "/none/log"}, 1, []string{"--audit-log", "no such file"}},
		"bad audit policy":            {[]string{"serve", "--audit-log", "-", "--audit-policy", foreign}, 1, []string{"--audit-policy"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			args := c.args
			if args[0] == "serve" { // before the flags under test, which count over these
				args = append([]string{"serve", "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"}, args[1:]...)
			}
			code, stdout, stderr := kubetab(t, args...)
			if code != c.code {
				t.Errorf("code %d, want %d", code, c.code)
			}
			if stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "kubetab: ") || !strings.HasSuffix(stderr, "\n") {
				t.Errorf("stdout %q, stderr %q: want one line on stderr", stdout, stderr)
			}
			for _, want := range c.want {
				if !strings.Contains(stderr, want) {
					t.Errorf("no %q in %q", want, stderr)
				}
			}
		})
	}
}

func TestAddressAndFolderInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first := startKubetab(t, "--data-dir", dir)
	address := strings.TrimPrefix(first.API, "https://")
	for want, args := range map[string][]string{
		"--listen " + address + ": address in use":          {"--listen", address},
		"--data-dir " + dir + ": in use by another kubetab": {"--listen", "127.0.0.1:0", "--data-dir", dir},
	} {
		code, stdout, stderr := kubetab(t, append([]string{"serve", "--http", ""}, args...)...)
		if code != 1 || stdout != "" || strings.Count(stderr, "\n") != 1 || !strings.HasPrefix(stderr, "kubetab: "+want) {
			t.Errorf("%v: code %d, stdout %q, stderr %q: want %q", args, code, stdout, stderr, want)
		}
	}
	if _, err := clientset(t, restConfig(t, first)).ServerVersion(); err != nil {
		t.Errorf("the first server no longer answers: %v", err)
	}
}
