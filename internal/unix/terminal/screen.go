package terminal

import (
	"context"
	"fmt"
	"strings"
)

func (e *Editor) print(s string) { _, _ = e.TTY.Write([]byte(s)) } // fails when nobody looks any more

// cells is how many the prompt and text take.
func (e *Editor) cells(text []rune) int {
	n := visible(e.prompt)
	for _, r := range text {
		n += width(r)
	}
	return n
}

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
	columns, _ := e.TTY.Size()
	columns = max(columns, 1)
	var b strings.Builder
	if e.row > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", e.row)
	}
	b.WriteString("\r\x1b[J")
	b.WriteString(e.prompt)
	b.WriteString(string(e.line))
	if e.Offer != "" && len(e.line) == 0 && e.cells([]rune(e.Offer)) < columns {
		b.WriteString("\x1b[90m" + e.Offer + "\x1b[39m")
	}
	end, at := e.cells(e.line), e.cells(e.line[:e.at])
	if end > 0 && end%columns == 0 {
		b.WriteString("\r\n") // a terminal waits with the wrap until something follows
	}
	if up := end/columns - at/columns; up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteByte('\r')
	if right := at % columns; right > 0 {
		fmt.Fprintf(&b, "\x1b[%dC", right)
	}
	e.row = at / columns
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
