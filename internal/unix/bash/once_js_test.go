package bash_test

import (
	"slices"
	"testing"

	"github.com/kubetab/kubetab/internal/unix/bash"
)

// writes is what was written, write by write.
type writes []string

func (w *writes) Write(b []byte) (int, error) {
	*w = append(*w, string(b))
	return len(b), nil
}

// TestLinesAreWrittenOnce: what else reads a file never sees a part of a line. It holds for the interpreter as wasm/patch
// changes it.
func TestLinesAreWrittenOnce(t *testing.T) {
	var got writes
	run(t, func(c *bash.Config) { c.Stdout = &got }, `echo a b c; echo -n; echo -n d; echo -e 'e\tf'; printf '%s\n' g h`)
	if want := []string{"a b c\n", "d", "e\tf\n", "g\nh\n"}; !slices.Equal(got, want) {
		t.Errorf("written: %q, want %q", got, want)
	}
}
