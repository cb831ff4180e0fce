package terminal

import (
	"context"
	"fmt"
	"strings"
)

func (e *Editor) print(s string) { _, _ = e.TTY.Write([]byte(s)) } // fails when nobody looks any more

func (e *Editor) columns() int {
	columns, _ := e.TTY.Size()
	return max(columns, 1)
}

// drawing is what a line looks like behind the prompt.
type drawing struct {
	text string
	end  int  // cells from the prompt's first; rows are whole
	full bool // the last row is full, and the screen waits with the next one until something follows
}

// draw shows tabs as spaces, newlines as such, and other control characters as ^ and a letter.
func (e *Editor) draw(line []rune) drawing {
	columns := e.columns()
	d := drawing{end: visible(e.prompt)}
	d.full = d.end > 0 && d.end%columns == 0
	var b strings.Builder
	for _, r := range line {
		shown, cells := string(r), width(r)
		switch {
		case r == '\n':
			b.WriteString("\r\n")
			if !d.full {
				d.end += columns - d.end%columns
			}
			d.full = false
			continue
		case r == '\t':
			cells = tabStop - d.end%columns%tabStop
			shown = strings.Repeat(" ", cells)
		case r < 0x20 || r == 0x7f:
			shown, cells = caret(byte(r)), 2
		}
		b.WriteString(shown)
		d.end += cells
		d.full = d.end%columns == 0 && (d.full || cells > 0)
	}
	d.text = b.String()
	return d
}

const tabStop = 8

// caret is how a control character is shown.
func caret(c byte) string { return "^" + string(rune(c^0x40)) }

// visible is the width of a prompt, whose colours take no room.
func visible(s string) int {
	n, escape := 0, false
	for _, r := range s {
		switch {
		case r == 0x1b:
			escape = true
		case escape:
			escape = r != 'm'
		default:
			n += width(r)
		}
	}
	return n
}

// refresh draws the prompt and the line over what is there.
func (e *Editor) refresh() {
	columns := e.columns()
	line, before := e.draw(e.line), e.draw(e.line[:e.at])
	var b strings.Builder
	if e.row > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", e.row)
	}
	b.WriteString("\r\x1b[J")
	b.WriteString(e.prompt)
	b.WriteString(line.text)
	if e.Offer != "" && len(e.line) == 0 && e.draw([]rune(e.Offer)).end < columns {
		b.WriteString("\x1b[90m" + e.Offer + "\x1b[39m")
	}
	if line.full {
		b.WriteString("\r\n")
	}
	if up := line.end/columns - before.end/columns; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteByte('\r')
	if right := before.end % columns; right > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", right)
	}
	e.row = before.end / columns
	e.print(b.String())
}

// search is ^R: it finds earlier lines while their text is typed. It returns
// the key that ended it, which is then done to the line that was found.
func (e *Editor) search(in *Input) (rune, error) {
	prompt, before, at := e.prompt, string(e.line), e.at
	var query []rune
	found := len(e.History)
	look := func(from int) {
		for i := from; i >= 0; i-- {
			if strings.Contains(e.History[i], string(query)) {
				found = i
				e.line = []rune(e.History[i])
				e.at = len([]rune(e.History[i][:strings.Index(e.History[i], string(query))]))
				return
			}
		}
		e.print("\a")
	}
	for {
		e.prompt = fmt.Sprintf("(reverse-i-search)`%s': ", string(query))
		e.refresh()
		key, err := readKey(in)
		if err != nil {
			return 0, err
		}
		switch {
		case key == 0x12: // ^R
			look(min(found, len(e.History)) - 1)
		case key == 0x7f || key == 0x08:
			if len(query) > 0 {
				query = query[:len(query)-1]
				look(len(e.History) - 1)
			}
		case key >= 0x20:
			query = append(query, key)
			look(min(found, len(e.History)-1))
		case key == 0x07 || key == 0x03: // ^G, ^C
			e.prompt, e.line, e.at = prompt, []rune(before), at
			e.refresh()
			return keyNone, nil
		default:
			e.prompt = prompt
			if found < len(e.History) {
				e.entry = found
			}
			e.refresh()
			return key, nil
		}
	}
}

// mostShown is how many candidates are listed.
const mostShown = 200

// complete is Tab: it adds what all candidates have in common, and lists them
// when that is nothing. It reports whether it has listed them.
func (e *Editor) complete(ctx context.Context, again bool) bool {
	if e.Complete == nil {
		return false
	}
	before := string(e.line[:e.at])
	all, replaces := e.Complete(ctx, before)
	if len(all) == 0 {
		e.print("\a")
		return false
	}
	word := before[len(before)-replaces:]
	common := all[0].Text
	for _, c := range all[1:] {
		for !strings.HasPrefix(c.Text, common) {
			common = common[:len(common)-1]
		}
	}
	common = strings.ToValidUTF8(common, "")
	if len(all) == 1 && !all[0].Open {
		common += " "
	}
	if common != word && strings.HasPrefix(common, word) {
		e.insert([]rune(common[len(word):]))
		return false
	}
	if len(all) > 1 && !again {
		e.list(all)
		return true
	}
	return again
}

// list shows candidates in columns, below the line.
func (e *Editor) list(all []Candidate) {
	columns, _ := e.TTY.Size()
	var names []string
	widest := 0
	for _, c := range all[:min(len(all), mostShown)] {
		name := c.Show
		if name == "" {
			name = c.Text
		}
		names = append(names, name)
		widest = max(widest, visible(name))
	}
	perRow := max(columns/(widest+2), 1)
	rows := (len(names) + perRow - 1) / perRow
	var b strings.Builder
	b.WriteString("\r\n")
	for row := range rows {
		for i := row; i < len(names); i += rows {
			b.WriteString(names[i])
			if i+rows < len(names) {
				b.WriteString(strings.Repeat(" ", widest+2-visible(names[i])))
			}
		}
		b.WriteString("\r\n")
	}
	if more := len(all) - len(names); more > 0 {
		fmt.Fprintf(&b, "... and %d more\r\n", more)
	}
	at := e.at
	e.at = len(e.line)
	e.refresh()
	e.print(b.String())
	e.row, e.at = 0, at
	e.refresh()
}
