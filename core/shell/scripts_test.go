package shell_test

import (
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// page is the page of a terminal, which is asked to run a script.
type page struct {
	t     *testing.T
	way   string // of the script
	close context.CancelFunc
	ended chan struct{} // closed when the command has
}

// takes waits until the terminal asks for a script, takes it, and waits for the command's end.
func takes(t *testing.T, s *seat, url, wanted string) *page {
	t.Helper()
	token := hears(t, s, "script")[0]
	p := &page{t: t, way: url + "/kubetab/scripts/" + token, ended: make(chan struct{})}
	if code, answer := ask(t, http.MethodGet, p.way, ""); code != http.StatusOK || strings.TrimSpace(answer) != wanted {
		t.Fatalf("the script: %d %s", code, answer)
	}
	if code, _ := ask(t, http.MethodGet, p.way, ""); code != http.StatusConflict {
		t.Errorf("another page that takes it: %d", code)
	}
	p.follow()
	return p
}

func (p *page) follow() {
	p.t.Helper()
	ctx, cancel := context.WithCancel(p.t.Context())
	p.close = cancel
	p.t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.way+"/end", nil)
	if err != nil {
		p.t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	go func() {
		defer close(p.ended)
		defer response.Body.Close()
		_, _ = io.Copy(io.Discard, response.Body) // cut when the page goes
	}()
}

func (p *page) says(body string, want int) {
	p.t.Helper()
	if code, answer := ask(p.t, http.MethodPost, p.way, body); code != want {
		p.t.Errorf("%s: %d %s", body, code, answer)
	}
}

func (p *page) hearsTheEnd() {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Error("the page does not hear that the command has ended")
	}
	p.says(`{"stdout": "late\n"}`, http.StatusNotFound)
}

func TestNodeIsRunByThePageOfTheTerminal(t *testing.T) {
	const asked = `{"name":"x.js","text":"await 1"}`
	url := httpServer(t)
	s := sitAt(t, url)
	t.Cleanup(func() {
		os.Remove(filepath.Join(shared.home, "x.js"))
		os.Remove(filepath.Join(shared.home, "out.txt"))
	})
	if err := os.WriteFile(filepath.Join(shared.home, "x.js"), []byte("await 1"), 0o644); err != nil {
		t.Fatal(err)
	}

	s.types("node x.js > out.txt; echo code $?; cat out.txt\r")
	p := takes(t, s, url, asked)
	p.says(`{"stdout": "one\n", "stderr": "careful\n"}`, http.StatusNoContent)
	s.sees(`careful\n`)
	p.says(`no json`, http.StatusBadRequest)
	p.says(`{"stdout": "two\n", "code": 7}`, http.StatusNoContent)
	s.sees(`code 7\none\ntwo\n`)
	p.hearsTheEnd()

	s.types("node x.js\r")
	p = takes(t, s, url, asked)
	s.types("\x03")
	p.hearsTheEnd()
	s.types("echo $?\r")
	s.sees(`\n130\n`)

	s.types("node x.js & echo begun\r")
	p = takes(t, s, url, asked)
	s.types("kill %1; wait; echo over\r")
	p.hearsTheEnd()
	s.sees(`\nover\n`)

	s.types("node x.js; echo code $?\r")
	p = takes(t, s, url, asked)
	p.close() // as a page that is left
	s.sees(`code 1\n`)
	p.says(`{"code": 0}`, http.StatusNotFound)

	s.types("node; node --version; node none.js\r")
	s.sees(`(?s)this shell runs node FILE.*this shell runs node FILE.*none.js: No such file.*\$ $`)
	s.types("echo $(bash -c 'node x.js')\r")
	p = takes(t, s, url, asked)
	p.says(`{"stdout": "inside\n", "code": 0}`, http.StatusNoContent)
	s.sees(`inside\n`)
}

func TestNodeWithoutAPage(t *testing.T) {
	t.Cleanup(func() { os.Remove(filepath.Join(shared.home, "y.js")) }) // other tests complete names in this folder
	r, err := shared.shell.Run(t.Context(), "echo > y.js; node y.js", "", "")
	if err != nil || r.ExitCode != 1 || !strings.Contains(r.Stderr, "there is no page to run it without a terminal") {
		t.Errorf("%+v %v", r, err)
	}
}
