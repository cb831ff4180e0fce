package python_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
	"github.com/kubetab/kubetab/internal/unix/python"
	"github.com/kubetab/kubetab/internal/unix/unixtest"
)

var update = flag.Bool("update", false, "write anew what python3 of this machine prints")

// What scripts print and exit with is what python3 of a machine prints and exits with.
func TestPython(t *testing.T) {
	lookup := func(name string) func(*coreutils.Call) int {
		if name != "python3" {
			return coreutils.Lookup(name)
		}
		return func(k *coreutils.Call) int {
			command, ok := python.Prepare(k.Args, k.Dir, os.ReadFile)
			if !ok {
				return k.Fail("not understood")
			}
			return command.Run(k)
		}
	}
	unixtest.Machine{T: t, Lookup: lookup}.Compare("testdata/python.txt", *update, func(t *testing.T) string { return t.TempDir() })
}

// A script that has anything in it that is not known does not run at all.
func TestWhatIsNotUnderstood(t *testing.T) {
	for _, text := range []string{
		"import flask", "import os.path", "from os import listdir", "from http.server import *", "import json\nprint(json.dumps({}))", "import os\nprint(os.listdir())",
		"import os\nprint(os)", "open('x')", "x.append(1)", "print({1: 2})", "print([x for x in y])", "lambda: 0", "class A: pass", "try:\n  pass\nexcept: pass",
		"with x: pass", "def f(a=1): pass", "def f(*a): pass", "def f():\n  def g(): pass", "global x", "return 1", "a, b = 1, 2", "x[0] = 1", "print(2 ** 3)", "print(1 << 2)", "print(b'x')",
		"print(99999999999999999999)", "print(x)", "print('a", "if True print(1)", "print(1, file=open('x'))", "print(1, other=2)", "print(f'{x!r}')", "print(f'{1:.2f}')", "print(f'{')", "f(*[1])",
		"raise Oops('x')", "raise Exception(1, 2)", "yield 1", "for a, b in []: pass", "range(3)", "x = range(3)", "sys.exit(1)", "break", "def f():\n  break\nwhile True: f()", "if 1: continue", "import len", "from os import len", "import sys\nsys.exit(1, 2)", "'a'.upper()", "print('a'[1:])",
		"print(" + strings.Repeat("(", 2000) + "1" + strings.Repeat(")", 2000) + ")", "x = 1" + strings.Repeat(" + 1", 5000), strings.Repeat("if 1:\n", 1) + strings.Repeat(" ", 70_000) + "pass",
		"print([" + strings.Repeat("1, ", 1000) + "])",
	} {
		if _, err := python.Parse("<string>", text); err == nil {
			t.Errorf("%.60q is understood", text)
		}
	}
	for _, args := range [][]string{nil, {"-"}, {"-m", "http.server"}, {"--version"}, {"-c"}} {
		if _, ok := python.Prepare(args, "/", func(string) ([]byte, error) { return nil, os.ErrNotExist }); ok {
			t.Errorf("%q is understood", args)
		}
	}
}

