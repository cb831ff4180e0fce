package coreutils

import (
	"context"
	"testing"
	"time"
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
