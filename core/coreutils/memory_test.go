package coreutils

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
)

// endless is text without an end.
type endless byte

func (e endless) Read(b []byte) (int, error) {
	copy(b, bytes.Repeat([]byte{byte(e)}, len(b)))
	return len(b), nil
}

// TestProgramsThatHoldWhatTheyReadSayThatItIsTooMuch: the memory is the API
// server's as well.
func TestProgramsThatHoldWhatTheyReadSayThatItIsTooMuch(t *testing.T) {
	for _, test := range []struct {
		text    byte
		command string
	}{
		{'\n', "sort"}, {'x', "sort"}, {'\n', "tac"}, {'x', "grep y"}, {'x', "sed s/x/y/"}, {'\n', "column"}, {'x', "xargs"}, {'x', "tail -c 1T"},
		{'\n', "tail -n 1000000000000"}, {'\n', "head -n -1000000000000"}, {'x', "head -c -1"}, {'x', "base64 -d"}, {'x', "od"}, {'x', "rev"}, {'x', "uniq"},
	} {
		words := strings.Fields(test.command)
		var errs bytes.Buffer
		call := &Call{Context: context.Background(), Name: words[0], Args: words[1:], Stdin: endless(test.text), Stdout: io.Discard, Stderr: &errs}
		if code := Lookup(words[0])(call); code == 0 || errs.String() != words[0]+": memory exhausted\n" {
			t.Errorf("%s of endless %q: %d %q", test.command, test.text, code, errs.String())
		}
	}
}

// TestProgramsThatHoldNothingReadAnyAmount: what is more than
// memory goes through.
func TestProgramsThatHoldNothingReadAnyAmount(t *testing.T) {
	const much = 96 << 20
	for _, command := range []string{"wc -c", "base64", "sha256sum", "tail -c 5", "head -c 1G", "cat"} {
		words := strings.Fields(command)
		var errs bytes.Buffer
		call := &Call{Context: context.Background(), Name: words[0], Args: words[1:], Stdin: io.LimitReader(endless('x'), much), Stdout: io.Discard, Stderr: &errs}
		if code := Lookup(words[0])(call); code != 0 || errs.Len() > 0 {
			t.Errorf("%s: %d %s", command, code, &errs)
		}
	}
}

func TestReadLineIsThatOfBufio(t *testing.T) {
	for _, text := range []string{"", "\n", "a\nb", "long " + strings.Repeat("x", 100) + "\nend\n"} {
		mine, theirs := bufio.NewReaderSize(strings.NewReader(text), 16), bufio.NewReaderSize(strings.NewReader(text), 16)
		for {
			line, err := ReadLine(mine, '\n')
			want, wantErr := theirs.ReadString('\n')
			if line != want || !errors.Is(err, wantErr) {
				t.Fatalf("%q: %q %v, want %q %v", text, line, err, want, wantErr)
			}
			if err != nil {
				break
			}
		}
	}
}

// TestEachStepIsLookedAt takes more than a program may, and has the next step of an
// interpreter end it. A tab has no room for what another step would double.
func TestEachStepIsLookedAt(t *testing.T) {
	for name, step := range map[string]func(context.Context) error{
		"statements of the shell": func(ctx context.Context) error { return ctx.Err() },
		"instructions of jq": func(ctx context.Context) error {
			for range someSteps - 1 {
				ctx.Done()
			}
			select {
			case <-ctx.Done():
				return ctx.Err()
			default:
				return nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ctx, m := WithMemory(ctx, 0, cancel)
			m.growth = 8 << 20
			ctx = Stepwise(ctx)
			if err := step(ctx); err != nil {
				t.Fatal("a program that has taken nothing was ended")
			}
			taken := make([]byte, 2*m.most)
			m.looked.Store(0) // not just now
			if err := step(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("a program that has taken %d bytes goes on: %v", len(taken), err)
			}
			runtime.KeepAlive(taken)
		})
		runtime.GC()
	}
}

// TestWhatWasThereLongAgo has the process grow between two minutes of a program, for
// which a program that lives for long is not ended.
func TestWhatWasThereLongAgo(t *testing.T) {
	isOver := false
	_, m := WithMemory(t.Context(), time.Minute, func() { isOver = true })
	m.Look()
	m.since = m.since.Add(-2 * time.Minute)
	m.Look()
	if isOver {
		t.Fatal("a program that has taken nothing was ended")
	}
	if age := time.Since(m.since); age > time.Minute {
		t.Errorf("its beginning is %v ago", age)
	}
}

// TestTheBeginningIsWhatIsAlive has the last collection before a program find what
// the program before it held: that is none of what this one may take.
func TestTheBeginningIsWhatIsAlive(t *testing.T) {
	held := make([]byte, mostGrowth)
	runtime.GC()
	if live, _ := inUse(); live < mostGrowth {
		t.Fatalf("%d bytes are alive, with %d that are held", live, len(held))
	}
	runtime.KeepAlive(held)
	atRest.Store(0)
	_, m := WithMemory(t.Context(), 0, func() {})
	m.Look()
	if m.most >= 2*mostGrowth {
		t.Errorf("live objects may take %d bytes", m.most)
	}
}
