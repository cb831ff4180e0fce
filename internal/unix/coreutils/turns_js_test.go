package coreutils

import (
	"context"
	"io"
	"math"
	"regexp"
	"runtime"
	"strings"
	"syscall/js"
	"testing"
	"time"

	"github.com/kubetab/kubetab/internal/absent"
)

// TestStepsThatAllocateNothingGiveWay has an interpreter step for ever beside a timer:
// nobody takes the thread away from it. The timer rings at one of the first looks at
// which it can.
func TestStepsThatAllocateNothingGiveWay(t *testing.T) {
	for name, step := range map[string]func(context.Context){
		"statements of the shell": func(ctx context.Context) { _ = ctx.Err() },
		"instructions of jq":      func(ctx context.Context) { ctx.Done() },
	} {
		ctx, m := (&account{growth: 1 << 40}).with(t.Context(), func() {})
		m.Look() // the first one collects garbage, which gives way
		rang := false
		due := time.Now().Add(2 * lookAtSteps).UnixMilli()
		time.AfterFunc(2*lookAtSteps, func() { rang = true }) // on this thread
		looks, last := 0, int64(0)
		for ctx := Stepwise(ctx); !rang && looks < 100; step(ctx) {
			if looked := m.looked.Load(); looked > due && looked != last {
				looks, last = looks+1, looked
			}
		}
		if looks > 5 {
			t.Errorf("%s: the timer rang after %d looks", name, looks)
		}
		m.End()
	}
}

// TestLongCallsGiveWay has what calls few functions, each for long, calculate. The thread is JavaScript's again after some 10 ms.
func TestLongCallsGiveWay(t *testing.T) {
	const most = 50 // ms; 12 on a quiet machine, and 70 to 300 without the changes to Go
	text := strings.Repeat("a", 20_000_000)
	for name, f := range map[string]func(){
		"a pattern with two thousand groups": func() {
			regexp.MustCompile("(?:" + strings.Repeat("(x)?", 2000) + "a)*c").FindStringSubmatch(text[:60])
		},
		"sort of long lines": func() {
			lines := strings.NewReader(strings.Repeat(text[:1_000_000]+"\n", 50))
			Lookup("sort")(&Call{Context: t.Context(), Name: "sort", Stdin: lines, Stdout: io.Discard, Stderr: io.Discard})
		},
		"a text as runes": func() { runes, back = []rune(text), string(runes) },
	} {
		f() // V8 compiles
		if held, all := longestHeld(f); held > most {
			t.Errorf("%s: the thread was held for %.0f of %.0f ms", name, held, all)
		} else if all < 2*most {
			t.Errorf("%s: took %.0f ms, too little to hold the thread", name, all)
		}
	}
}

// Both are kept, or the compiler leaves the work out.
var (
	runes []rune
	back  string
)

// longestHeld returns for how long f holds the thread at once, and in all: in ms that the thread has run, which hardly depends
// on what else the machine does. Linux tells it.
func longestHeld(f func()) (longest, all float64) {
	called := make(chan struct{}) // before its first call from JavaScript, Go cannot return to it
	call := js.FuncOf(func(js.Value, []js.Value) any { close(called); return nil })
	defer call.Release()
	js.Global().Call("setTimeout", call)
	<-called
	held := js.Global().Call("eval", `(() => {
		const { readFileSync } = require('fs');
		const ran = () => Number(readFileSync('/proc/self/task/' + process.pid + '/schedstat', 'latin1').split(' ')[0]) / 1e6;
		let last = ran(), longest = 0, all = 0, isOver = false;
		const look = () => {
			const now = ran();
			longest = Math.max(longest, now - last);
			all += now - last;
			last = now;
			if (!isOver) setTimeout(look); // beside Go's own, which Node may prefer to what is immediate
		};
		look();
		return () => {
			isOver = true;
			look();
			return { longest, all };
		};
	})()`)
	f()
	result := held.Invoke()
	return result.Get("longest").Float(), result.Get("all").Float()
}

// TestManyAreCountedQuickly counts the goroutines of a fork bomb, which nothing else runs beside, in a part of the time that
// their stacks take.
func TestManyAreCountedQuickly(t *testing.T) {
	end := make(chan struct{})
	defer close(end)
	var deep func(n int) bool
	deep = func(n int) bool {
		if n == 0 {
			<-end
			return true
		}
		return !deep(n - 1)
	}
	for range mostProcesses {
		go deep(20)
	}
	runtime.Gosched()
	records := make([]runtime.StackRecord, mostProcesses+100)
	var p processes
	// The shortest of some, in turns: other processes take the processor, too.
	stacks, took := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for range 10 {
		began := time.Now()
		runtime.GoroutineProfile(records)
		stacks = min(stacks, time.Since(began))
		began = time.Now()
		p.count()
		took = min(took, time.Since(began))
	}
	if took > stacks/4 {
		t.Errorf("%d goroutines were counted in %v, and their stacks recorded in %v", mostProcesses, took, stacks)
	}
}

// TestCommandsOfALineAreCounted has a line hurry that may run two commands: it runs beside who gives way a hundred times, and
// behind when it has run a third.
func TestCommandsOfALineAreCounted(t *testing.T) {
	for commands, isBehind := range map[int]bool{2: false, 3: true} {
		var ran, over = 0, false // on this thread
		begun := make(chan struct{})
		go func() {
			defer absent.OwnFor(func(error) {}, nil)()
			absent.Hurry(time.Now().Add(time.Hour), 2)
			for range commands {
				if err := Admit("true"); err != nil {
					t.Error(err)
				}
			}
			for close(begun); !over; ran++ {
				runtime.Gosched()
			}
		}()
		<-begun
		before, began := ran, time.Now()
		for range 100 {
			runtime.Gosched()
		}
		turns := int(time.Since(began)/(24*time.Millisecond)) + 1 // that those behind have at most: kubetabBehindNS
		if beside := ran - before; isBehind != (beside <= turns) {
			t.Errorf("%d commands: it ran %d times of a hundred, and one behind %d times at most", commands, beside, turns)
		}
		over = true
	}
}
