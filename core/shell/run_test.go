package shell_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/kubetab/kubetab/core/shell"
)

// line is a running command line whose output comes piece by piece.
type line struct {
	t       *testing.T
	pieces  *bufio.Scanner
	cancel  context.CancelFunc
	printed string // so far, of both streams
}

type piece struct {
	Stdout, Stderr string
	ExitCode       *int
}

// startLine runs a command line in a session; "" is one of its own.
func startLine(t *testing.T, url, session, command string) *line {
	t.Helper()
	body, err := json.Marshal(map[string]any{"command": command, "session": session, "stream": true})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/kubetab/run", strings.NewReader(string(body)))
	if err != nil {
		t.Fatal(err)
	}
	l := &line{t: t, cancel: cancel}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(response.Body)
		t.Fatalf("%s: %s: %s", command, response.Status, text)
	}
	l.pieces = bufio.NewScanner(response.Body)
	l.pieces.Buffer(nil, 8<<20)
	return l
}

// next returns the next piece; nil at the end of the answer.
func (l *line) next() *piece {
	l.t.Helper()
	if !l.pieces.Scan() {
		return nil
	}
	var p piece
	if err := json.Unmarshal(l.pieces.Bytes(), &p); err != nil {
		l.t.Fatalf("%q: %v", l.pieces.Text(), err)
	}
	l.printed += p.Stdout + p.Stderr
	return &p
}

// until reads on until text was printed.
func (l *line) until(text string) {
	l.t.Helper()
	for !strings.Contains(l.printed, text) {
		if p := l.next(); p == nil || p.ExitCode != nil {
			l.t.Fatalf("the line ended, and has printed %q without %q", l.printed, text)
		}
	}
}

// rest reads to the end and returns the exit code.
func (l *line) rest() int {
	l.t.Helper()
	for {
		p := l.next()
		if p == nil {
			l.t.Fatalf("the answer ended without an exit code, after %q", l.printed)
		}
		if p.ExitCode != nil {
			return *p.ExitCode
		}
	}
}

// in runs a line of a session to its end and returns what it has printed, with an exit code that is not 0.
func in(t *testing.T, url, session, command string) string {
	t.Helper()
	l := startLine(t, url, session, command)
	if code := l.rest(); code != 0 {
		return fmt.Sprintf("%s(%d)", l.printed, code)
	}
	return l.printed
}

func endSession(t *testing.T, url, session string) {
	t.Helper()
	if code, text := ask(t, http.MethodDelete, url+"/kubetab/sessions/"+session, ""); code != http.StatusNoContent {
		t.Fatalf("end the session: %d %s", code, text)
	}
}

func TestRunPrintsAsItGoes(t *testing.T) {
	url := httpServer(t)
	in(t, url, "", "kubectl create namespace streams; kubectl create configmap first -n streams")
	watch := startLine(t, url, "watching", "kubectl get configmaps -n streams -w")
	watch.until("first")
	in(t, url, "", "kubectl create configmap second -n streams")
	watch.until("second")
	// The next line of the session has its turn once the request of this one has gone.
	watch.cancel()
	if got := in(t, url, "watching", "echo $?"); got != "130\n" {
		t.Errorf("after a line that was interrupted: %q", got)
	}
}

func TestRunStreamsAreToldApart(t *testing.T) {
	l := startLine(t, httpServer(t), "", "echo out; echo err >&2; echo out again; exit 3")
	var order []string
	for p := l.next(); p.ExitCode == nil; p = l.next() {
		order = append(order, strings.TrimSpace("1"+p.Stdout), strings.TrimSpace("2"+p.Stderr))
	}
	all := strings.Join(order, " ")
	if !strings.Contains(all, "1out") || !strings.Contains(all, "2err") || strings.Index(all, "2err") > strings.Index(all, "1out again") {
		t.Errorf("printed %q", order)
	}
}

// However a character of UTF-8 is cut by writes, it arrives whole.
func TestRunCutsNoCharacter(t *testing.T) {
	url := httpServer(t)
	if got := in(t, url, "", `for b in '\xe2' '\x82' '\xac' '\n'; do printf "$b"; sleep 0.01; done`); got != "€\n" {
		t.Errorf("printed %q", got)
	}
	if got := in(t, url, "", `printf 'a\xe2\x82'`); got != "a\ufffd\ufffd" {
		t.Errorf("a character that never ends: %q", got)
	}
}

func TestSessionLasts(t *testing.T) {
	url := httpServer(t)
	in(t, url, "one", "mkdir -p lasting/deep; cd lasting/deep; name=value; f() { echo f of $name; }; sleep 1000 & echo")
	if got := in(t, url, "one", "pwd | sed 's/.*lasting/lasting/'; f; jobs"); !strings.Contains(got, "lasting/deep\nf of value\n[1]+  Running") {
		t.Errorf("the session has %q", got)
	}
	for _, other := range []string{"two", ""} {
		if got := in(t, url, other, "pwd; echo $name; jobs; f"); strings.Contains(got, "deep") || strings.Contains(got, "value") || !strings.Contains(got, "(127)") {
			t.Errorf("session %q has what is another's: %q", other, got)
		}
	}
	endSession(t, url, "one")
	if got := in(t, url, "one", "pwd; echo $name; jobs"); strings.Contains(got, "deep") || strings.Contains(got, "value") || strings.Contains(got, "Running") {
		t.Errorf("a session that was ended has %q", got)
	}
	if got := in(t, url, "one", "x=1; exit 4"); got != "(4)" {
		t.Errorf("exit: %q", got)
	}
	if got := in(t, url, "one", "echo $x."); got != ".\n" {
		t.Errorf("a session that was left has %q", got)
	}
	endSession(t, url, "nobody")
}

