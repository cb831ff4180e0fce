package coreutils

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"testing/synctest"
	"time"

	"mvdan.cc/sh/v3/expand"
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
		{'\n', "tail -n 1000000000000"}, {'\n', "head -n -1000000000000"}, {'x', "head -c -1"}, {'x', "base64 -d"}, {'x', "xxd -r"}, {'x', "od -w1000000000"}, {'x', "rev"}, {'x', "uniq"}, {'x', "envsubst"},
	} {
		words := strings.Fields(test.command)
		var errs bytes.Buffer
		call := &Call{Context: context.Background(), Name: words[0], Args: words[1:], Env: expand.ListEnviron(), Stdin: endless(test.text), Stdout: io.Discard, Stderr: &errs}
		if code := Lookup(words[0])(call); code == 0 || errs.String() != words[0]+": memory exhausted\n" {
			t.Errorf("%s of endless %q: %d %q", test.command, test.text, code, errs.String())
		}
	}
}

// TestProgramsThatHoldNothingReadAnyAmount: what is more than
// memory goes through.
func TestProgramsThatHoldNothingReadAnyAmount(t *testing.T) {
	const much = 96 << 20
	for _, command := range []string{"wc -c", "base64", "sha256sum", "tail -c 5", "head -c 1G", "cat", "od", "hexdump -C", "xxd -p -c 65536"} {
		words := strings.Fields(command)
		var errs bytes.Buffer
		call := &Call{Context: context.Background(), Name: words[0], Args: words[1:], Stdin: io.LimitReader(endless('x'), much), Stdout: io.Discard, Stderr: &errs}
		if code := Lookup(words[0])(call); code != 0 || errs.Len() > 0 {
			t.Errorf("%s: %d %s", command, code, &errs)
		}
	}
}

// TestWhatASmallNumberAsksFor is not held.
func TestWhatASmallNumberAsksFor(t *testing.T) {
	const gap = 1 << 30
	for _, test := range []struct {
		command, text string
		printed       int64
		errs          string
	}{
		{"xxd -r", fmt.Sprintf("%08x: 41\n", gap), gap + 1, ""},
		{"xxd -c 4000000000", "a\n", 0, "xxd: invalid number of columns (max. 256).\n"},
	} {
		words := strings.Fields(test.command)
		var printed counter
		var errs bytes.Buffer
		call := &Call{Context: context.Background(), Name: words[0], Args: words[1:], Stdin: strings.NewReader(test.text), Stdout: &printed, Stderr: &errs}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		Lookup(words[0])(call)
		runtime.ReadMemStats(&after)
		if int64(printed) != test.printed || errs.String() != test.errs {
			t.Errorf("%s printed %d bytes, and %q", test.command, printed, &errs)
		}
		if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
			t.Errorf("%s took %d bytes", test.command, took)
		}
	}
}

// counter counts what is written to it.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
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
			a := &account{growth: 8 << 20}
			ctx, m := a.with(ctx, cancel)
			defer m.End()
			ctx = Stepwise(ctx)
			if err := step(ctx); err != nil {
				t.Fatal("a program that has taken nothing was ended")
			}
			taken := make([]byte, 2*a.most)
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
	a := &account{growth: 8 << 20}
	isOver := false
	_, m := a.with(t.Context(), func() { isOver = true })
	defer m.End()
	m.Look()
	a.since = a.since.Add(-2 * time.Minute)
	m.Look()
	if isOver {
		t.Fatal("a program that has taken nothing was ended")
	}
	if age := time.Since(a.since); age > time.Minute {
		t.Errorf("its beginning is %v ago", age)
	}
}

// TestConceded: a program goes on beyond what it may take by what was conceded to it, up to a limit.
func TestConceded(t *testing.T) {
	defer func(most uint64) { mostConceded = most }(mostConceded)
	runtime.GC()
	a := &account{growth: 8 << 20}
	isOver := false
	ctx, m := a.with(t.Context(), func() { isOver = true })
	defer m.End()
	Concede(ctx, 1<<20) // before the first look, from when on it counts
	m.Look()
	mostConceded = a.most + 48<<20
	held := [][]byte{make([]byte, 32<<20)}
	Concede(ctx, 32<<20)
	Concede(t.Context(), 1<<40) // no program's
	runtime.GC()
	if m.Look(); isOver {
		t.Fatal("a program was ended for what was conceded to it")
	}
	Concede(ctx, 1<<40)
	held = append(held, make([]byte, 64<<20))
	runtime.GC()
	if m.Look(); !isOver {
		t.Errorf("a program goes on with %d MiB more than can be conceded", (a.most-mostConceded)>>20)
	}
	runtime.KeepAlive(held)
}

// TestLittleByLittle has the process grow beyond mostLive over many minutes of a
// program: it is ended then, and the next one may take a little.
func TestLittleByLittle(t *testing.T) {
	defer func(most uint64) { mostLive = most }(mostLive)
	live, _ := inUse()
	mostLive = live + 64<<20
	a := &account{growth: 24 << 20}
	isOver := false
	_, m := a.with(t.Context(), func() { isOver = true })
	var held [][]byte
	for len(held) < 20 && !isOver {
		m.Look()
		held = append(held, make([]byte, 16<<20))
		runtime.GC()
		a.since = a.since.Add(-2 * time.Minute)
	}
	if !isOver {
		t.Errorf("a program holds %d MiB, of %d that may be alive", 16*len(held), mostLive>>20)
	}
	m.End()
	isOver = false
	_, next := a.with(t.Context(), func() { isOver = true })
	defer next.End()
	next.Look()
	if next.Look(); isOver {
		t.Error("the next program was ended, which has taken nothing")
	}
	if live, _ := inUse(); a.most > live+leastGrowth {
		t.Errorf("the next program may take %d MiB, where %d MiB more are alive than may be", (a.most-live)>>20, (live-mostLive)>>20)
	}
	runtime.KeepAlive(held)
}

