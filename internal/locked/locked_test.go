package locked

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// pieces takes a Write byte by byte, and is not safe for several goroutines.
type pieces struct{ text []byte }

func (p *pieces) Write(b []byte) (int, error) {
	for i := range b {
		p.text = append(p.text, b[i:i+1]...)
	}
	return len(b), nil
}

// Writes of many goroutines come whole; the race detector sees that they come one at a time.
func TestWritesComeWhole(t *testing.T) {
	var behind pieces
	var buffer Buffer
	w := NewWriter(&behind)
	var writers sync.WaitGroup
	var want []string
	for i := range 8 {
		line := fmt.Sprintf("%d %s\n", i, strings.Repeat("x", 100))
		for range 100 {
			want = append(want, line)
		}
		writers.Go(func() {
			for range 100 {
				if n, err := fmt.Fprint(w, line); n != len(line) || err != nil {
					t.Error(n, err)
				}
				fmt.Fprint(&buffer, line)
			}
		})
	}
	writers.Wait()
	for name, text := range map[string]string{"Writer": string(behind.text), "Buffer": buffer.String()} {
		if got := slices.Sorted(strings.Lines(text)); !slices.Equal(got, want) {
			t.Errorf("%s: %d lines, want %d, or not those that were written", name, len(got), len(want))
		}
	}
}

func TestRedirect(t *testing.T) {
	var first, second Buffer
	var w Writer
	fmt.Fprint(&w, "lost")
	w.Redirect(&first)
	fmt.Fprint(&w, "one")
	w.Redirect(&second)
	fmt.Fprint(&w, "two")
	w.Redirect(nil)
	if n, err := fmt.Fprint(&w, "lost"); n != 4 || err != nil {
		t.Error(n, err)
	}
	if first.String() != "one" || second.String() != "two" {
		t.Errorf("%q, %q", first.String(), second.String())
	}
}

func TestBuffer(t *testing.T) {
	b := Buffer{Most: 5}
	for _, text := range []string{"abc", "def", "ghi"} {
		if n, err := fmt.Fprint(&b, text); n != 3 || err != nil {
			t.Error(n, err)
		}
	}
	if got := b.String(); got != "abcde" {
		t.Errorf("kept %q", got)
	}
	if got := b.Take(); got != "abcde" || b.String() != "" {
		t.Errorf("took %q and left %q", got, b.String())
	}
	fmt.Fprint(&b, "jkl")
	if got := b.Take(); got != "jkl" {
		t.Errorf("took %q after it was empty", got)
	}
}
