package coreutils

import (
	"context"
	"runtime"
	"testing"
	"testing/synctest"
)

// claiming returns an account whose large objects are claimed, and where the limit is that it sets.
func claiming(growth uint64) (*account, *uint64) {
	limit := new(uint64)
	return &account{growth: growth, limit: func(most uint64) { *limit = most }}, limit
}

// TestClaims has a program claim what it may have, and what it may not: it ends before it has that.
func TestClaims(t *testing.T) {
	runtime.GC()
	a, limit := claiming(32 << 20)
	isOver := false
	_, m := a.with(t.Context(), func() { isOver = true })
	if *limit != 0 {
		t.Errorf("up to %d bytes need no claim, before anybody has looked", *limit)
	}
	if may, again := a.claim(m, 1<<20); !may || !again {
		t.Errorf("the first claim of 1 MiB: %v, again %v", may, again)
	}
	if *limit != a.most+8<<20 {
		t.Errorf("up to %d bytes need no claim, where %d may be alive", *limit, a.most)
	}
	held := make([]byte, 16<<20)
	if may, again := a.claim(m, 8<<20); !may || !again {
		t.Errorf("a claim of 8 MiB more: %v, again %v", may, again)
	}
	if may, _ := a.claim(m, 20<<20); may {
		t.Errorf("a program with %d bytes may have 20 MiB more", len(held))
	}
	if *limit != 0 {
		t.Errorf("up to %d bytes need no claim, while a program is to end", *limit)
	}
	if may, _ := a.claim(m, 1<<20); may {
		t.Error("a program that is to end may have 1 MiB")
	}
	runtime.KeepAlive(held)
	held = nil
	if isOver {
		t.Error("claim has told the program, which ask does")
	}
	m.End()
	if *limit != a.most+8<<20 {
		t.Errorf("up to %d bytes need no claim, after the program has ended", *limit)
	}
}

// TestClaimOfOneThatHasEnded: nobody waits for a step that was left behind.
func TestClaimOfOneThatHasEnded(t *testing.T) {
	a, _ := claiming(1 << 40)
	ctx, cancel := context.WithCancel(t.Context())
	_, m := a.with(ctx, func() {})
	m.Look()
	if may, _ := a.claim(m, 1<<20); !may {
		t.Fatal("a program that has taken nothing may not have 1 MiB")
	}
	m.End()
	if may, _ := a.claim(m, 1<<20); !may {
		t.Error("what a line has left in the background may not have 1 MiB")
	}
	cancel()
	if may, _ := a.claim(m, 1<<20); may {
		t.Error("a step whose line was interrupted may have 1 MiB more")
	}
}

// TestClaimsWaitForWhoeverEnds: what it holds is about to be free.
func TestClaimsWaitForWhoeverEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, _ := claiming(1 << 40)
		_, greedy := a.with(t.Context(), func() {})
		_, other := a.with(t.Context(), func() {})
		greedy.Look()
		a.tookTooMuch(greedy)
		claimed := make(chan bool)
		go func() {
			may, _ := a.claim(other, 1<<20)
			claimed <- may
		}()
		synctest.Wait()
		select {
		case <-claimed:
			t.Fatal("a claim was looked at while another program ends")
		default:
		}
		greedy.End()
		if !<-claimed {
			t.Error("the other program may not have 1 MiB")
		}
	})
}

// TestContain has the goroutine of a program end in the middle.
func TestContain(t *testing.T) {
	a, _ := claiming(1 << 40)
	_, m := a.with(t.Context(), func() {})
	defer m.End()
	if m.Contain(func() { runtime.Goexit() }) {
		t.Error("a function has returned that was ended")
	}
	if !m.Contain(func() {}) {
		t.Error("a function has not returned that nobody has ended")
	}
}
