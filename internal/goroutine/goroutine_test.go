package goroutine

import "testing"

func TestNumbers(t *testing.T) {
	own := Number()
	if own == 0 || Number() != own {
		t.Fatalf("the goroutine is %d, and then %d", own, Number())
	}
	type numbers struct{ own, parent uint64 }
	got := make(chan numbers)
	for range 2 {
		go func() { got <- numbers{Number(), Parent()} }()
	}
	one, other := <-got, <-got
	if one.parent != own || other.parent != own {
		t.Errorf("started by %d and %d, not %d", one.parent, other.parent, own)
	}
	if one.own == own || one.own == other.own {
		t.Errorf("%d has started %d and %d", own, one.own, other.own)
	}
}
