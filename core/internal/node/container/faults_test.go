package container

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/kubetab/kubetab/core/clock"
)

// The program that panics is there before the first test: containers of another test, which reads what programs there are,
// may not have ended when this one begins.
func init() {
	commands["faulty"] = func(*call) int { panic("out of order") }
}

// TestFaults: a program that panics, and an interpreter that does, end their container as one that has aborted, and not
// the process, in which the API server runs as well.
func TestFaults(t *testing.T) {
	for script, want := range map[string]string{
		"faulty; echo $?":                       "134\n",
		"echo a | faulty; echo $?":              "134\n",
		"faulty | cat; echo $?":                 "0\n",
		"x=$(faulty); echo $?":                  "134\n",
		"sh -c 'faulty; echo $?'":               "134\n",
		"timeout 60 faulty; echo $?":            "134\n",
		"faulty & wait; echo a":                 "a\n",
		"trap faulty EXIT; echo a":              "a\n",
		"echo faulty > f; sh f; echo $?":        "134\n",
		"echo 'faulty; echo $?' | sh":           "134\n",
		"env A=b faulty; echo $?":               "134\n",
		"eval faulty; echo $?":                  "134\n",
		"f() { faulty; return 5; }; f; echo $?": "5\n",
	} {
		out := run(t, "busybox", "sh", "-c", script).output()
		said, printed := "", ""
		for line := range strings.Lines(out) {
			if strings.Contains(line, "internal error: out of order (container.init") {
				said += line
			} else {
				printed += line
			}
		}
		if printed != want || said == "" {
			t.Errorf("%s: %q", script, out)
		}
	}
	b := run(t, "busybox", "faulty")
	if code := <-b.ended; code != 134 {
		t.Errorf("a container of nothing else ended with %d", code)
	}
}

// TestInterpreterFaults: files are what the interpreter itself opens.
func TestInterpreterFaults(t *testing.T) {
	image, err := Resolve("busybox")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan int, 1)
	c, err := Start(t.Context(), Config{
		Clock: clock.New(nil), Image: image, Argv: []string{"sh", "-c", "echo a; echo b > /f; echo c"}, Network: alone{},
		Files: func() *Tree { panic("out of order") }, Go: func(f func()) { go f() }, OnExit: func(code int) { ended <- code },
	})
	if err != nil {
		t.Fatal(err)
	}
	if code := <-ended; code != 134 {
		t.Errorf("ended with %d", code)
	}
	var out bytes.Buffer
	_ = c.Log.Read(context.Background(), &out, ReadOptions{Tail: -1})
	if text := out.String(); !strings.HasPrefix(text, "a\nsh: internal error: out of order (") || strings.Contains(text, "\nc\n") {
		t.Errorf("printed %q", text)
	}
}

// TestPartsFault: where the interpreter panics on a goroutine of its own, the script goes on, and so does the process.
func TestPartsFault(t *testing.T) {
	const panics = "{ set -- -ab; getopts ab o; set -- -a; getopts ab o; }" // the word that it looks for options in is shorter
	out := run(t, "busybox", "sh", "-c", panics+" | cat; echo a; "+panics+" & wait $!; echo $?").output()
	if lines := strings.Split(out, "\n"); len(lines) != 5 || !strings.Contains(lines[0], "internal error") || lines[1] != "a" || lines[3] != "134" {
		t.Errorf("printed %q", out)
	}
}
