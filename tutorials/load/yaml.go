package load

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"reflect"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/kubetab/kubetab/tutorials"
)

// lineMap knows the lines of a document by path: steps[0].checks[1].once.
type lineMap struct{ lines map[string]int }

// of returns the line of a path, or of the nearest thing around it that is there.
func (m *lineMap) of(path string) int {
	for {
		if line, ok := m.lines[path]; ok {
			return line
		}
		cut := strings.LastIndexAny(path, ".[")
		if cut < 0 {
			return 1
		}
		path = path[:cut]
	}
}

// yaml reads a file into a type, strictly. It is nil when there is nothing to go on with; the faults are noted.
func (r *reader) yaml(file string, into any) *lineMap {
	text, err := fs.ReadFile(r.fs, file)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			r.problem(file, 0, "the file is missing")
		} else {
			r.problem(file, 0, "%v", err)
		}
		return nil
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		line, message := yamlError(err)
		r.problem(file, line, "%s", message)
		return nil
	}
	if len(document.Content) == 0 {
		r.problem(file, 1, "the file is empty")
		return nil
	}
	before := len(r.problems)
	lines := &lineMap{map[string]int{}}
	(&walker{r, file, lines}).walk(document.Content[0], reflect.TypeOf(into).Elem(), "")
	var value any
	if err := document.Content[0].Decode(&value); err != nil {
		for _, message := range strings.Split(strings.TrimPrefix(err.Error(), "yaml: unmarshal errors:"), "\n") {
			if message = strings.TrimSpace(message); message != "" {
				line, message := yamlError(errors.New(message))
				r.problem(file, line, "%s", message)
			}
		}
		return nil
	}
	if err := decode(value, into); err != nil {
		if len(r.problems) == before { // otherwise the walk has said it, with a line
			r.problem(file, 0, "%v", err)
		}
		return nil
	}
	return lines
}

var atLine = regexp.MustCompile(`^(?:yaml: )?line (\d+): (.*)$`)

func yamlError(err error) (line int, message string) {
	if m := atLine.FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1])
		return line, m[2]
	}
	return 0, err.Error()
}

// walker compares a document with a Go type.
type walker struct {
	*reader
	file  string
	lines *lineMap
}

func (w *walker) walk(n *yaml.Node, t reflect.Type, path string) {
	w.lines.lines[path] = n.Line
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	wrong := func(want string) { w.problem(w.file, n.Line, "%s should be %s", named(path), want) }
	if t == reflect.TypeFor[tutorials.Watched]() && n.Kind == yaml.ScalarNode {
		if !resourcePattern.MatchString(n.Value) {
			wrong("a resource such as configmaps or deployments.apps")
		}
		return
	}
	switch t.Kind() {
	case reflect.Struct:
		if n.Kind != yaml.MappingNode {
			wrong("a map")
			return
		}
		w.fields(n, t, path)
	case reflect.Map:
		if n.Kind != yaml.MappingNode {
			wrong("a map")
			return
		}
		for i := 0; i+1 < len(n.Content); i += 2 {
			w.walk(n.Content[i+1], t.Elem(), path+"."+n.Content[i].Value)
		}
	case reflect.Slice:
		if n.Kind != yaml.SequenceNode {
			wrong("a list")
			return
		}
		for i, item := range n.Content {
			w.walk(item, t.Elem(), fmt.Sprintf("%s[%d]", path, i))
		}
	case reflect.String:
		if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
			wrong("a text: put it in quotes")
		}
	case reflect.Bool:
		if n.Tag != "!!bool" {
			wrong("true or false")
		}
	case reflect.Int:
		if n.Tag != "!!int" {
			wrong("a number")
		}
	}
}

var resourcePattern = regexp.MustCompile(`^[a-z0-9]+(\.[a-z0-9.-]+)?$`)

func (w *walker) fields(n *yaml.Node, t reflect.Type, path string) {
	types := map[string]reflect.Type{}
	for field := range fields(t) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		types[name] = field.Type
	}
	has := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := strings.TrimPrefix(path+"."+key.Value, ".")
		has[key.Value] = true
		of, ok := types[key.Value]
		if !ok {
			w.problem(w.file, key.Line, "%s has no key %q", named(path), key.Value)
			continue
		}
		w.walk(value, of, at)
		w.lines.lines[at] = key.Line
	}
	if t == reflect.TypeFor[tutorials.Text]() {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if strings.TrimSpace(n.Content[i+1].Value) == "" {
				has[n.Content[i].Value] = false
			}
		}
		for _, language := range Languages {
			if !has[language] {
				w.problem(w.file, n.Line, "%s has no translation to %s", named(path), language)
			}
		}
		return
	}
	for field := range fields(t) {
		// A text that must be there, with both of its languages.
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Type == reflect.TypeFor[tutorials.Text]() && options == "" && !has[name] {
			w.problem(w.file, n.Line, "%s has no %s", named(path), name)
		}
	}
}

func fields(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

func named(path string) string {
	if path == "" {
		return "the document"
	}
	return path
}

// manifests checks that a file holds objects that can be applied.
func (r *reader) manifests(file, text string) {
	d := yaml.NewDecoder(bytes.NewReader([]byte(text)))
	for {
		var n yaml.Node
		err := d.Decode(&n)
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			line, message := yamlError(err)
			r.problem(file, line, "%s", message)
			return
		}
		var object struct {
			APIVersion string `yaml:"apiVersion"`
			Kind       string `yaml:"kind"`
			Metadata   struct {
				Name string `yaml:"name"`
			} `yaml:"metadata"`
		}
		if err := n.Decode(&object); err != nil || object.APIVersion == "" || object.Kind == "" || object.Metadata.Name == "" {
			r.problem(file, n.Line, "a manifest needs apiVersion, kind and metadata.name")
		}
		var whole any
		if err := n.Decode(&whole); err == nil {
			if _, err := json.Marshal(whole); err != nil {
				r.problem(file, n.Line, "%v", err)
			}
		}
	}
}
