package bundle

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
)

// document describes the format for other programs.
const document = "../../docs/bundle.md"

// The tests here hold three lists of fields to each other: the document's tables, what msgpack makes of a file without
// knowing the format, and the names that the reader knows. Fields are written as their paths and types:
//
//	records[].key      string

// TestDocumentOfFiles: a file has the fields that the document says, with their types, and no others.
func TestDocumentOfFiles(t *testing.T) {
	want := documented(t)
	file, err := os.ReadFile(filepath.Join("testdata", "version1.kubetab"))
	if err != nil {
		t.Fatal(err)
	}
	for what, file := range map[string][]byte{"the first version": file, "this build": written(t, sample())} {
		got := map[string]string{}
		envelope, cluster := decoded(t, file)
		describe(got, "envelope.", envelope)
		describe(got, "", cluster)
		if !maps.Equal(got, want) {
			t.Errorf("%s writes\n%sand the document has\n%s", what, lined(got), lined(want))
		}
	}
}

// TestDocumentOfReader: the reader knows the document's names and no others, and refuses other types in their places.
func TestDocumentOfReader(t *testing.T) {
	want := map[string]bool{}
	for path := range documented(t) {
		if !strings.HasSuffix(path, ".*") && !strings.HasSuffix(path, "[]") {
			want[path] = true
		}
	}
	got := map[string]bool{}
	for function, prefix := range map[string]string{
		"readEnvelope": "envelope.", "cluster": "", "settings": "settings.", "clock": "clock.", "lease": "leases[].", "record": "records[].", "file": "files[].",
	} {
		for _, name := range casesOf(t, function) {
			got[prefix+name] = true
		}
	}
	if !maps.Equal(got, want) {
		t.Errorf("the reader knows\n%q\nand the document has\n%q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}

	for path, kind := range documented(t) {
		for _, wrong := range wrongFor[kind] {
			_, cluster := decoded(t, written(t, sample()))
			change := map[string]any{}
			if name, ok := strings.CutPrefix(path, "envelope."); ok {
				change[name] = wrong
			} else {
				put(cluster, path, wrong)
			}
			if b, err := Read(bytes.NewReader(enveloped(t, packed(t, cluster), change)), DefaultLimits()); !errors.Is(err, ErrInvalid) {
				t.Errorf("%s as %T: %v, %v", path, wrong, b, err)
			}
		}
	}
}

// wrongFor are values of other types, by the document's type. The reader takes bin for a string and the other way round, an
// int for a float, and nil for a number.
var wrongFor = map[string][]any{
	"string": {1, 1.5, true, []any{}, map[string]any{}}, "bin": {1, 1.5, true, []any{}, map[string]any{}},
	"int": {1.5, -1, true, "1", []any{}, map[string]any{}}, "float": {-1.5, true, "1", []any{}, map[string]any{}},
	"boolean": {1, 1.5, "true", []any{}, map[string]any{}}, "array": {1, true, "", map[string]any{}, nil}, "map": {1, true, "", []any{}, nil},
}

// TestDocumentInPython runs the program of the document.
func TestDocumentInPython(t *testing.T) {
	_, program, _ := strings.Cut(formatOf(t), "```python\n")
	program, _, found := strings.Cut(program, "```")
	if !found {
		t.Fatal("the document has no program")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skipf("python3 runs it, and is not here: %v", err)
	}
	run := func(args ...string) (string, error) {
		c := exec.CommandContext(t.Context(), python, args...)
		text, err := c.CombinedOutput()
		return strings.TrimSpace(string(text)), err
	}
	if why, err := run("-c", "import msgpack"); err != nil {
		// pip has the package among its own.
		folder, err := run("-c", "import os, pip._vendor.msgpack as m; print(os.path.dirname(os.path.dirname(m.__file__)))")
		if err != nil {
			t.Skipf("it needs the package msgpack of Python (pip install msgpack, or a pip that has it): %s", why)
		}
		t.Setenv("PYTHONPATH", folder)
	}
	script := filepath.Join(t.TempDir(), "read.py")
	if err := os.WriteFile(script, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, r := range sample().State.Records {
		want = append(want, fmt.Sprintln(r.ModRevision, r.Key, len(r.Value)))
	}
	got, err := run(script, filepath.Join("testdata", "version1.kubetab"))
	if err != nil || got != strings.TrimSpace(strings.Join(want, "")) {
		t.Errorf("%v\n%s\nwant\n%s", err, got, strings.Join(want, ""))
	}
}

// formatOf is what the document says of this version's format.
func formatOf(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	_, format, found := strings.Cut(string(text), fmt.Sprintf("\n## The format, version %d\n", version))
	if !found {
		t.Fatalf("%s does not describe version %d", document, version)
	}
	return format
}

var (
	tableRow = regexp.MustCompile("(?m)^\\| `(\\w+)` \\| ([^|]*) \\| ([^|]*) \\|$")
	inRow    = regexp.MustCompile("`(\\w+)` (string|int|float|boolean|bin|map of strings|map of booleans|array of strings)\\b")
)

// documented are the fields in the document's tables. A row with a map, or with an array of maps, names their fields in its
// last cell; records have a table of their own.
func documented(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	add := func(path, kind string) {
		switch kind, _, _ = strings.Cut(kind, ","); kind {
		case "map of strings", "map of booleans":
			found[path], found[path+".*"] = "map", strings.TrimSuffix(strings.TrimPrefix(kind, "map of "), "s")
		case "array of strings", "array of maps":
			found[path], found[path+"[]"] = "array", strings.TrimSuffix(strings.TrimPrefix(kind, "array of "), "s")
		default:
			found[path] = kind
		}
	}
	format := formatOf(t)
	for opening, prefix := range map[string]string{"the **envelope**:": "envelope.", "the **cluster**:": "", "A **record** is": "records[]."} {
		_, table, _ := strings.Cut(format, opening)
		_, table, _ = strings.Cut(table, "\n\n")
		table, _, _ = strings.Cut(table, "\n\n")
		rows := tableRow.FindAllStringSubmatch(table, -1)
		if len(rows) == 0 || len(rows) != strings.Count(table, "\n")-1 {
			t.Fatalf("%d rows of a name and a type in the table behind %q:\n%s", len(rows), opening, table)
		}
		for _, row := range rows {
			path, kind := prefix+row[1], row[2]
			add(path, kind)
			below := path + "."
			if strings.HasPrefix(kind, "array of maps") {
				below = path + "[]."
			} else if kind != "map" {
				continue
			}
			for _, field := range inRow.FindAllStringSubmatch(row[3], -1) {
				add(below+field[1], field[2])
			}
		}
	}
	return found
}

// decoded is what msgpack makes of a file.
func decoded(t *testing.T, file []byte) (envelope, cluster map[string]any) {
	t.Helper()
	if err := msgpack.Unmarshal(file, &envelope); err != nil {
		t.Fatal(err)
	}
	zip, err := gzip.NewReader(bytes.NewReader(envelope["body"].([]byte)))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(zip)
	if err != nil {
		t.Fatal(err)
	}
	if err := msgpack.Unmarshal(body, &cluster); err != nil {
		t.Fatal(err)
	}
	return envelope, cluster
}

// describe adds the fields of a map, and those below them.
func describe(found map[string]string, prefix string, fields map[string]any) {
	for name, value := range fields {
		if prefix == "settings.runtimeConfig." || prefix == "settings.featureGates." {
			name = "*"
		}
		describeValue(found, prefix+name, value)
	}
}

func describeValue(found map[string]string, path string, value any) {
	switch value := value.(type) {
	case map[string]any:
		found[path] = "map"
		describe(found, path+".", value)
	case []any:
		found[path] = "array"
		for _, each := range value {
			describeValue(found, path+"[]", each)
		}
	case string:
		found[path] = "string"
	case []byte:
		found[path] = "bin"
	case bool:
		found[path] = "boolean"
	case float32, float64:
		found[path] = "float"
	case int8, int16, int32, int64, uint8, uint16, uint32, uint64:
		found[path] = "int"
	default:
		found[path] = fmt.Sprintf("%T", value)
	}
}

// put puts a value in the place of a path: of the first entry of arrays, and of any name where the path has a star.
func put(in any, path string, value any) {
	name, rest, isLast := path, "", true
	if at := strings.IndexAny(path, ".["); at > 0 {
		name, rest, isLast = path[:at], path[at:], false
	}
	fields := in.(map[string]any)
	if name == "*" {
		name = slices.Min(slices.Collect(maps.Keys(fields)))
	}
	switch {
	case isLast:
		fields[name] = value
	case rest == "[]":
		fields[name].([]any)[0] = value
	case strings.HasPrefix(rest, "[]."):
		put(fields[name].([]any)[0], rest[len("[]."):], value)
	default:
		put(fields[name], rest[len("."):], value)
	}
}

// casesOf are the texts in the cases of a function of the reader.
func casesOf(t *testing.T, function string) (found []string) {
	t.Helper()
	var decls []ast.Decl
	for _, name := range []string{"read.go", "cluster.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		decls = append(decls, file.Decls...)
	}
	for _, d := range decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Name.Name != function {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if c, ok := n.(*ast.CaseClause); ok {
				for _, each := range c.List {
					if text, ok := each.(*ast.BasicLit); ok && text.Kind == token.STRING {
						name, err := strconv.Unquote(text.Value)
						if err != nil {
							t.Fatal(err)
						}
						found = append(found, name)
					}
				}
			}
			return true
		})
	}
	return found
}

func lined(fields map[string]string) string {
	var text strings.Builder
	for _, path := range slices.Sorted(maps.Keys(fields)) {
		fmt.Fprintf(&text, "%-32s %s\n", path, fields[path])
	}
	return text.String()
}
