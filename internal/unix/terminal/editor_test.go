package terminal

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/kubetab/kubetab/internal/unix/terminal/screen"
)

// printed is what a terminal has printed, as far as nobody has more to do.
func printed(t *testing.T, tty *TTY) string {
	t.Helper()
	tty.mu.Lock()
	defer tty.mu.Unlock()
	return string(tty.output)
}

// above is how many rows are above the prompt of edit.
const above = 5

// edit types keys at an editor, and calls look when they have been read.
func edit(t *testing.T, columns int, keys string, look func(*Editor)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		tty := New(columns, 24)
		if _, err := tty.Write([]byte(strings.Repeat("\r\n", above))); err != nil {
			t.Error(err)
		}
		e := &Editor{TTY: tty, History: []string{"for i in 1 2\ndo\n\techo $i\ndone"}}
		var reading sync.WaitGroup
		reading.Go(func() {
			for {
				if _, err := e.ReadLine(t.Context(), "$ "); err != nil {
					return
				}
			}
		})
		if err := tty.Type(t.Context(), []byte(keys)); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		look(e)
		tty.Close()
		reading.Wait()
	})
}

func TestEditorShowsLines(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		rows       []string
		column     int
	}{
		{"a line", "echo", []string{"$ echo"}, 6},
		{"a full row", "12345678", []string{"$ 12345678", ""}, 0},
		{"over a row", "123456789", []string{"$ 12345678", "9"}, 1},
		{"back over a row", "123456789\x02\x02\x02x", []string{"$ 123456x7"}, 9},
		{"a tab", "\x16\tx", []string{"$       x"}, 9},
		{"a tab at the end of a row", "1234567\x16\tx", []string{"$ 1234567", "      x"}, 7},
		{"a tab, taken back", "12\x16\t\x7f3", []string{"$ 123"}, 5},
		{"control characters", "a\x16\x03\x16\x1bb", []string{"$ a^C^[b"}, 8},
		{"lines of the history", "\x10", []string{"$ for i in", " 1 2", "do", "        ec", "ho $i", "done"}, 4},
		{"changed lines of the history", "\x10\x01\x1bf\x1bfx", []string{"$ for ix i"}, 8}, // the rest is below
		{"a row that is full at a newline", "12345678\x16\nx", []string{"$ 12345678", "x"}, 1},
		{"behind a row that is full at a newline", "12345678\x16\nx\x7fy", []string{"$ 12345678", "y"}, 1},
		{"an empty line within", "1\x16\n\x16\nx", []string{"$ 1", "", "x"}, 1},
		{"wide characters", "界\x02x", []string{"$ x界"}, 3},
		{"away", "\x10\x15x", []string{"$ x"}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			edit(t, 10, c.keys, func(e *Editor) {
				rows, column, err := screen.Show(printed(t, e.TTY), 10)
				if err != nil || len(rows) < above || !slices.Equal(rows[above:], c.rows) || column != c.column {
					t.Errorf("%q at %d, %v", rows, column, err)
				}
			})
		})
	}
}

// What is pasted with keyLiteral comes to who reads without it, whoever that is.
func TestTabsArePasted(t *testing.T) {
	const pasted = "cat <<-EOF\r\x16\t\x16\tkey: v\r\x16\tEOF\r"
	want := strings.Split("cat <<-EOF\n\t\tkey: v\n\tEOF\n", "\n")
	offered := 0
	offer := func(context.Context, string) ([]Candidate, int) { offered++; return nil, 0 }
	lines := func(t *testing.T, tty *TTY, prepare func()) (lines []string) {
		e := &Editor{TTY: tty, Complete: offer}
		prepare()
		for range len(want) - 1 {
			line, err := e.ReadLine(t.Context(), "$ ")
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, line)
		}
		return append(lines, "")
	}
	for name, prepare := range map[string]func(*testing.T, *TTY){
		"at the prompt": func(t *testing.T, tty *TTY) {
			if err := tty.Type(t.Context(), []byte(pasted)); err != nil {
				t.Error(err)
			}
		},
		"while something runs": func(t *testing.T, tty *TTY) {
			for i := range pasted { // wherever it is cut
				tty.Raw(i%2 == 0)
				if err := tty.Type(t.Context(), []byte{pasted[i]}); err != nil {
					t.Error(err)
				}
			}
			tty.Raw(true)
		},
	} {
		t.Run(name, func(t *testing.T) {
			tty := New(80, 24)
			if got := lines(t, tty, func() { prepare(t, tty) }); !slices.Equal(got, want) || offered > 0 {
				t.Errorf("%q, and Tab has been asked %d times", got, offered)
			}
		})
	}
	t.Run("of which a part is another's", func(t *testing.T) {
		tty := New(80, 24)
		reads := func(keys, want string) {
			t.Helper()
			if err := tty.Type(t.Context(), []byte(keys)); err != nil {
				t.Error(err)
			}
			b := make([]byte, 10)
			if n, err := tty.Input(t.Context()).Read(b); err != nil || string(b[:n]) != want {
				t.Errorf("%q is read, %v", b[:n], err)
			}
		}
		tty.Raw(false)
		if err := tty.Type(t.Context(), []byte("\x16")); err != nil {
			t.Error(err)
		}
		tty.Raw(true)
		reads("\t", "\x16\t")
		tty.Raw(false)
		reads("\x7fa\r", "a\n") // a key, as ^V is not before it
	})
	t.Run("for a command", func(t *testing.T) {
		tty := New(80, 24)
		tty.Raw(false)
		if err := tty.Type(t.Context(), []byte(pasted+"a\x16\x16\x7f\x16\tb\x7f\x7f\r\x04")); err != nil {
			t.Error(err)
		}
		var got strings.Builder
		for {
			b := make([]byte, 3)
			n, err := tty.Input(t.Context()).Read(b)
			if err != nil {
				break
			}
			got.Write(b[:n])
		}
		if fmt.Sprintf("%q", got.String()) != fmt.Sprintf("%q", strings.Join(want, "\n")+"a\n") {
			t.Errorf("%q", got.String())
		}
	})
}
