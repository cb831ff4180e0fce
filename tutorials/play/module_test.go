package play

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/kubetab/kubetab/internal/testmodule"
	"github.com/kubetab/kubetab/tutorials"
	"github.com/kubetab/kubetab/tutorials/evaluate"
	"github.com/kubetab/kubetab/tutorials/load"
)

var module = flag.String("wasm", "", "`file` of the WebAssembly module to play a sample of lessons in, under Node")

// TestModule plays the specimen, which has every kind of check, and the first lesson in the module, as the page does: over
// HTTP, with PUT, GET ?watch=1 and DELETE. Neither has the page fetch the rest of the module, which takes the processor from
// the lesson for seconds.
func TestModule(t *testing.T) {
	if *module == "" {
		t.Skip("no -wasm")
	}
	first, err := load.One(os.DirFS(folder), "first/request")
	if err != nil {
		t.Fatal(err)
	}
	snapshot := strings.TrimSuffix(*module, ".wasm") + ".snapshot"
	if _, err := os.Stat(snapshot); err != nil { // make profile has none
		snapshot = ""
	}
	m := testmodule.Start(t, testmodule.Options{WASM: *module, Snapshot: snapshot})
	page := &page{t: t, url: m.URL}
	for _, l := range []*load.Lesson{readSpecimen(t, "", ""), first} {
		page.play(l)
	}
	page.do(http.MethodDelete, evaluate.Path, nil, nil)
	var s tutorials.State
	if page.do(http.MethodGet, evaluate.Path, nil, &s); s.ID != "" {
		t.Errorf("after the end: %+v", s)
	}
	for line := range strings.Lines(m.Log()) {
		if strings.Contains(line, "the rest of the module is needed") {
			t.Error(line)
		}
	}
}

// page asks what a page asks.
type page struct {
	t   *testing.T
	url string
}

func (p *page) send(ctx context.Context, method, path string, body any) *http.Response {
	p.t.Helper()
	text, isFile := body.(string)
	if !isFile && body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			p.t.Fatal(err)
		}
		text = string(encoded)
	}
	r, err := http.NewRequestWithContext(ctx, method, p.url+path, strings.NewReader(text))
	if err != nil {
		p.t.Fatal(err)
	}
	r.Header.Set("Kubetab-Client", "lesson")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	return response
}

// do sends a request and reads its answer, which must not be an error.
func (p *page) do(method, path string, body, into any) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	response := p.send(ctx, method, path, body)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode >= 300 {
		p.t.Fatalf("%s %s: %s %s %v", method, path, response.Status, text, err)
	}
	if into != nil {
		if err := json.NewDecoder(bytes.NewReader(text)).Decode(into); err != nil {
			p.t.Fatal(err)
		}
	}
}

// until follows the state until it is as wanted.
func (p *page) until(what string, wanted func(tutorials.State) bool) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	response := p.send(ctx, http.MethodGet, evaluate.Path+"?watch=1", nil)
	defer response.Body.Close()
	lines := json.NewDecoder(response.Body)
	var last tutorials.State
	for {
		var s tutorials.State
		if err := lines.Decode(&s); err != nil {
			p.t.Fatalf("%s: %v; the state is %+v", what, err, last)
		}
		if last = s; wanted(s) {
			return
		}
	}
}

// play plays a lesson's solution. In its first step its first wrong turn comes first, and in the middle the page comes
// back to the lesson.
func (p *page) play(l *load.Lesson) {
	for _, f := range slices.Concat(l.Files, l.Solution) {
		p.do(http.MethodPut, "/kubetab/files/home/kubetab/"+f.Name, f.Text, nil)
	}
	var s tutorials.State
	p.do(http.MethodPut, evaluate.Path, l.Begin(), &s)
	if err := compare(s, -1, "after the start"); err != nil {
		p.t.Errorf("%s: %v", l.ID, err)
	}
	steps := l.All()
	for i, step := range steps {
		if i == 0 && len(step.Wrong) > 0 && !step.Wrong[0].Alone {
			w := step.Wrong[0]
			p.run(w.Lines)
			p.until("the hint "+w.Hint, func(s tutorials.State) bool { return slices.Contains(s.Steps[0].Hints, w.Hint) })
		}
		p.run(step.Solution)
		p.until(fmt.Sprintf("%s, step %s", l.ID, step.ID), func(s tutorials.State) bool { return s.Steps[i].Done })
		if i == 0 {
			begin := l.Begin()
			p.do(http.MethodGet, evaluate.Path, nil, &s)
			begin.Progress = s.Steps
			p.do(http.MethodPut, evaluate.Path+"?keep=1", begin, &s)
			if err := compare(s, 0, "coming back"); err != nil {
				p.t.Errorf("%s: %v", l.ID, err)
			}
		}
	}
}

func (p *page) run(lines []string) {
	p.t.Helper()
	var result struct{ Stdout, Stderr string }
	p.do(http.MethodPost, "/kubetab/run", map[string]string{"command": strings.Join(lines, "\n")}, &result)
	p.t.Logf("%s\n%s%s", strings.Join(lines, "\n"), result.Stdout, result.Stderr)
}
