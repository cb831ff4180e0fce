package container

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/kubetab/kubetab/core/internal/node/database"
)

// printed says how a result is printed.
type printed struct {
	title  string
	footer bool     // how many rows there are
	below  []string // lines behind the rows
}

// print prints a result.
func (p *psql) print(r *database.Result, how printed) {
	switch {
	case p.o.csv:
		fmt.Fprint(p.Stdout, p.commas(r))
	case p.o.bare:
		fmt.Fprint(p.Stdout, p.unaligned(r, how))
	case p.expanded && how.title == "":
		fmt.Fprint(p.Stdout, p.records(r))
	default:
		fmt.Fprint(p.Stdout, p.aligned(r, how))
	}
}

// rowsOf is the line that says how many there are.
func rowsOf(n int) string {
	if n == 1 {
		return "(1 row)"
	}
	return fmt.Sprintf("(%d rows)", n)
}

// commas is a result as CSV.
func (p *psql) commas(r *database.Result) string {
	quoted := func(all []string) string {
		for i, one := range all {
			if strings.ContainsAny(one, ",\"\n\r") || one == `\.` {
				all[i] = `"` + strings.ReplaceAll(one, `"`, `""`) + `"`
			}
		}
		return strings.Join(all, ",") + "\n"
	}
	var b strings.Builder
	if !p.o.tuples {
		b.WriteString(quoted(namesOf(r)))
	}
	for _, row := range r.Rows {
		b.WriteString(quoted(cells(row, "")))
	}
	return b.String()
}

func namesOf(r *database.Result) []string {
	names := make([]string, len(r.Columns))
	for i, c := range r.Columns {
		names[i] = c.Name
	}
	return names
}

// unaligned is a result for a program to read.
func (p *psql) unaligned(r *database.Result, how printed) string {
	var b strings.Builder
	if p.expanded && how.title == "" {
		for n, row := range r.Rows {
			if n > 0 {
				b.WriteByte('\n')
			}
			for i, cell := range cells(row, "") {
				b.WriteString(r.Columns[i].Name + p.o.separator + cell + "\n")
			}
		}
		return b.String()
	}
	if !p.o.tuples {
		if how.title != "" {
			b.WriteString(how.title + "\n")
		}
		b.WriteString(strings.Join(namesOf(r), p.o.separator) + "\n")
	}
	for _, row := range r.Rows {
		b.WriteString(strings.Join(cells(row, ""), p.o.separator) + "\n")
	}
	if !p.o.tuples {
		if how.footer {
			b.WriteString(rowsOf(len(r.Rows)) + "\n")
		}
		for _, line := range how.below {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

// aligned is a result as a table.
func (p *psql) aligned(r *database.Result, how printed) string {
	names := namesOf(r)
	widths := make([]int, len(names))
	for i, name := range names {
		if !p.o.tuples {
			widths[i] = utf8.RuneCountInString(name)
		}
		for _, row := range r.Rows {
			if row[i] != nil {
				for line := range strings.SplitSeq(*row[i], "\n") {
					widths[i] = max(widths[i], utf8.RuneCountInString(line))
				}
			}
		}
	}
	var b strings.Builder
	if !p.o.tuples {
		total := 3*len(widths) - 1
		for _, w := range widths {
			total += w
		}
		if how.title != "" {
			b.WriteString(strings.Repeat(" ", max(0, total-utf8.RuneCountInString(how.title))/2) + how.title + "\n")
		}
		for i, name := range names {
			if i > 0 {
				b.WriteByte('|')
			}
			space := widths[i] - utf8.RuneCountInString(name)
			b.WriteString(" " + strings.Repeat(" ", space/2) + name + strings.Repeat(" ", space-space/2) + " ")
		}
		b.WriteByte('\n')
		for i, w := range widths {
			if i > 0 {
				b.WriteByte('+')
			}
			b.WriteString(strings.Repeat("-", w+2))
		}
		b.WriteByte('\n')
	}
	for _, row := range r.Rows {
		drawRow(&b, r, cells(row, ""), widths)
	}
	if !p.o.tuples {
		if how.footer {
			b.WriteString(rowsOf(len(r.Rows)) + "\n")
		}
		for _, line := range how.below {
			b.WriteString(line + "\n")
		}
	}
	return b.String() + "\n"
}

// drawRow draws a row of a table. A + stands behind what goes on in the next line.
func drawRow(b *strings.Builder, r *database.Result, row []string, widths []int) {
	parts, most := make([][]string, len(row)), 1
	for i, cell := range row {
		parts[i] = strings.Split(cell, "\n")
		most = max(most, len(parts[i]))
	}
	for n := range most {
		for i := range row {
			if i > 0 {
				b.WriteByte('|')
			}
			text := ""
			if n < len(parts[i]) {
				text = parts[i][n]
			}
			goes, last := n+1 < len(parts[i]), i == len(row)-1
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
			switch b.WriteByte(' '); {
			case r.Columns[i].Numeric:
				b.WriteString(space + text)
			case last && !goes:
				b.WriteString(text)
			default:
				b.WriteString(text + space)
			}
			switch {
			case goes:
				b.WriteByte('+')
			case !last:
				b.WriteByte(' ')
			}
		}
		b.WriteByte('\n')
	}
}

// records is a result with a line for each column (print_aligned_vertical of psql).
func (p *psql) records(r *database.Result) string {
	if len(r.Rows) == 0 {
		if p.o.tuples {
			return "\n"
		}
		return "(0 rows)\n\n"
	}
	wide, data := 0, 0
	for i, c := range r.Columns {
		wide = max(wide, utf8.RuneCountInString(c.Name))
		for _, row := range r.Rows {
			if row[i] != nil {
				for line := range strings.SplitSeq(*row[i], "\n") {
					data = max(data, utf8.RuneCountInString(line))
				}
			}
		}
	}
	var b strings.Builder
	for n, row := range r.Rows {
		if p.o.tuples {
			if n > 0 {
				b.WriteString(strings.Repeat("-", wide+1) + "+" + strings.Repeat("-", data+1) + "\n")
			}
		} else {
			b.WriteString(recordRule(n+1, wide, data))
		}
		for i, cell := range cells(row, "") {
			name := r.Columns[i].Name
			for j, line := range strings.Split(cell, "\n") {
				if j > 0 {
					name = ""
				}
				b.WriteString(name + strings.Repeat(" ", wide-utf8.RuneCountInString(name)) + " | " + line)
				if j+1 < strings.Count(cell, "\n")+1 {
					b.WriteString(strings.Repeat(" ", data-utf8.RuneCountInString(line)) + "+")
				}
				b.WriteByte('\n')
			}
		}
	}
	return b.String() + "\n"
}

// recordRule is the line above a record.
func recordRule(n, wide, data int) string {
	rule := fmt.Sprintf("-[ RECORD %d ]", n)
	length := len(rule)
	for ; length < wide; length++ {
		rule += "-"
	}
	length = len(fmt.Sprintf("-[ RECORD %d ]", n)) - wide
	for _, part := range []string{"-", "+", "-"} {
		if length <= 0 {
			rule += part
		}
		length--
	}
	return rule + strings.Repeat("-", max(0, data-max(0, length))) + "\n"
}
