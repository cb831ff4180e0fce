package coreutils

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math/rand/v2"
	"strconv"
	"strings"
)

// comm prints what is in one sorted file, in the other, and in both, each in a column.
func comm(k *Call) int {
	f := k.Flags("")
	if text := f.Value['#']; text != "" { // of -12
		for _, letter := range []byte(text) {
			f.On[letter] = true
		}
	}
	if len(f.Rest) != 2 {
		return k.Fail("missing operand")
	}
	a, code, err := k.all(f.Rest[:1])
	if err != nil || code != 0 {
		return code
	}
	b, code, err := k.all(f.Rest[1:])
	if err != nil || code != 0 {
		return code
	}
	show := func(column byte, text string) bool {
		if f.On[column] {
			return true
		}
		indent := ""
		for before := byte('1'); before < column; before++ {
			if !f.On[before] {
				indent += "\t"
			}
		}
		_, err := fmt.Fprintln(k.Stdout, indent+text)
		return err == nil
	}
	for goes := true; goes && len(a)+len(b) > 0; {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0] < b[0]:
			goes, a = show('1', a[0]), a[1:]
		case len(a) == 0 || b[0] < a[0]:
			goes, b = show('2', b[0]), b[1:]
		default:
			goes, a, b = show('3', a[0]), a[1:], b[1:]
		}
	}
	return 0
}

// compare is cmp: it tells where two files begin to differ.
func compare(k *Call) int {
	f := k.Flags("")
	if len(f.Rest) != 2 {
		return 1 + k.Fail("missing operand")
	}
	var in [2]*bufio.Reader
	for i, name := range f.Rest {
		var r io.Reader = k.Stdin
		if name != "-" {
			file, err := k.open(name)
			if err != nil {
				return 1 + k.Fail("%s: %s", name, Reason(err))
			}
			defer file.Close()
			r = file
		}
		in[i] = bufio.NewReader(r)
	}
	for at, line := 1, 1; ; at++ {
		if at%4096 == 0 && k.Err() != nil { // devices have no end
			return 2
		}
		a, aErr := in[0].ReadByte()
		b, bErr := in[1].ReadByte()
		switch {
		case aErr != nil && bErr != nil:
			return 0
		case aErr != nil || bErr != nil:
			if !f.On['s'] {
				name := f.Rest[0]
				if bErr != nil {
					name = f.Rest[1]
				}
				k.Fail("EOF on %s after byte %d", name, at-1)
			}
			return 1
		case a != b:
			if !f.On['s'] {
				fmt.Fprintf(k.Stdout, "%s %s differ: byte %d, line %d\n", f.Rest[0], f.Rest[1], at, line)
			}
			return 1
		case a == '\n':
			line++
		}
	}
}

// shuf prints lines in an order of chance.
func shuf(k *Call) int {
	f := k.Flags("ni")
	var all []string
	switch {
	case f.On['e']:
		all = f.Rest
	case f.On['i']:
		low, high, ok := strings.Cut(f.Value['i'], "-")
		from, err := strconv.Atoi(low)
		to, err2 := strconv.Atoi(high)
		if !ok || err != nil || err2 != nil || to < from-1 || to-from > 1<<20 {
			return k.Fail("invalid input range: '%s'", f.Value['i'])
		}
		for n := from; n <= to; n++ {
			all = append(all, strconv.Itoa(n))
		}
	default:
		lines, code, err := k.all(f.Rest)
		if err != nil || code != 0 {
			return code
		}
		all = lines
	}
	rand.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	if f.On['n'] {
		n, err := strconv.Atoi(f.Value['n'])
		if err != nil || n < 0 {
			return k.Fail("invalid line count: '%s'", f.Value['n'])
		}
		all = all[:min(n, len(all))]
	}
	for _, text := range all {
		if _, err := fmt.Fprintln(k.Stdout, text); err != nil {
			return 1
		}
	}
	return 0
}

// fold breaks lines that are too long, with -s behind a space.
func fold(k *Call) int {
	f := k.Flags("w")
	width, err := strconv.Atoi(cmp.Or(f.Value['w'], f.Value['#'], "80"))
	if err != nil || width < 1 {
		return k.Fail("invalid number of columns: '%s'", f.Value['w'])
	}
	return k.each(f.Rest, func(_ string, r io.Reader) error {
		return whole(r, func(text string) bool {
			line := []rune(strings.TrimSuffix(text, "\n"))
			for len(line) > width {
				at := width
				if f.On['s'] {
					for i := width - 1; i >= 0; i-- {
						if line[i] == ' ' {
							at = i + 1
							break
						}
					}
				}
				if _, err := fmt.Fprintln(k.Stdout, string(line[:at])); err != nil {
					return false
				}
				line = line[at:]
			}
			_, err := fmt.Fprint(k.Stdout, string(line)+text[len(strings.TrimSuffix(text, "\n")):])
			return err == nil
		})
	})
}

