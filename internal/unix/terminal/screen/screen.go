// Package screen shows in tests what somebody at a terminal sees. It knows what the editor of package terminal prints, and fails
// at the rest.
package screen

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Show returns the rows that a screen of so many columns has once text has come to it, up to the one where the cursor is, without spaces
// at their ends, and the column of the cursor. The error says what no editor prints.
func Show(text string, columns int) (rows []string, column int, err error) {
	cells := [][]rune{{}}
	row, full := 0, false // the screen waits with the next row until something follows
	down := func() {
		if row++; row == len(cells) {
			cells = append(cells, nil)
		}
	}
	for len(text) > 0 {
		if sequence, rest, found := escape(text); found {
			n, number := strconv.Atoi(strings.Trim(sequence, "[ACJKm"))
			if number != nil {
				n = 1
			}
			switch {
			case strings.HasSuffix(sequence, "m"):
			case strings.HasSuffix(sequence, "A"):
				row, full = max(row-n, 0), false
			case strings.HasSuffix(sequence, "C"):
				column = min(column+n, columns-1)
			case sequence == "[J":
				cells = cells[:row+1]
				cells[row] = cells[row][:min(column, len(cells[row]))]
			default:
				return nil, 0, fmt.Errorf("the sequence ESC %s", sequence)
			}
			text = rest
			continue
		}
		r, n := utf8.DecodeRuneInString(text)
		text = text[n:]
		switch {
		case r == '\r':
			column, full = 0, false
		case r == '\n':
			down()
			full = false
		case r == '\b':
			column, full = max(column-1, 0), false
		case r == '\a':
		case r == '\t':
			column = min(column+8-column%8, columns-1)
		case r < 0x20:
			return nil, 0, fmt.Errorf("the character %q", r)
		default:
			if full {
				down()
				column = 0
			}
			for len(cells[row]) <= column {
				cells[row] = append(cells[row], ' ')
			}
			cells[row][column] = r
			if full = column == columns-1; !full {
				column++
			}
		}
	}
	for _, line := range cells[:row+1] {
		rows = append(rows, strings.TrimRight(string(line), " "))
	}
	return rows, column, nil
}

// escape returns the sequence behind an escape with which text begins.
func escape(text string) (sequence, rest string, found bool) {
	text, found = strings.CutPrefix(text, "\x1b")
	if !found {
		return "", "", false
	}
	end := 1 + strings.IndexFunc(text[min(1, len(text)):], func(r rune) bool { return r >= 0x40 && r <= 0x7e }) + 1
	return text[:end], text[end:], true
}
