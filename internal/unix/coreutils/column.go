package coreutils

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	screenWidth = 80 // of a terminal that does not tell
	tabWidth    = 8
)

// column is that of util-linux: -t makes a table of the columns that are there,
// and without it each line is put beside others as far as the width of -c goes.
func column(k *Call) int {
	f := k.Flags("cNos")
	rows, code, err := k.all(f.Rest)
	if err != nil {
		return code
	}
	rows = slices.DeleteFunc(rows, func(text string) bool { return strings.TrimSpace(text) == "" })
	_, table := f.Long["table"]
	if f.On['t'] || table {
		k.table(f, rows)
		return code
	}
	width := screenWidth
	if text := cmp.Or(f.Value['c'], f.Long["output-width"]); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return k.Fail("invalid columns argument: '%s'", text)
		}
		width = n
	}
	k.fill(rows, width, f.On['x'])
	return code
}

// table prints the rows with their columns below each other.
func (k *Call) table(f Flags, rows []string) {
	separators, joint := cmp.Or(f.Value['s'], f.Long["separator"]), cmp.Or(f.Value['o'], f.Long["output-separator"], "  ")
	var cells [][]string
	if names := cmp.Or(f.Value['N'], f.Long["table-columns"]); names != "" {
		cells = append(cells, strings.Split(names, ","))
	}
	for _, row := range rows {
		if separators == "" {
			cells = append(cells, strings.Fields(row))
		} else {
			cells = append(cells, splitAny(row, separators))
		}
	}
	var widths []int
	for _, row := range cells {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range cells {
		var b strings.Builder
		for i := range widths {
			cell := ""
			if i < len(row) {
				cell = row[i]
			}
			b.WriteString(cell)
			if i == len(widths)-1 {
				break
			}
			b.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)) + joint)
		}
		fmt.Fprintln(k.Stdout, b.String())
	}
}

// splitAny splits at each of the separators, which are characters.
func splitAny(text, separators string) []string {
	var parts []string
	for {
		i := strings.IndexAny(text, separators)
		if i < 0 {
			return append(parts, text)
		}
		_, size := utf8.DecodeRuneInString(text[i:])
		parts, text = append(parts, text[:i]), text[i+size:]
	}
}

// fill prints the entries in columns of one width, down and then right or, with
// across, right and then down.
func (k *Call) fill(entries []string, width int, across bool) {
	longest := 0
	for _, entry := range entries {
		longest = max(longest, utf8.RuneCountInString(entry))
	}
	each := (longest + tabWidth) / tabWidth * tabWidth
	columns := max(width/each, 1)
	height := (len(entries) + columns - 1) / columns
	for row := range height {
		var b strings.Builder
		at, end := 0, each
		for column := range columns {
			i := column*height + row
			if across {
				i = row*columns + column
			}
			if i >= len(entries) {
				break
			}
			if column > 0 {
				for next := at/tabWidth*tabWidth + tabWidth; next <= end; next += tabWidth {
					b.WriteByte('\t')
					at = next
				}
				end += each
			}
			b.WriteString(entries[i])
			at += utf8.RuneCountInString(entries[i])
		}
		fmt.Fprintln(k.Stdout, b.String())
	}
}
