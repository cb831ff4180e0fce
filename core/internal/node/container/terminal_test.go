package container

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
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
	in, keys := io.Pipe()
	c := &client{t, &screen{}, keys, make(chan int, 1)}
	c.screen.changed.L = &c.screen.mu
	go func() {
		code, err := b.Exec(context.Background(), argv, in, c.screen, c.screen, true)
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

// sees waits until what has come since the last call ends like this.
func (c *client) sees(end string) string {
	c.t.Helper()
	c.screen.mu.Lock()
	defer c.screen.mu.Unlock()
	for !bytes.HasSuffix(c.screen.text, []byte(end)) {
		if c.screen.ended {
			c.t.Fatalf("it has ended with %q, and not %q", c.screen.text, end)
		}
		c.screen.changed.Wait()
	}
	text := string(c.screen.text)
	c.screen.text = nil
	return text
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
		"cat",
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
	shell.types("half a line\x03")
	shell.sees("half a line^C\r\n/ # ")
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
	shell.types(strings.Repeat("echo pasted\r", 20_000))
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
