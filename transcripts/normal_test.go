package transcripts

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func testVars() *vars {
	return &vars{names: []string{"ns", "id"}, values: map[string]string{
		"id": "bcdfghjkm", "ns": "verbs-get-1-bcdfghjkm", "rv": "100", "uid": "12345678-1234-1234-1234-123456789abc",
	}}
}

func TestText(t *testing.T) {
	now := time.Now().UTC().Format(time.RFC3339)
	for text, want := range map[string]string{
		"things.bcdfghjkm.example.com":                   "things.${id}.example.com",
		"namespaces \"verbs-get-1-bcdfghjkm\" not found": "namespaces \"${ns}\" not found",
		"UID 12345678-1234-1234-1234-123456789abc":       "UID ${uid}",
		"UID 12345678-1234-1234-1234-123456789abd":       "UID <uid>",
		"at " + now:               "at <time>",
		"at 2001-01-01T00:00:00Z": "at 2001-01-01T00:00:00Z",
		"Too large resource version: 900, current: 101":          "Too large resource version: 900, current: <rv>",
		"Too large resource version: 900, current: 100":          "Too large resource version: 900, current: <rv>",
		"too old resource version: 100 (101)":                    "too old resource version: ${rv} (<rv>)",
		"the ResourceVersion in record (100).":                   "the ResourceVersion in record (${rv}).",
		`{"metadata":{"resourceVersion":"77"}}`:                  `{"metadata":{"resourceVersion":"<rv>"}}`,
		`no kind "A" is registered in scheme "pkg/x/y.go:111"`:   `no kind "A" is registered in scheme "<scheme>"`,
		"hex (68656c6c6f) and (100) are no revisions":            "hex (68656c6c6f) and (100) are no revisions",
		"12345678-1234-1234-1234-123456789abc":                   "${uid}",
		"100":                                                    "100", // too short to be told from any other number
		"must be less than or equal to 100, took 12.5ms, or 3µs": "must be less than or equal to 100, took <duration>, or <duration>",
	} {
		if got := (&normal{vars: testVars()}).text(text); got != want {
			t.Errorf("%q:\n got %q\nwant %q", text, got, want)
		}
	}
}

func TestValue(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		n              normal
	}{
		{
			"an object", `
kind: ConfigMap
metadata: {name: a, namespace: verbs-get-1-bcdfghjkm, resourceVersion: "100", uid: 12345678-1234-1234-1234-123456789abc, managedFields: [{manager: m}]}
`, `
kind: ConfigMap
metadata: {name: a, namespace: "${ns}", resourceVersion: "${rv}", uid: "${uid}"}
`, normal{},
		},
		{
			"managedFields on demand", `{metadata: {managedFields: [{manager: m}]}}`, `{metadata: {managedFields: [{manager: m}]}}`,
			normal{managedFields: true},
		},
		{
			"a generated name", `{metadata: {generateName: a-, name: a-x7k2p}}`, `{metadata: {generateName: a-, name: a-<random>}}`, normal{},
		},
		{
			"the revision of a list says nothing by itself", `
kind: ConfigMapList
metadata: {resourceVersion: "100", continue: abc}
items: [{metadata: {resourceVersion: "100"}}, {metadata: {resourceVersion: "101"}}]
`, `
kind: ConfigMapList
metadata: {resourceVersion: <rv>, continue: <continue>}
items: [{metadata: {resourceVersion: "${rv}"}}, {metadata: {resourceVersion: <rv>}}]
`, normal{},
		},
		{"exactly", `{kind: Table, metadata: {resourceVersion: "100"}}`, `{kind: Table, metadata: {resourceVersion: "${rv}"}}`, normal{rvMode: "exact", rvName: "rv"}},
		{"not exactly", `{kind: Table, metadata: {resourceVersion: "101"}}`, `{kind: Table, metadata: {resourceVersion: "<newer than ${rv}>"}}`, normal{rvMode: "exact", rvName: "rv"}},
		{"at least", `{kind: AList, metadata: {resourceVersion: "1000"}}`, `{kind: AList, metadata: {resourceVersion: "<not older than ${rv}>"}}`, normal{rvMode: "atleast", rvName: "rv"}},
		{"not even that", `{kind: AList, metadata: {resourceVersion: "99"}}`, `{kind: AList, metadata: {resourceVersion: "<older than ${rv}>"}}`, normal{rvMode: "atleast", rvName: "rv"}},
		{
			"a bookmark is a collection's", `{type: BOOKMARK, object: {kind: Pod, metadata: {resourceVersion: "100"}}}`,
			`{type: BOOKMARK, object: {kind: Pod, metadata: {resourceVersion: <rv>}}}`, normal{},
		},
		{
			"addresses", `{spec: {clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1], ports: [{nodePort: 30000}]}}`,
			`{spec: {clusterIP: <clusterIP>, clusterIPs: <clusterIPs>, ports: [{nodePort: <nodePort>}]}}`, normal{},
		},
		{"no address is a choice", `{spec: {clusterIP: None}}`, `{spec: {clusterIP: None}}`, normal{}},
		{"keys", `{"com.example.bcdfghjkm.Thing": 1}`, `{"com.example.${id}.Thing": 1}`, normal{}},
		{"ages", `{rows: [{cells: [a, 5m3s, 3, "0"]}]}`, `{rows: [{cells: [a, <age>, 3, "0"]}]}`, normal{}},
	} {
		c.n.vars = testVars()
		if diff := cmp.Diff(value(t, c.want), c.n.value(value(t, c.in))); diff != "" {
			t.Errorf("%s:\n%s", c.name, diff)
		}
	}
}

func TestExpand(t *testing.T) {
	v := testVars()
	got, err := v.expand("${ns}/${repeat 3 <<{a}>>}")
	if want := "verbs-get-1-bcdfghjkm/{a}{a}{a}"; err != nil || got != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
	if _, err := v.expand("${nothing}"); err == nil || !strings.Contains(err.Error(), "nothing") {
		t.Errorf("a variable without a value gives %v", err)
	}
	a, b := newVars("verbs/get", 2), newVars("verbs/get", 2)
	if a.values["ns"] == b.values["ns"] || a.values["ns"] == a.values["ns2"] {
		t.Errorf("namespaces are not fresh: %v %v", a.values, b.values)
	}
	if got := a.restore("x " + a.values["ns2"] + " y " + a.values["ns"]); got != "x ${ns2} y ${ns}" {
		t.Errorf("restored %q", got)
	}
}

// Whether the second write came a second later or not, the same is shown.
func TestManagedFieldsAreInOneOrder(t *testing.T) {
	entry := func(manager, seconds string) map[string]any {
		return map[string]any{"manager": manager, "operation": "Apply", "time": "2026-11-20T12:00:" + seconds + "Z"}
	}
	shown := func(entries ...any) any {
		n := &normal{vars: testVars(), managedFields: true}
		object, err := show(n.value(map[string]any{"metadata": map[string]any{"managedFields": entries}}))
		if err != nil {
			t.Fatal(err)
		}
		return object
	}
	if diff := cmp.Diff(shown(entry("a", "00"), entry("b", "00")), shown(entry("b", "00"), entry("a", "00"))); diff != "" {
		t.Error(diff)
	}
}
