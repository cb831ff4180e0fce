package coreutils

import (
	"errors"
	"strings"
	"testing"
)

// TestSpaceOfSed: lines are added without a copy of what is there for each, up to what a program may hold.
func TestSpaceOfSed(t *testing.T) {
	var s sedSpace
	s.set("a")
	for _, line := range []string{"b", "", "c"} {
		if err := s.add(line); err != nil {
			t.Fatal(err)
		}
	}
	if s.String() != "a\nb\n\nc" {
		t.Errorf("%q", s.String())
	}
	line := strings.Repeat("x", 999)
	if n := testing.AllocsPerRun(1, func() {
		s.set("")
		for range 50_000 {
			if err := s.add(line); err != nil {
				t.Fatal(err)
			}
		}
	}); n > 100 {
		t.Errorf("50,000 lines take %.0f allocations", n)
	}
	for range 20_000 {
		if err := s.add(line); errors.Is(err, ErrMemory) {
			return
		}
	}
	t.Error("there is no end")
}
