package container

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubetab/kubetab/internal/unix/terminal"
	screens "github.com/kubetab/kubetab/internal/unix/terminal/screen"
)

// screen is what a client at a terminal sees.
type screen struct {
	mu      sync.Mutex
	changed sync.Cond
	text    []byte
	ended   bool
}

func (s *screen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.text = append(s.text, b...)
	s.changed.Broadcast()
	return len(b), nil
}

// client is somebody at the terminal of an exec in a container.
type client struct {
	t      *testing.T
	screen *screen
	keys   *io.PipeWriter
	code   chan int
}

func at(t *testing.T, b *box, argv ...string) *client {
	t.Helper()
	return atTerminal(t, b, NewTerminal(), argv...)
}

func atTerminal(t *testing.T, b *box, tty *terminal.TTY, argv ...string) *client {
	t.Helper()
	in, keys := io.Pipe()
	c := &client{t, &screen{}, keys, make(chan int, 1)}
	c.screen.changed.L = &c.screen.mu
	go func() {
		code, err := b.Exec(context.Background(), argv, in, c.screen, c.screen, tty)
		if err != nil {
			t.Error(err)
		}
		c.code <- code
		c.screen.mu.Lock()
		c.screen.ended = true
		c.screen.changed.Broadcast()
		c.screen.mu.Unlock()
	}()
	t.Cleanup(func() { keys.Close() })
	return c
}

func (c *client) types(keys string) {
	c.t.Helper()
	if _, err := io.WriteString(c.keys, keys); err != nil {
		c.t.Fatal(err)
	}
}

// patience ends a test that hangs, and no other.
const patience = time.Minute

// await waits until what has come since the last call is as wanted.
func (c *client) await(wanted string, is func(text string) bool) string {
	c.t.Helper()
	c.screen.mu.Lock()
	defer c.screen.mu.Unlock()
	late := false
	timer := time.AfterFunc(patience, func() {
		c.screen.mu.Lock()
		defer c.screen.mu.Unlock()
		late = true
		c.screen.changed.Broadcast()
	})
	defer timer.Stop()
	for !is(string(c.screen.text)) {
		if c.screen.ended || late {
			c.t.Fatalf("ended %v: %q, and not %q", c.screen.ended, c.screen.text, wanted)
		}
		c.screen.changed.Wait()
	}
	text := string(c.screen.text)
	c.screen.text = nil
	return text
}

// sees waits until what has come since the last call ends like this.
func (c *client) sees(end string) string {
	c.t.Helper()
	return c.await(end, func(text string) bool { return strings.HasSuffix(text, end) })
}

// shows waits until the rows that have come since the last call end like this.
func (c *client) shows(end string) {
	c.t.Helper()
	c.await(end, func(text string) bool {
		rows, _, err := screens.Show(text, 80)
		return err == nil && strings.HasSuffix(strings.Join(rows, "\n"), end)
	})
}

// ends waits for the exit code.
func (c *client) ends(want int) {
	c.t.Helper()
	if code := <-c.code; code != want {
		c.t.Errorf("exit code %d, not %d, after %q", code, want, c.screen.text)
	}
}