// TestProgramsShareWhatTheyMayTake has programs begin one beside the other while they
// grow: they end when they have taken together what one may take alone.
func TestProgramsShareWhatTheyMayTake(t *testing.T) {
	defer func(d time.Duration) { sharedFor = d }(sharedFor)
	sharedFor = time.Minute
	runtime.GC()
	a := &account{growth: 32 << 20}
	var held [][]byte
	for len(held) < 10 {
		isOver := false
		_, m := a.with(t.Context(), func() { isOver = true })
		defer m.End()
		if m.Look(); isOver {
			break
		}
		held = append(held, make([]byte, 16<<20))
		runtime.GC()
	}
	if len(held) > 4 {
		t.Errorf("programs hold %d MiB together, of %d that they may take", 16*len(held), a.growth>>20)
	}
	runtime.KeepAlive(held)
}

// TestOnlyOneIsEnded has one of two programs take too much: the other goes on, while
// the one ends and after it, however long ago the last collection was.
func TestOnlyOneIsEnded(t *testing.T) {
	runtime.GC()
	a := &account{growth: 32 << 20}
	var greedyOver, otherOver bool
	_, greedy := a.with(t.Context(), func() { greedyOver = true })
	_, other := a.with(t.Context(), func() { otherOver = true })
	defer other.End()
	other.Look()
	held := make([]byte, 48<<20)
	runtime.GC()
	if greedy.Look(); !greedyOver {
		t.Fatalf("a program that has taken %d bytes goes on", len(held))
	}
	if other.Look(); otherOver {
		t.Error("the other program was ended while the first ends")
	}
	runtime.KeepAlive(held)
	greedy.End()
	greedy.End() // does nothing
	if other.Look(); otherOver {
		t.Error("the other program was ended for what the first had taken")
	}
	if a.running != 1 || a.ending != 0 {
		t.Errorf("%d programs run, and %d end", a.running, a.ending)
	}
}

// TestWhoBeginsWhileOthersEnd is not ended for what they hold, as long as they may take to
// end.
func TestWhoBeginsWhileOthersEnd(t *testing.T) {
	runtime.GC()
	a := &account{growth: 32 << 20}
	_, greedy := a.with(t.Context(), func() {})
	greedy.Look()
	held := make([]byte, 2*a.most)
	if !greedy.Look() {
		t.Fatalf("a program that has taken %d bytes goes on", len(held))
	}
	isOver := false
	_, next := a.with(t.Context(), func() { isOver = true })
	defer next.End()
	if next.Look(); isOver {
		t.Error("the next program was ended for what the first holds")
	}
	a.patience = time.Now().Add(-time.Second)
	if next.Look(); !isOver {
		t.Error("a program that does not end has the next one take what it likes")
	}
	runtime.KeepAlive(held)
	greedy.End()
}

// TestWhatAnotherHeld has the last collection find what a program holds that has ended
// since, by itself: the one beside it goes on.
func TestWhatAnotherHeld(t *testing.T) {
	runtime.GC()
	a := &account{growth: 32 << 20}
	isOver := false
	_, m := a.with(t.Context(), func() { isOver = true })
	defer m.End()
	m.Look()
	_, other := a.with(t.Context(), func() {})
	held := make([]byte, 48<<20)
	runtime.GC()
	if live, _ := inUse(); live <= a.most {
		t.Fatalf("%d bytes are alive, with %d that are held", live, len(held))
	}
	runtime.KeepAlive(held)
	other.End()
	if m.Look(); isOver {
		t.Error("a program was ended for what another had taken")
	}
}

// TestStepsWaitForWhoeverEnds has a program step while another ends that took too much:
// both at once may take more than there is. One that never ends is not waited for for ever.
func TestStepsWaitForWhoeverEnds(t *testing.T) {
	for _, ends := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			a := &account{growth: 1 << 40}
			_, greedy := a.with(t.Context(), func() {})
			ctx, _ := a.with(t.Context(), func() {})
			ctx = Stepwise(ctx)
			greedy.Look()
			a.most = 1 // so that it has taken too much
			if !greedy.Look() {
				t.Fatal("a program that has taken too much goes on")
			}
			a.most = 1 << 40
			var stepped atomic.Bool
			go func() {
				if err := ctx.Err(); err != nil {
					t.Errorf("the one that waited has ended: %v", err)
				}
				stepped.Store(true)
			}()
			time.Sleep(endPatience - time.Second)
			synctest.Wait()
			if stepped.Load() {
				t.Fatal("a program steps while another ends")
			}
			if ends {
				greedy.End()
			} else {
				time.Sleep(time.Second)
			}
			synctest.Wait()
			if !stepped.Load() {
				t.Errorf("a program still waits, %v after another was to end", endPatience)
			}
		})
	}
}

// TestTheBeginningIsWhatIsAlive has the last collection before a program find what
// the program before it held: that is none of what this one may take.
func TestTheBeginningIsWhatIsAlive(t *testing.T) {
	held := make([]byte, process.growth)
	runtime.GC()
	if live, _ := inUse(); live < process.growth {
		t.Fatalf("%d bytes are alive, with %d that are held", live, len(held))
	}
	runtime.KeepAlive(held)
	atRest.Store(0)
	a := &account{growth: process.growth}
	_, m := a.with(t.Context(), func() {})
	defer m.End()
	m.Look()
	if a.most >= 2*process.growth {
		t.Errorf("live objects may take %d bytes", a.most)
	}
}
