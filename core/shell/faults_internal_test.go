package shell

import (
	"context"
	"errors"
	"testing"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// faulty is a program that panics: what programs do wrong is mended where it is found.
func faulty(_ *session, c *coreutils.Call) int { panic("out of order") }

// AddFaulty is for tests: shells have the program faulty until the test ends.
func AddFaulty(t *testing.T) {
	programs["faulty"] = faulty
	t.Cleanup(func() { delete(programs, "faulty") })
}

func TestAttendSurvivesWhatPanics(t *testing.T) {
	var fault *coreutils.Fault
	if _, err := attend(t.Context(), linePatience, func() int { panic("out of order") }); !errors.As(err, &fault) {
		t.Errorf("what has panicked: %v", err)
	}
	if n, err := attend(t.Context(), linePatience, func() int { return 7 }); n != 7 || err != nil {
		t.Errorf("what has not: %d, %v", n, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	never := make(chan struct{})
	defer close(never)
	if _, err := attend(ctx, 0, func() int { <-never; return 0 }); !errors.Is(err, errLeft) {
		t.Errorf("what goes on without end: %v", err)
	}
}