// The end of a session ends the line that runs in it, and those that wait for their turn.
func TestSessionEndsWithWhatRuns(t *testing.T) {
	url := httpServer(t)
	runs := startLine(t, url, "busy", "echo begun; sleep 1000; echo never")
	runs.until("begun")
	waits := startLine(t, url, "busy", "echo never")
	endSession(t, url, "busy")
	for _, l := range []*line{runs, waits} {
		if code := l.rest(); code != 130 || strings.Contains(l.printed, "never") {
			t.Errorf("exit code %d after %q", code, l.printed)
		}
	}
	if got := in(t, url, "busy", "echo again"); got != "again\n" {
		t.Errorf("the next session of the name: %q", got)
	}
}

// A line that waits for its turn gives its place up with its request.
func TestSessionForgetsWhoGaveUp(t *testing.T) {
	url := httpServer(t)
	runs := startLine(t, url, "queue", "echo begun; sleep 1000")
	runs.until("begun")
	waits := startLine(t, url, "queue", "echo > gave-up")
	waits.cancel()
	// The server may hear of a request that has gone after it has heard of a later one.
	for limit := time.After(patience); shared.shell.Lines("queue") > 1; {
		select {
		case <-limit:
			t.Fatal("the line that waits does not hear that its request has gone")
		case <-time.After(time.Millisecond):
		}
	}
	runs.cancel()
	if got := in(t, url, "queue", "test -e gave-up; echo $?"); got != "1\n" {
		t.Errorf("a line whose request has gone has run: %q", got)
	}
}

// With more names than there may be, the one that was used longest ago ends; one with a line that runs does not.
func TestSessionsAreBounded(t *testing.T) {
	url := httpServer(t)
	busy := startLine(t, url, "first", "x=first; echo begun; sleep 1000")
	busy.until("begun")
	in(t, url, "second", "x=second")
	in(t, url, "third", "x=third")
	for i := range shell.MostSessions - 2 {
		in(t, url, fmt.Sprint("more-", i), "true")
	}
	if got := in(t, url, "third", "echo $x"); got != "third\n" {
		t.Errorf("the session that was used later: %q", got)
	}
	if got := in(t, url, "second", "echo $x"); got != "\n" {
		t.Errorf("the session that was used longest ago: %q", got)
	}
	busy.cancel()
	if got := in(t, url, "first", "echo $x"); got != "first\n" {
		t.Errorf("the session with a line that ran: %q", got)
	}
}

// newSession returns a session, and what runs a line in it and returns what was printed.
func newSession(t *testing.T) (k *shell.Session, run func(line string) string) {
	t.Helper()
	var printed strings.Builder
	k, err := shared.shell.NewSession(&printed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return k, func(line string) string {
		printed.Reset()
		k.Run(t.Context(), line)
		return printed.String()
	}
}

// A line that is ended for lack of memory leaves no large variables: others need the memory.
func TestLargeVariablesAreUnset(t *testing.T) {
	k, run := newSession(t)
	if got := run(`x=$(head -c 2M /dev/zero | tr '\0' x); readonly z=$x; y=small; a=($x $x)`); got != "" {
		t.Fatal(got)
	}
	k.DropLarge()
	if got := run("echo ${#x} $y ${#z} ${#a[@]}"); got != "0 small 2097152 0\n" {
		t.Errorf("printed %q", got)
	}
}

// A line that doubles a text is ended, says why before all else, and leaves nothing of it.
func TestWhatDoubledIsUnset(t *testing.T) {
	_, run := newSession(t)
	got := run("y=small; x=x; while true; do x=$x$x; done")
	if !strings.HasPrefix(got, "bash: cannot allocate memory\n") {
		t.Errorf("printed %q", got)
	}
	var left int
	after := run("echo ${#x} $y")
	if _, err := fmt.Sscanf(after, "%d small\n", &left); err != nil {
		t.Fatalf("after it: %q", after)
	}
	// A line is ended for what the programs of earlier tests still hold, too: before it has doubled much.
	const large = 1 << 20
	if isUnset := strings.Contains(got, "\nbash: x: unset, it held "); isUnset != (left == 0) || left >= large {
		t.Errorf("printed %q, and x has %d bytes after it", got, left)
	}
}

// Zero bytes that a command prints in $( ) are left out, as bash does, and take no room.
func TestZeroBytesOfACommand(t *testing.T) {
	_, run := newSession(t)
	if got := run(`x=$(head -c 200M /dev/zero; echo a; head -c 3 /dev/zero); echo "$x" ${#x}`); got != "a 1\n" {
		t.Errorf("printed %q", got)
	}
}