func TestInterruptEndsWhatRuns(t *testing.T) {
	b := run(t, "busybox", "sleep", "1000")
	shell := at(t, b, "sh")
	shell.sees("/ # ")
	for _, line := range []string{
		"sleep 1000",
		"while :; do :; done",
		"sleep 1000 | cat",
		"awk 'BEGIN { while (1) n++ }'",
		"awk 'BEGIN { system(\"sleep 1000\") }'",
		"cat",
		"openssl dgst",
		"tail -f /dev/null",
		"sh -c 'while true; do sleep 1000; done'",
		"f() { f2 x; }; f2() { sleep 1000; }; f",
		"read x",
	} {
		shell.types(line + "; echo not reached\r")
		shell.sees(line + "; echo not reached\r\n")
		shell.types("\x03")
		shell.sees("^C\r\n/ # ")
		shell.types("echo $?\r")
		shell.sees("echo $?\r\n130\r\n/ # ")
	}
	// What a program runs has begun: ^C is for both.
	for _, line := range []string{`awk 'BEGIN { system("echo begun; sleep 1000") }'`, "env sh -c 'echo begun; sleep 1000'", "echo begun | xargs -n 1 sh -c 'echo $0; sleep 1000'"} {
		shell.types(line + "; echo not reached\r")
		shell.sees("\r\nbegun\r\n")
		shell.types("\x03")
		shell.sees("^C\r\n/ # ")
		shell.types("echo $?\r")
		shell.sees("echo $?\r\n130\r\n/ # ")
	}
	shell.types("half a line\x03")
	shell.sees("half a line^C\r\n/ # ")
	shell.types("echo $?\r")
	shell.sees("echo $?\r\n130\r\n/ # ")
	shell.types("sleep 1000 & echo begun\r")
	shell.sees("begun\r\n/ # ")
	shell.types("sleep 1000\r")
	shell.sees("sleep 1000\r\n")
	shell.types("\x03")
	shell.sees("^C\r\n/ # ")
	shell.types("jobs | wc -l\r")
	shell.sees("wc -l\r\n1\r\n/ # ")
	shell.types("exit 7\r")
	shell.ends(7)
}

func TestInterruptEndsCommandOfExec(t *testing.T) {
	b := run(t, "busybox", "sleep", "1000")
	for _, argv := range [][]string{{"sleep", "1000"}, {"cat"}, {"sh", "-c", "while true; do sleep 1000; done"}} {
		c := at(t, b, argv...)
		// Whether it has begun or not.
		c.types("\x03")
		c.ends(130)
	}
	c := at(t, b, "sh", "-c", "trap 'echo trapped; exit 3' INT; echo begun; sleep 1000 & wait")
	c.sees("begun\r\n")
	c.types("\x03")
	c.sees("^C\r\ntrapped\r\n")
	c.ends(3)
}

// Nobody reads it, and much of it: ^C neither waits for that nor lets it be run afterwards.
func TestInterruptThrowsAwayWhatWasPasted(t *testing.T) {
	shell := at(t, run(t, "busybox", "sleep", "1000"), "sh")
	shell.sees("/ # ")
	shell.types("sleep 1000\r")
	shell.sees("sleep 1000\r\n")
	shell.types(strings.Repeat("echo pasted\r", 1_500_000))
	shell.types("\x03")
	shell.sees("^C\r\n/ # ")
	shell.types("echo on\r")
	if text := shell.sees("\r\non\r\n/ # "); text != "echo on\r\non\r\n/ # " {
		t.Errorf("the shell went on with %q", text)
	}
}

func TestEndOfInputIsOfOneCommand(t *testing.T) {
	shell := at(t, run(t, "busybox", "sleep", "1000"), "sh")
	shell.sees("/ # ")
	shell.types("cat >f\ra line\rand a half\x04\x04cat f; echo .\r")
	shell.sees("\r\na line\r\nand a half.\r\n/ # ")
	shell.types("\x04")
	shell.ends(0)
}

func TestShellEndsWithItsClient(t *testing.T) {
	shell := at(t, run(t, "busybox", "sleep", "1000"), "sh")
	shell.types("(exit 3)\r")
	shell.shows("(exit 3)\n/ #")
	if err := shell.keys.Close(); err != nil {
		t.Error(err)
	}
	shell.ends(3)
}

func TestTerminalEndsLinesForScreens(t *testing.T) {
	c := at(t, run(t, "busybox", "sleep", "1000"), "printf", `a\nb\n`)
	c.ends(0)
	if text := string(c.screen.text); text != "a\r\nb\r\n" {
		t.Errorf("%q", text)
	}
}

