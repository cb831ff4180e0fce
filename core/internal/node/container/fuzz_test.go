package container

import (
	"bytes"
	"context"
	_ "embed"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/kubetab/kubetab/core/clock"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// odd has a script in each line: what people do not type often, and what has ended the process once.
//
//go:embed testdata/odd.txt
var odd string

func oddLines() []string { return strings.Split(strings.TrimSpace(odd), "\n") }

// briefly runs a script for at most a few seconds, and fails the test when a program, or the shell, has panicked. A panic in
// a goroutine of the interpreter's ends the test's process.
func briefly(t *testing.T, script string) {
	t.Helper()
	image, err := Resolve("bash")
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	var running sync.WaitGroup
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer running.Wait()
	defer cancel()
	time := clock.New(nil)
	disk := NewDisk(time, 1<<20)
	c, err := Start(ctx, Config{
		Clock: time, Image: image, Argv: []string{"bash", "-c", script}, Network: alone{},
		Files: func() *Tree { return image.Tree(disk) }, Go: running.Go, OnExit: func(int) { close(ended) },
	})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-ctx.Done():
	}
	var out bytes.Buffer
	_ = c.Log.Read(context.Background(), &out, ReadOptions{Tail: -1})
	if at := bytes.Index(out.Bytes(), []byte("internal error: ")); at >= 0 {
		text := out.Bytes()[at:]
		t.Errorf("%s\n%.500s", script, text)
	}
}

// FuzzScript runs scripts as a Pod does: nothing in them may panic.
func FuzzScript(f *testing.F) {
	for _, line := range oddLines() {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, script string) {
		if strings.ContainsRune(script, 0) {
			t.Skip("no argument of a command has a zero byte")
		}
		briefly(t, script)
	})
}

// FuzzSplices runs scripts made of pieces of the others, and of programs with odd arguments: a byte that changes seldom
// leaves a script that can be parsed.
func FuzzSplices(f *testing.F) {
	var pieces []string
	for _, line := range oddLines() {
		pieces = append(pieces, strings.Fields(line)...)
		pieces = append(pieces, strings.Split(line, ";")...)
	}
	names := slices.Sorted(coreutils.Names())
	for seed := range uint64(20) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		random := rand.New(rand.NewPCG(seed, 0))
		pick := func(from []string) string { return from[random.IntN(len(from))] }
		var script strings.Builder
		for range 1 + random.IntN(4) {
			if random.IntN(3) == 0 {
				script.WriteString(pick(names))
				for range random.IntN(4) {
					script.WriteString(" " + pick(arguments))
				}
			} else {
				for range 1 + random.IntN(5) {
					script.WriteString(pick(pieces) + pick([]string{" ", "", "; ", " | ", " & ", " && "}))
				}
			}
			script.WriteString(pick([]string{"\n", " | ", "; ", " < /etc/passwd\n", " > /tmp/f; ", " & wait\n"}))
		}
		briefly(t, script.String())
	})
}

// arguments are those of programs.
var arguments = []string{
	"''", "-", "--", "-1", "0", "1", "+1", "-n", "-c", "-k", "-d", "-f", "-t", "-s", "-w", "-e", "-o", "-r", "-x", "-A", "-C", "-E", "-i",
	"99999999999999999999", "-99999999999", "9223372036854775807", "1e309", "nan", "0x", "1.5", "1,", ",1", "3-1", "1-", "-5-",
	"/", ".", "..", "/etc/passwd", "/none", "/dev/null", "/tmp/f", "'a b'", "'%s'", "'%'", "'%5$*d'", "'['", "'[a'", `'\'`, `'\('`, "'*'",
	"'a*b'", "'{'", "'}'", "'s/a/b/'", "'s/./&&/g'", "'{p'", "'$!N'", "'1,3d'", "é", "$'\\xff'", "$'\\n'", "'\"'", "a=b", "=", "X=", "!", "'('",
	"')'", "-type", "-name", "-exec", "';'", "{}", "+%s", "+%", "@0", "xargs", "true", "-maxdepth", "--help", "--x=y", "-0", "-I", "-L",
}
