package container

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/kubetab/kubetab/core/internal/node/database"
)

// count is a number of things.
func count(n int64, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// cells are the texts of a row.
func cells(row []*string, null string) []string {
	all := make([]string, len(row))
	for i, cell := range row {
		if all[i] = null; cell != nil {
			all[i] = *cell
		}
	}
	return all
}

var mysqlEscapes = strings.NewReplacer("\\", `\\`, "\n", `\n`, "\t", `\t`, "\x00", `\0`)

// plain prints a result for a program to read.
func (m *mysqlMonitor) plain(r *database.Result) {
	if len(r.Rows) > 0 && !m.o.bare {
		names := make([]string, len(r.Columns))
		for i, c := range r.Columns {
			names[i] = c.Name
		}
		fmt.Fprintln(m.Stdout, strings.Join(names, "\t"))
	}
	for _, row := range r.Rows {
		all := cells(row, "NULL")
		for i := range all {
			if !m.o.raw {
				all[i] = mysqlEscapes.Replace(all[i])
			}
		}
		fmt.Fprintln(m.Stdout, strings.Join(all, "\t"))
	}
}

// mysqlTable draws a result.
func mysqlTable(r *database.Result) string {
	widths := make([]int, len(r.Columns))
	names := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		names[i], widths[i] = c.Name, utf8.RuneCountInString(c.Name)
		if c.Nullable {
			widths[i] = max(widths[i], len("NULL"))
		}
	}
	rows := [][]string{names}
	for _, row := range r.Rows {
		all := cells(row, "NULL")
		for i, cell := range all {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
		rows = append(rows, all)
	}
	rule := "+"
	for _, w := range widths {
		rule += strings.Repeat("-", w+2) + "+"
	}
	rule += "\n"
	var b strings.Builder
	b.WriteString(rule)
	for n, row := range rows {
		b.WriteByte('|')
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if n > 0 && r.Columns[i].Numeric {
				b.WriteString(" " + space + cell + " |")
			} else {
				b.WriteString(" " + cell + space + " |")
			}
		}
		if b.WriteByte('\n'); n == 0 {
			b.WriteString(rule)
		}
	}
	return b.String() + rule
}

// mysqlVertical prints each column in a line of its own.
func mysqlVertical(r *database.Result) string {
	var b strings.Builder
	width := 0
	for _, c := range r.Columns {
		width = max(width, utf8.RuneCountInString(c.Name))
	}
	stars := strings.Repeat("*", 27)
	for n, row := range r.Rows {
		fmt.Fprintf(&b, "%s %d. row %s\n", stars, n+1, stars)
		for i, cell := range cells(row, "NULL") {
			fmt.Fprintf(&b, "%*s: %s\n", width, r.Columns[i].Name, cell)
		}
	}
	return b.String()
}