// The first process of a container whose terminal somebody is attached to.
func TestInterruptAtFirstProcess(t *testing.T) {
	image, err := Resolve("busybox")
	if err != nil {
		t.Fatal(err)
	}
	b := run(t, "busybox", "sleep", "1000") // its clock
	var running sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	defer func() { cancel(); running.Wait() }()
	ended := make(chan int, 1)
	disk := NewDisk(b.clock, 0)
	c, err := Start(ctx, Config{
		Clock: b.clock, Image: image, Argv: []string{"sh", "-c", "while sleep 1000; do echo on; done"}, Stdin: true, TTY: true,
		Files: func() *Tree { return image.Tree(disk) }, Network: alone{}, Go: running.Go, OnExit: func(code int) { ended <- code },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Attach(ctx, strings.NewReader("\x03"), io.Discard, io.Discard); err != nil {
		t.Error(err)
	}
	select {
	case code := <-ended:
		if code != 130 {
			t.Errorf("exit code %d", code)
		}
	case <-time.After(time.Minute):
		t.Error("it goes on")
	}
}

// What somebody types who knows other shells.
func TestShellEditsLines(t *testing.T) {
	shell := at(t, run(t, "busybox", "sleep", "1000"), "sh")
	shell.sees("/ # ")
	for _, step := range []struct{ keys, shows string }{
		{"echo one\r", "\none\n/ #"},
		{"\x1b[A\r", "echo one\none\n/ #"},                     // up
		{"echo one\x1b[D\x1b[D\x1b[D\x1b[3~t\r", "\ntne\n/ #"}, // left, delete
		{"\x12o on\r", "/ # echo one\none\n/ #"},               // ^R
		{"wc -l /etc/os-rel\t\r", "wc -l /etc/os-release\n4 /etc/os-release\n/ #"},
		{"mkf\t\x15hostn\t\r", "hostname\nbox\n/ #"},
		{"printf 'a\\tb\\n' | cat >f; grep -c 'a\x16\tb' f\r", "\n1\n/ #"},
		{"cat >f\ra\x16\tb\r\x04", "b\n/ #"},
		{"grep -c 'a\x16\tb' f\r", "\n1\n/ #"},
		{"cat <<'EOF'\r", "\n>"},
		{"$x\rEOF\r", "\n$x\n/ #"},
		{"for i in 1 2\rdo echo $i\rdone\r", "done\n1\n2\n/ #"},
		{"echo (\r", "/ #"},
		{"echo $?\r", "\n2\n/ #"},
		{"x=1; sh\r", "/ #"}, // in the same terminal
		{"echo ${x-none}\r", "\nnone\n/ #"},
		{"\x1b[A\x1b[A\x1b[A\r", "\nnone\n/ #"}, // with a history of its own
		{"sleep 1000\r", "sleep 1000\n"},
		{"\x03", "^C\n/ #"},
		{"exit\r", "exit\n/ #"},
		{"echo $x\r", "\n1\n/ #"},
		{"sh; echo begun; sleep 1000\r", "/ #"},
		{"true\r", "/ #"},
		{"exit\r", "exit\nbegun\n"},
		{"\x03", "^C\n/ #"}, // for what runs after the shell within
		{"tty; tty </dev/null\r", "/dev/pts/0\nnot a tty\n/ #"},
	} {
		shell.types(step.keys)
		shell.shows(step.shows)
	}
	shell.types("\x04")
	shell.ends(1)
}

// Where a row ends is the client's to say.
func TestShellKnowsTheWidth(t *testing.T) {
	tty := NewTerminal()
	tty.Resize(10, 5)
	shell := atTerminal(t, run(t, "busybox", "sleep", "1000"), tty, "sh")
	shell.sees("/ # ")
	shell.types("echo 12")
	shell.sees("2\r\x1b[1C")
	shell.types("\x01") // the beginning of the line is in the row before
	shell.sees("\x1b[1A\r\x1b[4C")
}
