package coreutils

import (
	"context"
	"io"
	"strings"
	"testing"
)

// TestSortEndsWithItsContext has what sort reads end the command: it only compares from then on, and compares long.
func TestSortEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	text := strings.Repeat("b\na\n", 10*comparisonsPerLook)
	var out, errs strings.Builder
	k := &Call{
		Context: ctx, Name: "sort", Stdin: io.MultiReader(strings.NewReader(text), atEnd(cancel)),
		Stdout: &out, Stderr: &errs,
	}
	if code := sortCommand(k); code != 2 || out.Len() > 0 {
		t.Errorf("sort has returned %d, written %d bytes, and said %q", code, out.Len(), errs.String())
	}
}

// atEnd is a reader that is at its end, and calls itself then.
type atEnd func()

func (end atEnd) Read([]byte) (int, error) {
	end()
	return 0, io.EOF
}
