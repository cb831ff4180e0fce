package terminal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
)

const smallRoom = 2 * longestLine

// small is a terminal in which little may wait.
func small() *TTY {
	tty := New(80, 24)
	tty.room = smallRoom
	return tty
}

// pasting types so much that some of it has to wait for who reads.
func pasting(t *testing.T, tty *TTY, text []byte) (done <-chan error) {
	t.Helper()
	end := make(chan error, 1)
	go func() { end <- tty.Type(t.Context(), text) }()
	synctest.Wait()
	select {
	case err := <-end:
		t.Fatalf("%d bytes are taken at once: %v", len(text), err)
	default:
	}
	return end
}

func TestPasteWaitsForReader(t *testing.T) {
	for _, raw := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			tty := small()
			tty.Raw(raw)
			text := bytes.Repeat([]byte("one two three\n"), smallRoom/5)
			done := pasting(t, tty, text)
			got := make([]byte, len(text))
			if _, err := io.ReadFull(tty.Input(t.Context()), got); err != nil || !bytes.Equal(got, text) {
				t.Errorf("raw %v: what is read is not what was typed: %v", raw, err)
			}
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
}

func TestPasteEnds(t *testing.T) {
	text := bytes.Repeat([]byte("one two three\n"), smallRoom/5)
	reads := func(t *testing.T, tty *TTY, want string) {
		t.Helper()
		got := make([]byte, len(want))
		if _, err := io.ReadFull(tty.Input(t.Context()), got); err != nil || string(got) != want {
			t.Errorf("%q is read, %v", got, err)
		}
	}
	t.Run("by ^C, at a program", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			tty := small()
			interrupted := false
			tty.Foreground(func() { interrupted = true })
			tty.Raw(false)
			done := pasting(t, tty, text)
			if err := errors.Join(tty.Type(t.Context(), []byte("\x03")), <-done, tty.Type(t.Context(), []byte("next\n"))); err != nil {
				t.Error(err)
			}
			if !interrupted {
				t.Error("^C has interrupted nothing")
			}
			reads(t, tty, "next\n")
		})
	})
	t.Run("by ^C, at a prompt", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			tty := small()
			done := pasting(t, tty, text)
			if err := errors.Join(tty.Type(t.Context(), []byte("\x03")), <-done); err != nil {
				t.Error(err)
			}
			reads(t, tty, "\x03")
		})
	})
	t.Run("not by ^C for a program that reads keys", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			tty := small()
			tty.Foreground(func() {})
			keys := append(bytes.Repeat([]byte("keys "), typedAhead), 0x03)
			if err := errors.Join(tty.Type(t.Context(), keys), tty.Type(t.Context(), []byte("\x03"))); err != nil {
				t.Error(err)
			}
			reads(t, tty, string(keys)+"\x03")
		})
	})
	t.Run("with the terminal", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			tty := small()
			done := pasting(t, tty, text)
			tty.Close()
			if err := <-done; !errors.Is(err, ErrClosed) {
				t.Error(err)
			}
		})
	})
	t.Run("with its context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			tty := small()
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			gone := errors.New("nobody types any more")
			end := make(chan error, 1)
			go func() { end <- tty.Type(ctx, text) }()
			synctest.Wait()
			cancel(gone)
			if err := <-end; !errors.Is(err, gone) {
				t.Error(err)
			}
		})
	})
}

// A line that is longer than a terminal holds is read before it has been entered.
func TestLineWithoutEndIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tty := small()
		tty.Raw(false)
		text := bytes.Repeat([]byte("{}"), smallRoom)
		done := pasting(t, tty, text)
		got := make([]byte, len(text)-longestLine)
		if _, err := io.ReadFull(tty.Input(t.Context()), got); err != nil || !bytes.Equal(got, text[:len(got)]) {
			t.Error("what is read is not what was typed:", err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// What one reader has taken another one reads, too: the first may be a page that was closed before it showed it.
func TestOutputIsReadAgain(t *testing.T) {
	tty := small()
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
