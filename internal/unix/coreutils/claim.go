package coreutils

import "github.com/kubetab/kubetab/internal/absent"

// Claims bound what programs take in a tab, whatever a step of theirs does. A look comes after a step, and only asks the
// program to end with the next one. Steps have no bound: in y=$x$x$x... the interpreter's one step takes as many times
// the text as the line is long, in ${x//x/$x} the square of it. Steps of several lines add up, and one that was told to
// end may still be at its step when its line is over, because a line does not wait for it (linePatience of core/shell).
// Measured without claims, as the peak of the process, which has 4096 MB for the module and some 250 MB beside: three lines
// that double at once 1.6 GB; y=$x$x$x... with 20 MB a hundred times, and ${x//x/$x} with 200 kB, all, which ended
// the engine. With claims none of them takes more than 1.1 GB.
//
// With claims the goroutine of a program that allocates 1 MB or more (kubetabClaimed of the runtime) is asked before,
// where all objects, garbage included, would take more than the account's most and a quarter of its growth:
//
//   - Garbage is collected. If what is alive and the object take more than most, the program is ended: the
//     goroutine with it, in the middle of its step, before the object is there.
//   - A program that was told to end, or whose context has ended, ends in the same way at the next large object.
//
// Goroutines of a tab share one thread, and none runs between the claim and the allocation, so that claims of several lines
// add up. An API server of 150 MB with lines beside it then has at most 150 + 256 + 64 MB of objects, one of 2 GB, which
// is mostLive, 2048 + 16 + 64 MB, and what comes in small objects between two looks. Go takes 1.5 times what is alive
// before it collects (the GC percentage of a tab is 50), and what it cannot use again because the gaps between objects are
// too short; of the 4 GB of memory, 2.5 times the usual 470 MB are 1.2 GB.
//
// An allocation that needs no asking costs a comparison of two numbers, for a large object only.

// An account's growth divided by garbageOf is what garbage may take beside what is alive.
const garbageOf = 4

// setLimit has the runtime ask where a claim has to be looked at: always, while there is no limit yet or a program is
// to end. a.mu must be held.
func (a *account) setLimit() {
	switch {
	case a.limit == nil:
	case a.most == 0 || a.ending > 0:
		a.limit(0)
	default:
		a.limit(a.most + a.growth/garbageOf)
	}
}

// Own makes the calling goroutine, and those that it starts, work for m's program: a large object that there is no memory
// for ends the goroutine, after over has been called, as runtime.Goexit does. fail and release are those of absent.Own.
func (m *Memory) Own(fail func(error)) (release func()) { return absent.OwnFor(fail, m) }

// Contain runs f, and reports whether it has returned: otherwise its goroutine was ended because there is no memory.
func (m *Memory) Contain(f func()) (returned bool) {
	if m.account.limit == nil {
		f()
		return true
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer m.Own(func(error) {})() // what is not here it waits for
		f()
		returned = true
	}()
	<-done
	return returned
}

// claim reports whether m's program may allocate size bytes, and whether that is so only as long as others take
// nothing. It may collect garbage, and waits for programs that end because they took too much.
func (a *account) claim(m *Memory, size uint64) (may, again bool) {
	a.wait(m.ctx, m)
	a.judging.Lock()
	defer a.judging.Unlock()
	a.mu.Lock()
	most, mustEnd := a.most, m.tooMuch || m.ctx.Err() != nil
	a.mu.Unlock()
	if mustEnd {
		return false, false
	}
	if most == 0 {
		a.over() // the first look, which determines it
		return true, true
	}
	live, all := a.collect()
	a.collected = all
	if live+size > most {
		a.tookTooMuch(m)
		return false, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return true, a.ending == 0
}