// run runs a script that is understood, until it has ended.
func run(t *testing.T, ctx context.Context, text string, config python.Config) (string, int) {
	t.Helper()
	script, err := python.Parse("<string>", text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	var out bytes.Buffer
	config.Out, config.Err = &out, &out
	code := script.Run(ctx, config)
	return out.String(), code
}

// A script ends where it would take what there is not.
func TestScriptsHaveLimits(t *testing.T) {
	for text, want := range map[string]string{
		"x = 'a'\nwhile True: x = x + x":                         "MemoryError",
		"x = 'a' * 1000000":                                      "MemoryError",
		"x = 'a' * 60000\nprint(x + x)":                          "MemoryError",
		"x = 'a' * 60000\ny = '%s%s' % (x, x)":                   "MemoryError",
		"x = 'a' * 60000\ny = '{}{}'.format(x, x)":               "MemoryError",
		"x = 2\nwhile True: x *= x":                              "NotImplementedError: this Python is simulated: it has no integers of more than 64 bits",
		"x = 1\nwhile True: x += x":                              "NotImplementedError: this Python is simulated: it has no integers of more than 64 bits",
		"x = -9223372036854775807 - 1\nx = x - 1":                "NotImplementedError: this Python is simulated: it has no integers of more than 64 bits",
		"x = (1,)\nx = [x]":                                      "NotImplementedError: this Python is simulated: it has no lists in lists",
		"x = [1]\nx = [x, x]":                                    "NotImplementedError: this Python is simulated: it has no lists in lists",
		"print([1] + [2])":                                       "NotImplementedError: this Python is simulated: it has no operators of lists",
		"print((1,) < (2,))":                                     "NotImplementedError: this Python is simulated: it has no operators of lists",
		"print('%x' % 255)":                                      "NotImplementedError: this Python is simulated: it has no format %x",
		"print('{:>3}'.format(1))":                               "NotImplementedError: this Python is simulated: it has no field {:>3}",
		"x = -9223372036854775807 - 1\nx = x // -1":              "NotImplementedError: this Python is simulated: it has no integers of more than 64 bits",
		"def f(): return f()\nf()":                               "RecursionError: maximum recursion depth exceeded",
		"def f(n): return g(n)\ndef g(n): return f(n + 1)\nf(0)": "RecursionError: maximum recursion depth exceeded",
		"import time\ntime.sleep(-1)":                            "ValueError: sleep length must be non-negative",
		"import random\nrandom.randint(-9223372036854775807, 9223372036854775807)": "NotImplementedError: this Python is simulated: it has no integers of more than 64 bits",
	} {
		got, code := run(t, t.Context(), text, python.Config{})
		if lines := strings.Split(strings.TrimSpace(got), "\n"); code != 1 || lines[len(lines)-1] != want {
			t.Errorf("%q: %d, %.200q", text, code, got)
		}
	}
}

// countdown is a context that has ended when it has been asked so often.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// Every loop asks whether the script shall end.
func TestLoopsEnd(t *testing.T) {
	for _, text := range []string{
		"while True: pass", "while 1:\n  if 1: pass", "for i in range(1 , 9000000000000000000): pass", "while True:\n  for i in range(0): pass", "while True: continue",
		"def f():\n  while True: f2()\ndef f2(): pass\nf()", "while True:\n  while True: break", "for i in range(-9000000000000000000, 9000000000000000000, 1): i",
	} {
		if got, code := run(t, &countdown{t.Context(), 1000}, text, python.Config{}); code != 1 || got != "" {
			t.Errorf("%q: %d, %q", text, code, got)
		}
	}
}

// time.sleep waits as long as it is told, and a script that is ended then goes no further.
func TestSleep(t *testing.T) {
	var waited []time.Duration
	config := python.Config{Now: func() time.Time { return time.Unix(5, 0) }, Sleep: func(d time.Duration) error { waited = append(waited, d); return nil }}
	got, code := run(t, t.Context(), "import time\nfrom time import sleep\ntime.sleep(0.5)\nsleep(60)\nprint(time.time())", config)
	if code != 0 || got != "5.0\n" || fmt.Sprint(waited) != "[500ms 1m0s]" {
		t.Errorf("%d, %q, waited %v", code, got, waited)
	}
	config.Sleep = func(time.Duration) error { return errors.New("ended") }
	if got, code := run(t, t.Context(), "import time\nwhile True:\n  print('x')\n  time.sleep(1)", config); code != 1 || got != "x\n" {
		t.Errorf("%d, %q", code, got)
	}
}

// No text takes the process along, and what is understood ends with its context.
func FuzzPython(f *testing.F) {
	text, err := os.ReadFile("testdata/python.txt")
	if err != nil {
		f.Fatal(err)
	}
	for block := range strings.SplitSeq(string(text), "\n$ ") {
		if _, script, ok := strings.Cut(block, "-c $'"); ok {
			f.Add(strings.NewReplacer(`\n`, "\n", `\'`, "'").Replace(strings.SplitN(script, "'\n", 2)[0]))
		}
	}
	f.Fuzz(func(_ *testing.T, text string) {
		script, err := python.Parse("<string>", text)
		if err != nil {
			return
		}
		script.Run(&countdown{context.Background(), 10_000}, python.Config{Out: io.Discard, Err: io.Discard,
			Now: time.Now, Sleep: func(time.Duration) error { return nil }})
	})
}
