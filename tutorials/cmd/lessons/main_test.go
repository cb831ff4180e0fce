package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/kubetab/kubetab/tutorials"
	"github.com/kubetab/kubetab/tutorials/load"
)

const root = "../.."

func readAll(t *testing.T) *load.Tutorials {
	t.Helper()
	all, err := load.All(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestGeneratedFilesAreCurrent(t *testing.T) {
	for name, c := range map[string]struct {
		want   []byte
		option string
	}{
		"COVERAGE.md": {coverageFile(readAll(t)), "-coverage"},
		"schema.json": {schemaFile(), "-schema"},
	} {
		got, err := os.ReadFile(root + "/" + name)
		if err != nil || !bytes.Equal(got, c.want) {
			t.Errorf("%s is not what the lessons say (%v): run go run ./tutorials/cmd/lessons %s", name, err, c.option)
		}
	}
}

// TestEveryHeadingIsCovered fails on a heading of the reference that no lesson teaches.
func TestEveryHeadingIsCovered(t *testing.T) {
	all := readAll(t)
	by := taughtBy(all)
	for _, h := range all.Headings {
		if len(by[h.Number]) == 0 {
			t.Errorf("no lesson covers %s", h.Number)
		}
	}
}

func TestPageFiles(t *testing.T) {
	all := readAll(t)
	files, err := pageFiles(all)
	if err != nil {
		t.Fatal(err)
	}
	var index Course
	if err := json.Unmarshal(files["index.json"], &index); err != nil || index.Parts[0].Lessons[0].ID != "first/request" {
		t.Fatalf("index.json: %s %v", files["index.json"], err)
	}
	// As scripts/size has it, which says no names.
	most := budget(t, "the largest lesson")
	for name, text := range files {
		if len(text) > most && name != "index.json" {
			t.Errorf("%s has %d bytes, and %d is allowed", name, len(text), most)
		}
	}
	for _, p := range all.Course.Parts {
		for _, id := range p.Lessons {
			for _, language := range load.Languages {
				checkLesson(t, all.Lessons[id], files[id+"."+language+".json"])
			}
		}
	}
}

// budget is a line of size-budget.json, in bytes.
func budget(t *testing.T, line string) int {
	t.Helper()
	text, err := os.ReadFile(root + "/../size-budget.json")
	if err != nil {
		t.Fatal(err)
	}
	var lines map[string]any
	if err := json.Unmarshal(text, &lines); err != nil {
		t.Fatal(err)
	}
	n, ok := lines[line].(float64)
	if !ok {
		t.Fatalf("size-budget.json has no %q", line)
	}
	return int(n)
}

// sameCEL is whether one expression is another, but for the quotes of all its strings.
func sameCEL(got, want string) bool {
	return got == want || !strings.ContainsAny(want, `'\`) && got == strings.ReplaceAll(want, `"`, "'")
}

func TestRequote(t *testing.T) {
	for was, is := range map[string]string{
		`a == "b" && c in ["d", "e"]`:  `a == 'b' && c in ['d', 'e']`,
		`"it's " + a`:                  `"it's " + a`,
		`a.matches("\\d") && b == "c"`: `a.matches("\\d") && b == "c"`,
	} {
		lesson := map[string]any{"steps": []any{map[string]any{"checks": []any{map[string]any{"id": `"`, "now": was}}}}}
		requote(lesson, "now")
		got := lesson["steps"].([]any)[0].(map[string]any)["checks"].([]any)[0].(map[string]any)
		if got["now"] != is || got["id"] != `"` {
			t.Errorf("%s became %v", was, got)
		}
	}
}

// checkLesson reads back what the page is given.
func checkLesson(t *testing.T, l *load.Lesson, text []byte) {
	t.Helper()
	var got Lesson
	var body struct {
		Lesson json.RawMessage `json:"lesson"`
	}
	if err := errors.Join(json.Unmarshal(text, &got), json.Unmarshal(text, &body)); err != nil {
		t.Fatal(err)
	}
	if len(got.Steps) != len(l.All()) || got.Title == "" {
		t.Errorf("%s: %d steps, title %q", l.ID, len(got.Steps), got.Title)
	}
	d := json.NewDecoder(bytes.NewReader(body.Lesson))
	d.DisallowUnknownFields() // as the evaluator reads it
	var begin tutorials.Begin
	if err := d.Decode(&begin); err != nil {
		t.Fatalf("%s: %v", l.ID, err)
	}
	for i, s := range begin.Lesson.All() {
		for j, c := range s.Checks {
			if want := l.All()[i].Checks[j]; c.ID != want.ID || !sameCEL(c.Once, want.Once) || !sameCEL(c.Now, want.Now) || c.Title != (tutorials.Text{}) {
				t.Errorf("%s: check %+v, not %+v", l.ID, c, want)
			}
		}
	}
}
