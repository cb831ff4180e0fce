package terminal

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func filtered(cursor bool, chunks ...string) string {
	var out bytes.Buffer
	f := Filter{Out: &out, Cursor: cursor}
	for _, c := range chunks {
		if n, err := f.Write([]byte(c)); n != len(c) || err != nil {
			panic("a buffer does not fail")
		}
	}
	return out.String()
}

func TestFilter(t *testing.T) {
	for _, c := range []struct{ in, text, drawing string }{
		{"plain text\r\n\tand 世界 é\n", "plain text\r\n\tand 世界 é\n", ""},
		{"\x1b[1;31mred\x1b[0m\x1b[m \x1b[38;2;1;2;3mrgb\x1b[38:5:9m", "\x1b[1;31mred\x1b[0m\x1b[m \x1b[38;2;1;2;3mrgb\x1b[38:5:9m", ""},
		{"\x1b[2J\x1b[1;1H\x1b[?25lx\x1b[K", "x", "\x1b[2J\x1b[1;1H\x1b[?25lx\x1b[K"},
		{"\x1b[?1000h\x1b[?2004h\x1b[4h\x1b[?1049hx\x1b[?1049l", "x", "\x1b[?1049hx\x1b[?1049l"},
		{"a\x1b]0;title\ab\x1b]0;title\x1b\\c", "abc", "abc"},
		{"a\x1b]7373;edit;ZTE=\ab", "ab", "ab"},
		{"a\x1bPq\x1b\\b\x1b_x\x1b\\c\x1b^x\x1b\\d\x1bXx\x1b\\e", "abcde", "abcde"},
		{"a\u009d7373;edit\u009cb\u009b6nc", "a7373;editb6nc", "a7373;editb6nc"},
		{"a\x1b[6nb\x1b[>cc\x1b[=cd\x1b[!pe", "abcde", "abcde"},
		{"a\x1bcb\x1b(0c\x1b7d\x1b#8e", "abcde", "abcde"},
		{"a\x1b\x1b[31mb", "a\x1b[31mb", "a\x1b[31mb"},
		{"a\x1b[31\nmb", "a\x1b[31mb", "a\x1b[31mb"},
		{"a\x1b[" + strings.Repeat("1;", 60) + "mb", "ab", "ab"},
		{"bell\a null\x00 del\x7f", "bell null del", "bell null del"},
		{"bad \xff\xfe\x9d \xc2", "bad ��� ", "bad ��� "},
		{"\xc2\x1b[31mred", "�\x1b[31mred", "�\x1b[31mred"},
		{"txt.\u202egnp", "txt.gnp", "txt.gnp"},
	} {
		if got := filtered(false, c.in); got != c.text {
			t.Errorf("%q: %q, want %q", c.in, got, c.text)
		}
		want := c.drawing
		if want == "" {
			want = c.text
		}
		if got := filtered(true, c.in); got != want {
			t.Errorf("%q for a program that draws: %q, want %q", c.in, got, want)
		}
	}
}

var colour = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// Whatever comes, and however it is cut, only text and colours come out.
func FuzzFilter(f *testing.F) {
	f.Add([]byte("a\x1b]7373;edit;ZTE=\ab\x1b[31m\xc2\x9d世"), 3)
	f.Add([]byte("\xe4\xb8\x1b]x\x1b\x1b\\\x9b31m"), 2)
	f.Fuzz(func(t *testing.T, in []byte, cut int) {
		whole := filtered(false, string(in))
		cut = min(max(cut, 0), len(in))
		if got := filtered(false, string(in[:cut]), string(in[cut:])); got != whole {
			t.Errorf("%q cut at %d: %q, whole %q", in, cut, got, whole)
		}
		if !utf8.ValidString(whole) {
			t.Errorf("%q: %q is no text", in, whole)
		}
		for _, r := range colour.ReplaceAllString(whole, "") {
			if r < 0x20 && r != '\n' && r != '\r' && r != '\t' && r != '\b' || r >= 0x7f && r <= 0x9f {
				t.Errorf("%q: %q lets %q through", in, whole, r)
			}
		}
	})
}
