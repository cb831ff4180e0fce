package shell

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/kubetab/kubetab/internal/absent"
	"github.com/kubetab/kubetab/internal/unix/bash"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
	tty "github.com/kubetab/kubetab/internal/unix/terminal"
)

const (
	// absence is how long a terminal lives without a reader: a page that is
	// reloaded comes back within it.
	absence = 30 * time.Second
	// mostHistory is how many lines a terminal remembers, of longestRemembered bytes or less. The page keeps those, too.
	mostHistory       = 1000
	longestRemembered = 16 << 10
	// mostInput is how large a body of keys may be.
	mostInput = 1 << 20
)

// terminal is a session that somebody sits at.
type terminal struct {
	id      string
	tty     *tty.TTY
	session *session
	offer   string
	ended   chan struct{}
	reading atomic.Bool // a line, with a prompt before it

	mu        sync.Mutex
	watchers  int
	away      *time.Timer // runs while nobody looks
	interrupt chan struct{}
}

type terminalRequest struct {
	Columns   int      `json:"columns"`
	Rows      int      `json:"rows"`
	History   []string `json:"history"`
	Directory string   `json:"directory"`
	Offer     string   `json:"offer"` // a first line, see terminal.Editor
}

// createTerminal is POST /kubetab/terminals, which answers with a NewTerminal.
func (s *Shell) createTerminal(w http.ResponseWriter, r *http.Request) {
	var body terminalRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostInput)).Decode(&body); err != nil {
		http.Error(w, "the body is no JSON of {columns, rows, history, directory}: "+err.Error(), http.StatusBadRequest)
		return
	}
	t, err := s.newTerminal(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	respond(w, http.StatusCreated, NewTerminal{Home: s.config.Home, ID: t.id})
}

func (s *Shell) newTerminal(body terminalRequest) (*terminal, error) {
	if body.Columns <= 0 || body.Rows <= 0 {
		body.Columns, body.Rows = 80, 24
	}
	t := &terminal{tty: tty.New(body.Columns, body.Rows), ended: make(chan struct{}), interrupt: make(chan struct{})}
	out := t.tty.Output()
	k, err := s.newSession(body.Directory, t.tty, nil, nil, out, out, nil, nil)
	if err != nil {
		t.tty.Close()
		return nil, err
	}
	t.session, t.offer = k, tty.Plain(body.Offer)
	k.history = body.History[max(0, len(body.History)-mostHistory):]
	s.mu.Lock()
	s.last++
	t.id = fmt.Sprintf("t%d", s.last)
	k.id = t.id
	s.terminals[t.id] = t
	s.mu.Unlock()
	t.leave()
	go func() {
		defer close(t.ended)
		if fault := coreutils.Survive(func() { t.run(s.ctx) }); fault != nil {
			fmt.Fprintf(t.tty, "bash: %v\r\nexit\r\n", fault)
		}
		t.tty.Close()
		s.mu.Lock()
		delete(s.terminals, t.id)
		s.mu.Unlock()
	}()
	return t, nil
}

// run reads lines and runs them until the shell is left.
func (t *terminal) run(ctx context.Context) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	k := t.session
	k.life = ctx
	defer k.endJobs()
	complete := func(ctx context.Context, before string) (candidates []tty.Candidate, replaces int) {
		// A word that cannot be completed is as one that has no candidates.
		_ = coreutils.Survive(func() { candidates, replaces = k.complete(ctx, before) })
		return candidates, replaces
	}
	editor := &tty.Editor{TTY: t.tty, Complete: complete, Reprompt: k.prompt, Offer: t.offer}
	for {
		k.mu.Lock()
		editor.History = k.history
		k.mu.Unlock()
		_, _ = t.tty.Write([]byte(k.notify())) // fails when nobody looks any more
		script, err := t.read(ctx, editor)
		switch {
		case errors.Is(err, tty.ErrInterrupted):
			continue
		case err != nil:
			_, _ = t.tty.Write([]byte("exit\r\n")) // ^D, or nobody is there
			return
		case strings.TrimSpace(script) == "":
			continue
		}
		k.remember(script)
		t.tell("history", script)
		if !t.line(ctx, script) {
			return
		}
	}
}

// read reads what is to be run: a line, and more while it is incomplete.
func (t *terminal) read(ctx context.Context, editor *tty.Editor) (string, error) {
	t.tty.Raw(true)
	t.reading.Store(true)
	defer t.reading.Store(false)
	// Whatever was printed has left its colours and modes behind. (1049 would move the cursor as well.)
	_, _ = t.tty.Write([]byte("\x1b[0m\x1b[?1l\x1b[?7h\x1b[?25h\x1b[?47l")) // fails when nobody looks any more
	return editor.ReadScript(ctx, t.session.prompt(), incomplete)
}

