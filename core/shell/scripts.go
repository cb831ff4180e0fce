package shell

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/kubetab/kubetab/core/shell/kubectl"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// NodeCommand is a call of node, for a Config that runs it as a process.
type NodeCommand struct {
	Args           []string
	Dir            string
	Env            []string
	Stdout, Stderr io.Writer
}

// script is one that the page runs while a command waits.
type script struct {
	name, text     string
	stdout, stderr io.Writer
	over           chan struct{} // closed when the command has ended and nobody finds the script any more
	// What follows is guarded by Shell.mu.
	taken bool          // by a page
	ended chan struct{} // closed with code set
	code  int
}

// node runs a file of JavaScript: where there are processes with Node, and in a
// tab in a worker of the page, which gives it the same fetch.
func (k *session) node(c *coreutils.Call) int {
	if run := k.shell.config.Node; run != nil {
		return run(c, NodeCommand{Args: c.Args, Dir: c.Dir, Env: c.Environ(), Stdout: c.Stdout, Stderr: c.Stderr})
	}
	if len(c.Args) != 1 || strings.HasPrefix(c.Args[0], "-") {
		return c.Fail("this shell runs %s FILE", c.Name)
	}
	text, err := os.ReadFile(c.Path(c.Args[0]))
	if err != nil {
		return c.Fail("%s: %s", c.Args[0], coreutils.Reason(err))
	}
	code, err := k.shell.runScript(c, k.id, &script{name: c.Args[0], text: string(text), stdout: c.Stdout, stderr: c.Stderr})
	if c.Err() != nil {
		return kubectl.Interrupted
	}
	if err != nil {
		return c.Fail("%v", err)
	}
	return code
}

// runScript has the page of the terminal id run x, and waits until it has ended.
// Errors: no such terminal, ctx has ended, the page has gone.
func (s *Shell) runScript(ctx context.Context, id string, x *script) (int, error) {
	x.over, x.ended = make(chan struct{}), make(chan struct{})
	t, token, forget := await(s, s.scripts, id, x)
	if t == nil {
		return 0, errors.New("there is no page to run it without a terminal")
	}
	defer func() {
		forget()
		close(x.over)
	}()
	t.tell("script", token)
	select {
	case <-x.ended:
		return x.code, nil
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// end sets the code that the command ends with, if it has none yet.
func (s *Shell) end(x *script, code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	select {
	case <-x.ended:
	default:
		x.code = code
		close(x.ended)
	}
}

func (s *Shell) withScript(f func(http.ResponseWriter, *http.Request, *script)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		x := s.scripts[r.PathValue("token")]
		s.mu.Unlock()
		if x == nil {
			http.Error(w, "nobody waits for this script any more", http.StatusNotFound)
			return
		}
		f(w, r, x)
	}
}

// takeScript is GET /kubetab/scripts/{token}: a Script, for the first client that asks.
func (s *Shell) takeScript(w http.ResponseWriter, _ *http.Request, x *script) {
	s.mu.Lock()
	taken := x.taken
	x.taken = true
	s.mu.Unlock()
	if taken {
		http.Error(w, "another page runs this script", http.StatusConflict)
		return
	}
	respond(w, http.StatusOK, Script{Name: x.name, Text: x.text})
}

// followCommand is GET /kubetab/scripts/{token}/end: its answer ends with the
// command, and the command with whoever waits for that.
func (s *Shell) followCommand(w http.ResponseWriter, r *http.Request, x *script) {
	w.WriteHeader(http.StatusOK)
	if err := http.NewResponseController(w).Flush(); err != nil {
		return
	}
	select {
	case <-x.over:
	case <-r.Context().Done():
		s.end(x, 1)
	}
}

// mostScriptOutput is how large a body with output may be.
const mostScriptOutput = 4 << 20

// printScript is POST /kubetab/scripts/{token}.
func (s *Shell) printScript(w http.ResponseWriter, r *http.Request, x *script) {
	var body struct {
		Stdout string `json:"stdout"`
		Stderr string `json:"stderr"`
		Code   *int   `json:"code"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostScriptOutput)).Decode(&body); err != nil {
		http.Error(w, "the body is no JSON of {stdout, stderr, code}: "+err.Error(), http.StatusBadRequest)
		return
	}
	// These fail when nobody reads any more: the command then ends by itself.
	_, _ = io.WriteString(x.stdout, body.Stdout)
	_, _ = io.WriteString(x.stderr, body.Stderr)
	if body.Code != nil {
		s.end(x, *body.Code)
	}
	w.WriteHeader(http.StatusNoContent)
}
