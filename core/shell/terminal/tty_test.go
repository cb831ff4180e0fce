package terminal

import (
	"bytes"
	"errors"
	"fmt"
	"testing"
)

// What one reader has taken another one reads, too: the first may be a page that was closed before it showed it.
func TestOutputIsReadAgain(t *testing.T) {
	tty := New(80, 24)
	var all []byte
	print := func(text string) {
		t.Helper()
		if _, err := tty.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	reads := func(from int64) int64 {
		t.Helper()
		start := tty.Reach(from)
		b, end, err := tty.Next(t.Context(), from)
		if err != nil || !bytes.Equal(b, all[start:end]) {
			t.Fatalf("from %d: %d bytes up to %d, %v", from, len(b), end, err)
		}
		return end
	}
	print("one\n")
	first := reads(0)
	print("two\n")
	reads(first)
	if end := reads(0); end != int64(len(all)) {
		t.Errorf("all of it ends at %d", end)
	}
	// What is too long ago is left out, whatever the sizes in which it was taken.
	for i := range 40 {
		print(fmt.Sprintf("%0*d\n", 1+i*i*10, i))
		reads(int64(len(all) - 1))
		if kept := int64(len(all)) - tty.Reach(0); kept < min(mostSent, int64(len(all))) || kept > 2*mostSent {
			t.Fatalf("%d of %d bytes can be read again", kept, len(all))
		}
		reads(0)
	}
	// A position of another terminal.
	print("after\n")
	if end := reads(1 << 40); end != int64(len(all)) {
		t.Errorf("the position is %d", end)
	}
	tty.Close()
	if _, _, err := tty.Next(t.Context(), int64(len(all))); !errors.Is(err, ErrClosed) {
		t.Errorf("at the end: %v", err)
	}
	reads(int64(len(all)) - 3)
}
