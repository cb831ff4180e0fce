package shell_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/kubetab/kubetab/core"
	"github.com/kubetab/kubetab/core/people"
	"github.com/kubetab/kubetab/core/requestlog"
	"github.com/kubetab/kubetab/core/shell"
	"github.com/kubetab/kubetab/internal/testlog"
)

// here is the folder of this package: kubectl changes that of the process.
var here, _ = os.Getwd() // whose error is that of the first file that is not found

// shared is one engine with one shell for all tests; each works in a namespace
// or folder of its own.
var shared struct {
	engine   *core.Engine
	shell    *shell.Shell
	home     string
	tokens   map[string]string
	requests *requestlog.Log
}

func TestMain(m *testing.M) {
	testlog.Quiet()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	root, err := os.MkdirTemp("", "shell-*")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(root)
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return 1, err
	}
	shared.home = filepath.Join(root, "home")
	shared.tokens = map[string]string{}
	for _, p := range people.All {
		shared.tokens[p.Name] = "token-of-" + p.Name
	}
	shared.requests = requestlog.New(requestlog.Options{Records: 5000})
	config := core.Config{Nodes: 2, Requests: shared.requests, DefaultUser: &user.DefaultInfo{Name: "page", Groups: []string{user.SystemPrivilegedGroup, user.AllAuthenticated}}}
	config.Admit(shared.tokens)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if shared.engine, err = core.New(context.Background(), config); err != nil {
		return 1, err
	}
	defer shared.engine.Close()
	if err := shared.engine.Ready(ctx); err != nil {
		return 1, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 1, err
	}
	shared.shell, err = shell.New(shell.Config{
		API: shared.engine.Handler(), Tokens: shared.tokens, Listener: listener, Home: shared.home, Temp: filepath.Join(root, "tmp"), Outside: shared.engine.Outside(),
	})
	if err != nil {
		return 1, err
	}
	defer shared.shell.Close()
	return m.Run(), nil
}