// reprompt has the prompt drawn again, if there is one.
func (t *terminal) reprompt() {
	if t.reading.Load() {
		t.tty.Reprompt()
	}
}

// incomplete returns nil for a script that is whole, and otherwise what says whether a line may be the last one of it.
func incomplete(script string) (mayEnd func(line string) bool) {
	mayEnd, err := absent.Attempt(func() (mayEnd func(string) bool) {
		_ = coreutils.Survive(func() { mayEnd = bash.Incomplete(script) })
		return mayEnd
	})
	if err != nil {
		return nil // what cannot be parsed now says so when it runs
	}
	return mayEnd
}

// line runs a script in the foreground: ^C ends it. It reports false when the
// shell has been left.
func (t *terminal) line(ctx context.Context, script string) bool {
	running, stop := context.WithCancelCause(ctx)
	t.mu.Lock()
	t.interrupt = make(chan struct{})
	interrupted := t.interrupt
	t.mu.Unlock()
	t.tty.Foreground(sync.OnceFunc(func() {
		close(interrupted)
		stop(tty.ErrInterrupted)
	}))
	t.tty.Raw(false) // after it is known what ^C does, for there may be one already
	_, stays := t.session.run(running, script)
	t.tty.Foreground(nil)
	if !strings.Contains(script, "&") {
		stop(context.Canceled) // otherwise what it left in the background goes on
	}
	return stays
}

// interrupted is closed at ^C in the line that runs.
func (t *terminal) interrupted() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.interrupt
}

// leave starts the time after which a terminal without a reader ends.
func (t *terminal) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watchers == 0 && t.away == nil {
		t.away = time.AfterFunc(absence, t.close)
	}
}

// close ends the terminal and what runs in it.
func (t *terminal) close() {
	t.tty.Interrupt()
	t.tty.Close()
	<-t.ended
}

// positionHeader says in an answer with output how many bytes the terminal had printed before the first one of them.
const positionHeader = "Kubetab-Position"

// output is GET /kubetab/terminals/{id}/output?from=POSITION.
func (s *Shell) output(w http.ResponseWriter, r *http.Request, t *terminal) {
	from := int64(math.MaxInt64) // what nobody has taken yet
	if asked := r.URL.Query().Get("from"); asked != "" {
		var err error
		if from, err = strconv.ParseInt(asked, 10, 64); err != nil || from < 0 {
			http.Error(w, "from is no number of bytes: "+strconv.Quote(asked), http.StatusBadRequest)
			return
		}
	}
	t.mu.Lock()
	t.watchers++
	if t.away != nil {
		t.away.Stop()
		t.away = nil
	}
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		t.watchers--
		t.mu.Unlock()
		t.leave()
	}()
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Cache-Control", "no-store")
	position := t.tty.Reach(from)
	w.Header().Set(positionHeader, strconv.FormatInt(position, 10))
	w.WriteHeader(http.StatusOK)
	flush := http.NewResponseController(w)
	if err := flush.Flush(); err != nil {
		return
	}
	for {
		b, end, err := t.tty.Next(r.Context(), position)
		if err != nil {
			return
		}
		position = end
		if _, err := w.Write(b); err != nil {
			return
		}
		if err := flush.Flush(); err != nil {
			return
		}
	}
}

// input is POST /kubetab/terminals/{id}/input.
func (s *Shell) input(w http.ResponseWriter, r *http.Request, t *terminal) {
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostInput))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	if err := t.tty.Type(r.Context(), b); err != nil {
		http.Error(w, err.Error(), http.StatusGone)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// resize is PUT /kubetab/terminals/{id}/size.
func (s *Shell) resize(w http.ResponseWriter, r *http.Request, t *terminal) {
	var body struct {
		Columns int `json:"columns"`
		Rows    int `json:"rows"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&body); err != nil || body.Columns <= 0 || body.Rows <= 0 {
		http.Error(w, "the body is no {\"columns\": number, \"rows\": number}", http.StatusBadRequest)
		return
	}
	t.tty.Resize(body.Columns, body.Rows)
	w.WriteHeader(http.StatusNoContent)
}

// deleteTerminal is DELETE /kubetab/terminals/{id}.
func (s *Shell) deleteTerminal(w http.ResponseWriter, _ *http.Request, t *terminal) {
	t.close()
	w.WriteHeader(http.StatusNoContent)
}

// remember adds a line to the history, unless it is the last one again, or a document that nobody would edit there.
func (k *session) remember(line string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if n := len(k.history); len(line) > longestRemembered || n > 0 && k.history[n-1] == line {
		return
	}
	k.history = append(k.history, line)
	k.history = k.history[max(0, len(k.history)-mostHistory):]
}
