package core

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// processState are the variables that functions of core change, its own and those of other packages, by their package's
// folder below core; and why they belong to the process. The package comments tell of those that an embedder can notice.
var processState = map[string]string{
	"..newETCD3Client":                        "upstream's, replaced once: every engine has an address of its own in it",
	"..stores":                                "the stores of all engines by their addresses",
	"..queueMetricsProvider":                  "upstream's, replaced by QuietWorkQueues alone",
	"..queues":                                "what QuietWorkQueues remembers: upstream tells queues apart by name, and not by engine",
	"internal/gates.process":                  "upstream has one set of feature gates: New refuses an engine that needs others",
	"internal/itemjson.buffers":               "a pool",
	"internal/node/container.spooled":         "a number that is in the name of one file alone, whichever container's it is",
	"internal/node.counting":                  "upstream's gauges are of the process: one kubelet at a time shows its figures in them",
	"shell.term.Devices":                      "upstream's, on js/wasm: the last shell has it",
	"shell.editor.LaunchHook":                 "upstream's, on js/wasm: the last shell has it",
	"shell.http.Transport":                    "of http.DefaultClient, on js/wasm: the last shell has it",
	"shell.exec.Programs":                     "upstream's, on js/wasm: the same for all shells",
	"shell.portforward.Context":               "upstream's, on js/wasm: the same for all shells",
	"shell.proxy.Context":                     "upstream's, on js/wasm: the same for all shells",
	"../internal/unix/terminal.devices":       "the terminals of all shells: a number is all that upstream passes on",
	"shell/kubectl.workplace":                 "a process has one folder and one standard input, which commands take in turns",
	"shell/kubectl.os.Stdin":                  "as workplace",
	"shell/kubectl.environment":               "a process has one environment, which commands take in turns",
	"shell/kubectl.building":                  "upstream keeps the factory of completion in a variable, which each command tree sets",
	"shell/kubectl.fates":                     "upstream's handler of fatal errors is one for all commands: it finds each by its goroutine",
	"shell/kubectl.handleFatal":               "sets upstream's handler of fatal errors, once",
	"shell/kubectl.takeName":                  "names the process kubectl, once",
	"shell/kubectl.os.Args":                   "as environment, for a command that records its line",
	"shell/kubectl.flagCompletionMutex":       "cobra's: it has the functions of all command trees, and each forgets its own",
	"shell/kubectl.Parses":                    "a count, for tests",
	"../internal/unix/coreutils.atRest":       "what is alive on the heap, which all engines share",
	"../internal/unix/coreutils.process":      "the account of the programs of all engines, which LimitMemory limits by the process's memory",
	"../internal/unix/coreutils.mostLive":     "as process",
	"../internal/unix/coreutils.mostConceded": "as process",
}

// Engines of one process share its variables: what one engine changes, another must expect.
func TestStateOfTheProcess(t *testing.T) {
	packages := map[string][]*ast.File{}
	err := walk(func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		dir := filepath.ToSlash(filepath.Dir(name))
		packages[dir] = append(packages[dir], file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(packages) < 20 {
		t.Fatalf("%d packages were looked at", len(packages))
	}
	found := map[string]bool{}
	for dir, files := range packages {
		for name := range changed(files) {
			found[dir+"."+name] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if processState[name] == "" {
			t.Errorf("%s is changed by functions: keep it in the engine, or say here why it belongs to the process", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(processState)) {
		if !found[name] {
			t.Errorf("%s is not changed any more", name)
		}
	}
}

// changed are the variables of a package that functions other than init change, or that are made to be changed: with a lock,
// an atomic value or a channel in them.
func changed(files []*ast.File) map[string]bool {
	variables, result := map[string]bool{}, map[string]bool{}
	for _, file := range files {
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.VAR {
				continue
			}
			for _, spec := range g.Specs {
				v := spec.(*ast.ValueSpec)
				for _, name := range v.Names {
					variables[name.Name] = name.Name != "_"
					if holdsState(v) {
						result[name.Name] = true
					}
				}
			}
		}
	}
	for _, file := range files {
		imports := map[string]bool{}
		for _, spec := range file.Imports {
			if spec.Name != nil {
				imports[spec.Name.Name] = true
			} else {
				imports[path.Base(strings.Trim(spec.Path.Value, `"`))] = true
			}
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil || f.Recv == nil && f.Name.Name == "init" {
				continue
			}
			local := map[string]bool{}
			for _, name := range declaredIn(f) {
				local[name] = true
			}
			note := func(e ast.Expr) {
				name := root(e)
				if local[name] {
					return
				}
				if variables[name] {
					result[name] = true
				}
				// Of another package.
				if s, ok := e.(*ast.SelectorExpr); ok && imports[name] {
					result[name+"."+s.Sel.Name] = true
				}
			}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.AssignStmt:
					if n.Tok != token.DEFINE {
						for _, e := range n.Lhs {
							note(e)
						}
					}
				case *ast.IncDecStmt:
					note(n.X)
				}
				return true
			})
		}
	}
	return result
}

// holdsState reports whether the type or the value of a variable has what only state has.
func holdsState(v *ast.ValueSpec) bool {
	found := false
	look := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.ChanType:
			found = true
		case *ast.SelectorExpr:
			if of, ok := n.X.(*ast.Ident); ok && (of.Name == "sync" && n.Sel.Name != "OnceValue" || of.Name == "atomic") {
				found = true
			}
		}
		return true
	}
	if v.Type != nil {
		ast.Inspect(v.Type, look)
	}
	for _, value := range v.Values {
		ast.Inspect(value, look)
	}
	return found
}

// root returns the variable that an expression is a part of.
func root(e ast.Expr) string {
	for {
		switch x := e.(type) {
		case *ast.Ident:
			return x.Name
		case *ast.SelectorExpr:
			e = x.X
		case *ast.IndexExpr:
			e = x.X
		case *ast.StarExpr:
			e = x.X
		case *ast.ParenExpr:
			e = x.X
		default:
			return ""
		}
	}
}

// declaredIn are the names that a function declares anywhere in it.
func declaredIn(f *ast.FuncDecl) (names []string) {
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			for _, name := range n.Names {
				names = append(names, name.Name)
			}
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, e := range n.Lhs {
					names = append(names, root(e))
				}
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				names = append(names, root(n.Key))
				if n.Value != nil {
					names = append(names, root(n.Value))
				}
			}
		case *ast.ValueSpec:
			for _, name := range n.Names {
				names = append(names, name.Name)
			}
		}
		return true
	})
	return names
}
