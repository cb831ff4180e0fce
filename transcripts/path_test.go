package transcripts

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func value(t *testing.T, text string) any {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	v, err := decodeJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

const object = `
metadata: {name: a, labels: {example.com/x: "1"}}
items:
- {name: one, size: 1}
- {name: two, parts: [{id: p}, {id: q}]}
`

func TestLookup(t *testing.T) {
	for path, want := range map[string]string{
		"metadata.name":                      "a",
		`metadata.labels.example\.com/x`:     "1",
		"items[1].name":                      "two",
		"items[1].parts[0].id":               "p",
		"items[0].size":                      "1",
		"items[2].name":                      "none",
		"metadata.name.more":                 "none",
		"items.name":                         "none", // lookup finds one value, only goes through lists
		"metadata.labels.example.com/x":      "none",
		"items[1].parts[1].nothing.whatever": "none",
	} {
		got := "none"
		if v, ok := lookup(value(t, object), path); ok {
			got = scalar(v)
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

func TestOnly(t *testing.T) {
	got := only(value(t, object), []string{"metadata.name", "items.name", "items.parts.id", "nothing"})
	want := value(t, `
metadata: {name: a}
items:
- {name: one}
- {name: two, parts: [{id: p}, {id: q}]}
`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{}, only(value(t, object), []string{"nothing"})); diff != "" {
		t.Error(diff)
	}
}

func TestDropAndShape(t *testing.T) {
	v := value(t, object)
	drop(v, splitPath("items.parts.id"))
	drop(v, splitPath("metadata"))
	if diff := cmp.Diff(value(t, `items: [{name: one, size: 1}, {name: two, parts: [{}, {}]}]`), v); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(value(t, `items: [{name: <string>, size: <number>}, {name: <string>, parts: [{}, {}]}]`), shape(v)); diff != "" {
		t.Error(diff)
	}
}
