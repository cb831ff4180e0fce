package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/kubetab/kubetab/core/shell/kubectl"
	"github.com/kubetab/kubetab/internal/locked"
)

const (
	// mostPrinted is how much of each stream a Result holds; what follows is dropped.
	mostPrinted = 16 << 20
	// mostSessions is how many sessions have a name. One more ends the session that has been without a line for the
	// longest time.
	mostSessions = 256
)

// runCommand is POST /kubetab/run. The command ends with the request.
func (s *Shell) runCommand(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Command   string `json:"command"`
		Directory string `json:"directory"`
		Context   string `json:"context"`
		Session   string `json:"session"`
		Stream    bool   `json:"stream"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, mostInput)).Decode(&body); err != nil {
		http.Error(w, "the body is no JSON of {command, directory, context, session, stream}: "+err.Error(), http.StatusBadRequest)
		return
	}
	n, err := s.enter(r.Context(), body.Session, body.Directory)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	if !body.Stream {
		stdout, stderr := locked.Buffer{Most: mostPrinted}, locked.Buffer{Most: mostPrinted}
		code := s.runIn(r.Context(), n, body.Command, body.Context, &stdout, &stderr)
		respond(w, http.StatusOK, Result{stdout.String(), stderr.String(), code})
		return
	}
	p := newPrinted(w)
	p.end(s.runIn(r.Context(), n, body.Command, body.Context, &p.stdout, &p.stderr))
}

// Run runs a command line, or several, in a shell of its own. dir empty means
// the home folder, contextName empty that of the kubeconfig. Errors: dir is not
// there, or the first files cannot be made.
func (s *Shell) Run(ctx context.Context, command, dir, contextName string) (Result, error) {
	stdout, stderr := locked.Buffer{Most: mostPrinted}, locked.Buffer{Most: mostPrinted}
	n, err := s.enter(ctx, "", dir)
	if err != nil {
		return Result{}, err
	}
	code := s.runIn(ctx, n, command, contextName, &stdout, &stderr)
	return Result{stdout.String(), stderr.String(), code}, nil
}

// named is a shell whose lines come as requests of their own: its folder, variables, functions and jobs last from one line
// to the next. One without a name is for a single line.
type named struct {
	name           string
	shell          *session
	stdout, stderr locked.Writer   // lead to the line that runs; what a job prints between two lines is dropped
	life           context.Context // of the jobs, and of the line that runs
	end            context.CancelFunc
	turn           chan struct{} // holds a value while a line runs

	// Guarded by Shell.mu:
	lines int // that run or wait for their turn
	used  int // Shell.lines at the last line
}

// enter returns the shell of a name, for one line that runIn then runs. One that is new begins in dir; without a name it is
// always new, and ends with ctx. Errors: those of newSession.
func (s *Shell) enter(ctx context.Context, name, dir string) (*named, error) {
	if name != "" {
		ctx = s.ctx
		if n := s.find(name); n != nil {
			return n, nil
		}
	}
	n := &named{name: name, lines: 1, turn: make(chan struct{}, 1)}
	k, err := s.newSession(dir, nil, nil, strings.NewReader(""), &n.stdout, &n.stderr, nil, nil)
	if err != nil {
		return nil, err
	}
	n.life, n.end = context.WithCancel(ctx)
	k.life = n.life
	n.shell = k
	if name == "" {
		return n, nil
	}
	// Two requests may have come at once.
	if first := s.find(name); first != nil {
		n.end()
		return first, nil
	}
	s.keep(n)
	return n, nil
}

func (s *Shell) find(name string) *named {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.sessions[name]
	if n != nil {
		n.lines++
		s.lines++
		n.used = s.lines
	}
	return n
}

func (s *Shell) keep(n *named) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines++
	n.used = s.lines
	s.sessions[n.name] = n
	if len(s.sessions) <= mostSessions {
		return
	}
	var oldest *named
	for _, other := range s.sessions {
		if other.lines == 0 && (oldest == nil || other.used < oldest.used) {
			oldest = other
		}
	}
	if oldest != nil {
		delete(s.sessions, oldest.name)
		oldest.end()
	}
}

// leave is for who has entered. A session that has been left with exit, or has no name, ends.
func (s *Shell) leave(n *named, stays bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n.lines--
	if stays && n.name != "" {
		return
	}
	if s.sessions[n.name] == n {
		delete(s.sessions, n.name)
	}
	n.end()
}

// endSession is DELETE /kubetab/sessions/{name}: what runs in it ends, too. A name that nobody has is no error.
func (s *Shell) endSession(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := s.sessions[r.PathValue("name")]; n != nil {
		delete(s.sessions, n.name)
		n.end()
	}
	w.WriteHeader(http.StatusNoContent)
}

// runIn runs a command line in a session that was entered, after the lines that came before it, and returns its exit code:
// kubectl.Interrupted when ctx or the session has ended first.
func (s *Shell) runIn(ctx context.Context, n *named, command, contextName string, stdout, stderr io.Writer) int {
	stays := true
	defer func() { s.leave(n, stays) }()
	select {
	case n.turn <- struct{}{}:
	case <-ctx.Done():
		return kubectl.Interrupted
	case <-n.life.Done():
		return kubectl.Interrupted
	}
	defer func() { <-n.turn }()
	if n.life.Err() != nil {
		return kubectl.Interrupted
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(n.life, cancel)()
	n.stdout.Redirect(stdout)
	n.stderr.Redirect(stderr)
	defer n.stdout.Redirect(nil)
	defer n.stderr.Redirect(nil)
	n.shell.setContext(contextName)
	var code int
	code, stays = n.shell.run(ctx, command)
	return code
}

// printed is a response of lines of JSON with the output of a command. A line is sent when the line before has been
// sent: kubectl writes a table cell by cell, and all output in between goes into one line.
type printed struct {
	to             http.ResponseWriter
	stdout, stderr stream

	mu      sync.Mutex
	changed sync.Cond
	waiting []stretch
	size    int // of waiting
	isOver  bool
	err     error
	gone    chan struct{}
}

// stretch is what one of the streams got, while the other got nothing.
type stretch struct {
	stream *stream
	text   []byte
}

// mostWaiting is how much waits for who reads slowly, in bytes, before the command waits, too.
const mostWaiting = 256 << 10

// newPrinted sends the head of the response: the line was taken, and may have to wait for its turn.
func newPrinted(w http.ResponseWriter) *printed {
	p := &printed{to: w, gone: make(chan struct{})}
	p.changed.L = &p.mu
	p.stdout, p.stderr = stream{to: p, name: "stdout"}, stream{to: p, name: "stderr"}
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.WriteHeader(http.StatusOK)
	p.flush()
	go p.send()
	return p
}

// end sends what is left, and the exit code.
func (p *printed) end(code int) {
	p.mu.Lock()
	p.isOver = true
	p.changed.Broadcast()
	p.mu.Unlock()
	<-p.gone
	// All of these fail when the client has gone.
	for _, s := range []*stream{&p.stdout, &p.stderr} {
		if len(s.cut) > 0 {
			_ = p.encode(s.name, string(s.cut))
		}
	}
	_ = p.encode("exitCode", code)
}

func (p *printed) encode(name string, value any) error {
	return json.NewEncoder(p.to).Encode(map[string]any{name: value})
}

func (p *printed) flush() {
	if f, ok := p.to.(http.Flusher); ok {
		f.Flush()
	}
}

func (p *printed) send() {
	defer close(p.gone)
	for {
		p.mu.Lock()
		for len(p.waiting) == 0 && !p.isOver {
			p.changed.Wait()
		}
		now, isOver := p.waiting, p.isOver
		p.waiting, p.size = nil, 0
		p.changed.Broadcast()
		p.mu.Unlock()
		var err error
		for _, s := range now {
			if text := s.stream.whole(s.text); text != "" {
				err = errors.Join(err, p.encode(s.stream.name, text))
			}
		}
		p.flush()
		if err != nil {
			p.mu.Lock()
			p.err = err
			p.changed.Broadcast()
			p.mu.Unlock()
		}
		if err != nil || isOver {
			return
		}
	}
}

type stream struct {
	to   *printed
	name string
	cut  []byte // the beginning of a character whose rest has not come; of printed.send
}

func (s *stream) Write(b []byte) (int, error) {
	p := s.to
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.size >= mostWaiting && p.err == nil {
		p.changed.Wait()
	}
	if p.err != nil {
		return 0, p.err
	}
	if last := len(p.waiting) - 1; last >= 0 && p.waiting[last].stream == s {
		p.waiting[last].text = append(p.waiting[last].text, b...)
	} else {
		p.waiting = append(p.waiting, stretch{s, bytes.Clone(b)})
	}
	p.size += len(b)
	p.changed.Broadcast()
	return len(b), nil
}

// whole returns text without a character of UTF-8 that is cut by its end, which begins the next one.
func (s *stream) whole(text []byte) string {
	text = append(s.cut, text...)
	end := len(text)
	for i := end - 1; i >= max(0, end-utf8.UTFMax); i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				end = i
			}
			break
		}
	}
	s.cut = bytes.Clone(text[end:])
	return string(text[:end])
}
