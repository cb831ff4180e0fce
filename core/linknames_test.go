package core_test

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// linkname is a declaration of ours that stands for an unexported one of upstream.
type linkname struct {
	file  string
	local string
	of    string // import path of upstream's package
	name  string // in it
}

// Neither the compiler nor the linker compares the type of a linked function or
// variable with upstream's: after a move to another version a call could pass
// arguments that are not taken. A linked variable that upstream has no more is not
// even missed. This test compares both sides, and the list in docs/moving.md.
func TestLinknamesAreUpstreams(t *testing.T) {
	links := linknames(t)
	if len(links) == 0 {
		t.Fatal("no go:linkname was found")
	}
	var packages []string
	for _, l := range links {
		packages = append(packages, l.of)
	}
	slices.Sort(packages)
	args := append([]string{"list", "-find", "-f", "{{.ImportPath}} {{.Dir}}"}, slices.Compact(packages)...)
	out, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	upstream := map[string]map[string]string{}
	for line := range strings.Lines(string(out)) {
		of, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		if upstream[of], err = declared(dir, of); err != nil {
			t.Fatal(err)
		}
	}
	ours := map[string]map[string]string{}
	for _, l := range links {
		dir := filepath.Dir(l.file)
		if ours[dir] == nil {
			if ours[dir], err = declared(dir, "github.com/kubetab/kubetab/core/"+filepath.ToSlash(dir)); err != nil {
				t.Fatal(err)
			}
		}
		here, there := ours[dir][l.local], upstream[l.of][l.name]
		switch {
		case there == "":
			t.Errorf("%s: %s has no %s any more", l.file, l.of, l.name)
		case here != there:
			t.Errorf("%s: %s is\n\t%s\nand upstream's %s.%s is\n\t%s", l.file, l.local, here, l.of, l.name, there)
		}
	}

	document := file(t, "../docs/moving.md")
	_, rest, _ := strings.Cut(document, "<!-- linknames -->\n")
	list, _, found := strings.Cut(rest, "<!-- end of linknames -->\n")
	if want := markdown(links); !found || list != want {
		t.Errorf("the list in docs/moving.md is not that of the code, which is\n%s", want)
	}
}

// markdown is the list for people. The constructors of controllers are one line.
func markdown(links []linkname) string {
	var b bytes.Buffer
	b.WriteString("| file | links |\n|---|---|\n")
	constructors := 0
	for _, l := range links {
		if strings.HasSuffix(l.name, "Descriptor") {
			constructors++
			continue
		}
		fmt.Fprintf(&b, "| `core/%s` | `%s.%s` |\n", filepath.ToSlash(l.file), l.of, l.name)
	}
	fmt.Fprintf(&b, "| `core/controllers/upstream.go` | %d descriptors of controllers, `k8s.io/kubernetes/cmd/kube-controller-manager/app.new...Descriptor` |\n", constructors)
	return b.String()
}

// directive is one of a function, or of a method with a pointer for its receiver.
var directive = regexp.MustCompile(`(?m)^//go:linkname (\S+) (\S+?)\.((?:\(\*\w+\)\.)?\w+)$`)

// linknames are those below core, by file.
func linknames(t *testing.T) []linkname {
	t.Helper()
	var all []linkname
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") {
			return err
		}
		text, err := os.ReadFile(name)
		for _, m := range directive.FindAllStringSubmatch(string(text), -1) {
			all = append(all, linkname{file: name, local: m[1], of: m[2], name: m[3]})
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// declared returns the types of the functions and variables that the Go files of a
// folder declare, by name. In them, package names are import paths, and the place of
// an unexported type of the package has what it is. of is the import path of the folder.
func declared(dir, of string) (map[string]string, error) {
	in, err := build.ImportDir(dir, 0)
	if err != nil {
		return nil, err
	}
	values, results, defined := map[string]string{}, map[string]string{}, map[string]string{}
	called := map[string]string{} // variables that are what a function returns
	for _, name := range in.GoFiles {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		q := qualifier{of: of, imports: map[string]string{}}
		for _, spec := range file.Imports {
			imported := strings.Trim(spec.Path.Value, `"`)
			local := path.Base(imported)
			if spec.Name != nil {
				local = spec.Name.Name
			}
			q.imports[local] = imported
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if star, ok := receiver(d).(*ast.StarExpr); ok {
					name := fmt.Sprintf("(%s).%s", types.ExprString(star), d.Name.Name)
					d.Type.Params.List = append([]*ast.Field{{Type: star}}, d.Type.Params.List...)
					values[name] = q.text(d.Type)
				}
				if d.Recv == nil {
					values[d.Name.Name] = q.text(d.Type)
					if d.Type.Results != nil && len(d.Type.Results.List) == 1 {
						results[d.Name.Name] = q.text(d.Type.Results.List[0].Type)
					}
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						defined[spec.Name.Name] = q.text(spec.Type)
					case *ast.ValueSpec:
						if typ := typeOf(spec); typ != nil {
							values[spec.Names[0].Name] = q.text(typ)
						} else if function := calls(spec); function != "" {
							called[spec.Names[0].Name] = function
						}
					}
				}
			}
		}
	}
	for name, function := range called {
		values[name] = results[function]
	}
	unexported := regexp.MustCompile(regexp.QuoteMeta(of) + `\.([a-z]\w*)`)
	for name, text := range values {
		values[name] = unexported.ReplaceAllStringFunc(text, func(of string) string {
			return defined[unexported.FindStringSubmatch(of)[1]]
		})
	}
	return values, nil
}

// receiver returns the type of a method's receiver; nil for a function.
func receiver(d *ast.FuncDecl) ast.Expr {
	if d.Recv == nil {
		return nil
	}
	return d.Recv.List[0].Type
}

// typeOf returns the type of a variable as it is written; nil if it is not.
func typeOf(v *ast.ValueSpec) ast.Expr {
	if v.Type != nil || len(v.Values) != 1 {
		return v.Type
	}
	switch value := v.Values[0].(type) {
	case *ast.FuncLit:
		return value.Type
	case *ast.CompositeLit:
		return value.Type
	case *ast.UnaryExpr:
		if pointed, ok := value.X.(*ast.CompositeLit); ok && value.Op == token.AND {
			return &ast.StarExpr{X: pointed.Type}
		}
	}
	return nil
}

// calls returns the function of the package whose result a variable is, or nothing.
func calls(v *ast.ValueSpec) string {
	if len(v.Values) == 1 {
		if call, ok := v.Values[0].(*ast.CallExpr); ok {
			if function, ok := call.Fun.(*ast.Ident); ok {
				return function.Name
			}
		}
	}
	return ""
}

// qualifier writes types with import paths.
type qualifier struct {
	of      string
	imports map[string]string
}

// text changes typ, so that it can be asked for again.
func (q qualifier) text(typ ast.Expr) string {
	ast.Inspect(typ, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if of, ok := n.X.(*ast.Ident); ok && q.imports[of.Name] != "" {
				n.X = ast.NewIdent(q.imports[of.Name])
			}
			return false
		case *ast.FieldList:
			var unnamed []*ast.Field // names are not part of the type
			for _, field := range n.List {
				for range max(1, len(field.Names)) {
					unnamed = append(unnamed, &ast.Field{Type: field.Type})
				}
			}
			n.List = unnamed
		case *ast.Ident:
			if types.Universe.Lookup(n.Name) == nil && !strings.HasPrefix(n.Name, q.of+".") {
				n.Name = q.of + "." + n.Name
			}
		}
		return true
	})
	return types.ExprString(typ)
}