// stringsOf is strings: it prints what is text in files.
func stringsOf(k *Call) int {
	f := k.Flags("nt")
	least, err := strconv.Atoi(cmp.Or(f.Value['n'], f.Value['#'], "4"))
	if err != nil || least < 1 {
		return k.Fail("invalid minimum string length %s", f.Value['n'])
	}
	return k.each(f.Rest, func(_ string, r io.Reader) error {
		in, text := bufio.NewReader(r), []byte(nil)
		for at := 1; ; at++ {
			if at%4096 == 0 && k.Err() != nil { // devices have no end
				return nil
			}
			c, err := in.ReadByte()
			if err == nil && (c >= ' ' && c <= '~' || c == '\t') {
				if text = append(text, c); len(text) > mostMemory {
					return ErrMemory
				}
				continue
			}
			if len(text) >= least {
				if _, err := fmt.Fprintf(k.Stdout, "%s\n", text); err != nil {
					return nil
				}
			}
			text = text[:0]
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
		}
	})
}

// split writes the pieces of a file to files: lines with -l, bytes with -b.
func split(k *Call) int {
	f := k.Flags("lba")
	suffix, err := strconv.Atoi(cmp.Or(f.Value['a'], "2"))
	if err != nil || suffix < 1 || suffix > 8 {
		return k.Fail("invalid suffix length: '%s'", f.Value['a'])
	}
	lines, size := 0, int64(0)
	if f.On['b'] {
		n, err := product(f.Value['b'])
		if err != nil {
			return k.Fail("invalid number of bytes: '%s'", f.Value['b'])
		}
		size = n.n
	} else {
		lines, _ = strconv.Atoi(cmp.Or(f.Value['l'], f.Value['#'], "1000"))
	}
	if lines < 1 && size < 1 {
		return k.Fail("invalid number of lines or bytes")
	}
	name, prefix := "-", "x"
	if len(f.Rest) > 0 {
		name = f.Rest[0]
	}
	if len(f.Rest) > 1 {
		prefix = f.Rest[1]
	}
	digits, count := "abcdefghijklmnopqrstuvwxyz", 0
	if f.On['d'] {
		digits = "0123456789"
	}
	return k.each([]string{name}, func(_ string, r io.Reader) error {
		in := bufio.NewReader(r)
		for {
			if _, err := in.Peek(1); err != nil {
				return nil
			}
			if k.Err() != nil {
				return k.Err()
			}
			end, n := "", count
			for range suffix {
				end, n = string(digits[n%len(digits)])+end, n/len(digits)
			}
			if n > 0 {
				return fmt.Errorf("output file suffixes exhausted")
			}
			out, err := k.Files.Open(k.Path(prefix+end), writeFlags, 0o644)
			if err != nil {
				return err
			}
			if size > 0 {
				_, err = io.CopyN(out, in, size)
			}
			for i := 0; i < lines && err == nil; i++ {
				var text string
				if text, err = ReadLine(in, '\n'); text != "" {
					if _, failed := io.WriteString(out, text); failed != nil {
						err = failed
					}
				}
			}
			out.Close()
			if err == io.EOF {
				return nil
			}
			if err != nil {
				return err
			}
			count++
		}
	})
}

// join prints the lines of two sorted files that have the same field. It is long because each flag changes which lines are
// printed.
func join(k *Call) int {
	args := k.Args
	fields, separator, names := [2]int{1, 1}, "", []string(nil)
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		option := ""
		if len(arg) > 1 && arg[0] == '-' {
			option = arg[:2]
		}
		if option == "" {
			names = append(names, arg)
			continue
		}
		value := arg[2:]
		if value == "" && len(args) > 0 {
			value, args = args[0], args[1:]
		}
		n, err := strconv.Atoi(value)
		switch {
		case option == "-t":
			separator = value
		case err != nil || n < 1:
			return k.Fail("invalid field number: '%s'", value)
		case option == "-j":
			fields = [2]int{n, n}
		case option == "-1":
			fields[0] = n
		case option == "-2":
			fields[1] = n
		default:
			return k.Fail("invalid option -- '%s'", option[1:])
		}
	}
	if len(names) != 2 {
		return k.Fail("missing operand")
	}
	var rows [2][][]string
	for i, name := range names {
		lines, code, err := k.all([]string{name})
		if err != nil || code != 0 {
			return code
		}
		for _, line := range lines {
			parts := strings.Fields(line)
			if separator != "" {
				parts = strings.Split(line, separator)
			}
			rows[i] = append(rows[i], parts)
		}
	}
	key := func(i int, row []string) string {
		if fields[i] > len(row) {
			return ""
		}
		return row[fields[i]-1]
	}
	others := func(i int, row []string) []string {
		if fields[i] > len(row) {
			return row
		}
		return append(append([]string(nil), row[:fields[i]-1]...), row[fields[i]:]...)
	}
	a, b := rows[0], rows[1]
	for len(a) > 0 && len(b) > 0 && k.Err() == nil {
		switch x, y := key(0, a[0]), key(1, b[0]); {
		case x < y:
			a = a[1:]
		case y < x:
			b = b[1:]
		default:
			for _, row := range b {
				if key(1, row) != x {
					break
				}
				line := append(append([]string{x}, others(0, a[0])...), others(1, row)...)
				if _, err := fmt.Fprintln(k.Stdout, strings.Join(line, cmp.Or(separator, " "))); err != nil {
					return 1
				}
			}
			a = a[1:]
		}
	}
	return 0
}
