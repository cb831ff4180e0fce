package transcripts

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const story = `# What it shows.
# Follows: a text.
namespaces 2
needs controllers
serial

=== first
@capture rv metadata.resourceVersion
@only metadata.name
POST /api/v1/things?x=${id}
Accept: application/json
X: a: b

kind: Thing

metadata: {}
----
201 Created

=== second
GET /api/v1/things
----
`

func TestParse(t *testing.T) {
	f, err := Parse(story)
	if err != nil {
		t.Fatal(err)
	}
	want := []*Step{{
		Title: "first", Line: 7,
		Text:       "@capture rv metadata.resourceVersion\n@only metadata.name\nPOST /api/v1/things?x=${id}\nAccept: application/json\nX: a: b\n\nkind: Thing\n\nmetadata: {}\n",
		Want:       "201 Created",
		Directives: []Directive{{"capture", "rv metadata.resourceVersion"}, {"only", "metadata.name"}},
		Method:     "POST", Target: "/api/v1/things?x=${id}",
		Header: [][2]string{{"Accept", "application/json"}, {"X", "a: b"}},
		Body:   "kind: Thing\n\nmetadata: {}",
	}, {
		Title: "second", Line: 20, Text: "GET /api/v1/things\n", Method: "GET", Target: "/api/v1/things",
	}}
	if diff := cmp.Diff(want, f.Steps); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Settings{Namespaces: 2, Needs: []string{"controllers"}, Serial: true}, f.Settings); diff != "" {
		t.Error(diff)
	}
}

func TestParseRefuses(t *testing.T) {
	for _, bad := range []struct{ text, want string }{
		{"=== a\nGET /\n----\n", "1: a transcript starts with a comment"},
		{"# a\nnamespace 1\n=== a\nGET /\n", `2: unknown setting "namespace 1"`},
		{"# a\nnamespaces one\n=== a\nGET /\n", "2: strconv.Atoi"},
		{"# a\n=== a\n@onyl x\nGET /\n", "2: unknown directive @onyl"},
		{"# a\n=== a\nGET /\nnot a header\n", `2: not a header: "not a header"`},
		{"# a\n=== a\n@only x\n", `2: step "a" has no request line`},
		{"# a\n", "1: no steps"},
	} {
		if _, err := Parse(bad.text); err == nil || !strings.HasPrefix(err.Error(), bad.want) {
			t.Errorf("%q: got error %v, want %s", bad.text, err, bad.want)
		}
	}
}

// Every file is written as Format writes it: an -update changes answers and nothing else.
func TestFormat(t *testing.T) {
	for _, name := range names(t) {
		text, err := os.ReadFile(path(name))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(text), string(read(t, name).Format())); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

// What a transcript needs must be a capability that a server can lack, or it would be skipped nowhere.
func TestNeeds(t *testing.T) {
	known := []string{"compaction", "anonymous", "tokens", "impersonation", "methods", "controllers"}
	for _, name := range names(t) {
		for _, need := range read(t, name).Settings.Needs {
			if !strings.Contains(strings.Join(known, " "), need) {
				t.Errorf("%s needs %s, which nothing probes", name, need)
			}
		}
	}
}
