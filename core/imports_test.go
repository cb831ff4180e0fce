package core

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// forbidden says what core and everything below it must not import by itself,
// and why. What upstream imports is upstream's business.
var forbidden = map[string]string{
	"syscall/js":                        "core knows nothing of browsers; wasm does",
	"github.com/hack-pad/safejs":        "core knows nothing of browsers; wasm does",
	"os/exec":                           "a tab cannot start processes",
	"os/signal":                         "the process belongs to server and wasm",
	"flag":                              "Config is the only way in; flags belong to server",
	"github.com/spf13/pflag":            "Config is the only way in; flags belong to server",
	"net/http/pprof":                    "registers handlers for the whole process on import",
	"net/http/httptest":                 "a server's response writer is not a recorder",
	"html/template":                     "keeps every exported method of every type in the module",
	"text/template":                     "keeps every exported method of every type in the module",
	"github.com/kubetab/kubetab/wasm":   "arrows point from wasm to core",
	"github.com/kubetab/kubetab/server": "arrows point from server to core",
	"github.com/kubetab/kubetab/internal/unix/unixtest": "it is for tests",
}

// allowed are the exceptions, by folder.
var allowed = map[string]string{
	"shell/kubectl":           "github.com/spf13/pflag", // a command's flags, and none of this program's
	"internal/node/container": "github.com/spf13/pflag", // those of agnhost's commands
}

func TestArrowsPointOneWay(t *testing.T) {
	files := 0
	err := walk(func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		files++
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			for name, reason := range forbidden {
				if imported == allowed[filepath.ToSlash(filepath.Dir(path))] {
					continue
				}
				if imported == name || strings.HasPrefix(imported, name+"/") {
					t.Errorf("%s imports %s: %s", path, imported, reason)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files == 0 {
		t.Fatal("no Go files were looked at")
	}
}

// walk visits core and what it is made of besides, but not the package that is for tests: internal/unix was part of it.
func walk(visit fs.WalkDirFunc) error {
	for _, dir := range []string{".", filepath.Join("..", "internal", "unix")} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() && d.Name() == "unixtest" {
				return fs.SkipDir
			}
			return visit(path, d, err)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// platforms are the files that may ask what they run on, and why.
var platforms = map[string]string{
	"engine.go":                            "upstream's user agents name the platform",
	"../internal/unix/coreutils/memory.go": "WebAssembly has 4 GB, and a program that doubles what it has is stopped one step too late; goroutines share one thread there",
}

// What core should do otherwise in one host than in another is a field of Config: a
// program that is compiled for a browser's platform need not run in a browser.
func TestNoPlatformIsAskedFor(t *testing.T) {
	err := walk(func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && (s.Sel.Name == "GOOS" || s.Sel.Name == "GOARCH") && platforms[filepath.ToSlash(path)] == "" {
				t.Errorf("%s asks for %s", path, s.Sel.Name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
