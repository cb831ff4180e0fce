package coreutils

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// An extent is what a dump is of: what is in the files, skip bytes after their start,
// and limit bytes at most; a negative limit is none.
type extent struct {
	names       []string
	skip, limit int64
}

// rows calls show for each row of bytes and how many came before it, until show
// reports that nobody reads what it prints. The last row may be shorter. A row is
// only valid during the call. It returns how many bytes there were.
func (k *Call) rows(p extent, row int64, show func(at int64, some []byte) bool) (int64, int) {
	var at int64    // where the row begins that is not full
	var some []byte // what there is of it
	wanted := true
	code := k.each(p.names, func(_ string, r io.Reader) error {
		if p.skip > 0 {
			n, err := io.CopyN(io.Discard, r, p.skip)
			if p.skip -= n; err != nil && err != io.EOF {
				return err
			}
		}
		if p.limit >= 0 {
			r = io.LimitReader(r, p.limit-at-int64(len(some)))
		}
		for in := bufio.NewReaderSize(r, 32<<10); wanted; {
			piece, err := in.Peek(1)
			if len(piece) == 0 {
				if err == io.EOF {
					return nil
				}
				return err
			}
			piece, _ = in.Peek(int(min(int64(in.Buffered()), row-int64(len(some)))))
			if some = append(some, piece...); len(some) > mostMemory {
				return ErrMemory
			}
			_, _ = in.Discard(len(piece)) // they are there
			if int64(len(some)) == row {
				wanted = show(at, some)
				at += row
				some = some[:0]
			}
		}
		return nil
	})
	if wanted && len(some) > 0 {
		show(at, some)
	}
	return at + int64(len(some)), code
}

// offset reads a number of bytes: decimal, 0x for hexadecimal, 0 for octal. No
// text is unless.
func offset(text string, unless int64) (int64, error) {
	if text == "" {
		return unless, nil
	}
	n, err := strconv.ParseInt(text, 0, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("invalid number '%s'", text)
	}
	return n, nil
}

// printable is the text with a point for each byte that has no shape.
func printable(data []byte) string {
	text := bytes.Clone(data)
	for i, c := range text {
		if c < ' ' || c > '~' {
			text[i] = '.'
		}
	}
	return string(text)
}

// mostColumns is how many bytes xxd shows in a line at most.
const mostColumns = 256

// xxd prints bytes in hexadecimal, or with -r makes bytes of that.
func xxd(k *Call) int {
	f := k.Flags("clsgo")
	names := f.Rest
	if len(names) > 1 {
		return k.Fail("an output file is not known here: use >")
	}
	skip, err := offset(f.Value['s'], 0)
	limit, errLimit := offset(f.Value['l'], -1)
	row, errRow := offset(f.Value['c'], 0)
	group, errGroup := offset(f.Value['g'], 2)
	for _, err := range []error{err, errLimit, errRow, errGroup} {
		if err != nil {
			return k.Fail("%v", err)
		}
	}
	what := extent{names, skip, limit}
	plain := f.On['p']
	if f.On['r'] {
		return k.undump(what, plain)
	}
	if row == 0 {
		row = 16
		if plain {
			row = 30
		}
	}
	if !plain && row > mostColumns {
		return k.Fail("invalid number of columns (max. %d).", mostColumns)
	}
	if group == 0 || group > row {
		group = row
	}
	failed := false
	_, code := k.rows(what, row, func(at int64, some []byte) bool {
		digits := hex.EncodeToString(some)
		if f.On['u'] {
			digits = strings.ToUpper(digits)
		}
		if plain {
			_, err := fmt.Fprintln(k.Stdout, digits)
			failed = err != nil
			return !failed
		}
		var b strings.Builder
		for i := range int(row) {
			if i > 0 && int64(i)%group == 0 {
				b.WriteByte(' ')
			}
			if i < len(some) {
				b.WriteString(digits[2*i : 2*i+2])
			} else {
				b.WriteString("  ")
			}
		}
		_, err := fmt.Fprintf(k.Stdout, "%08x: %s  %s\n", skip+at, b.String(), printable(some))
		failed = err != nil
		return !failed
	})
	if failed {
		return 1
	}
	return code
}

// undump is xxd -r.
func (k *Call) undump(what extent, plain bool) int {
	var text strings.Builder
	_, code := k.rows(what, 32<<10, func(_ int64, some []byte) bool {
		text.Write(some)
		return text.Len() <= mostMemory
	})
	if text.Len() > mostMemory {
		return k.Fail("%v", ErrMemory)
	}
	to := bufio.NewWriterSize(k.Stdout, 32<<10)
	isWhole := fromHex(to, text.String(), plain)
	if to.Flush() != nil {
		return 1
	}
	if !isWhole {
		k.Fail("Sorry, cannot seek backwards.")
		return 5
	}
	return code
}

// fromHex writes the bytes of what xxd has printed: plain digits, or lines with an offset in front and the text behind two
// blanks. It stops, and reports false, at an offset before what is written. When to fails, so does its Flush.
func fromHex(to *bufio.Writer, text string, plain bool) (isWhole bool) {
	var at uint64
	for line := range strings.Lines(text) {
		if !plain {
			number, rest, ok := strings.Cut(line, ":")
			n, err := strconv.ParseUint(strings.TrimSpace(number), 16, 32)
			if !ok || err != nil {
				continue
			}
			if n < at {
				return false
			}
			if fill(to, n-at) != nil {
				return true
			}
			at = n
			line, _, _ = strings.Cut(strings.TrimSpace(rest), "  ")
		}
		digits := strings.Join(strings.Fields(line), "")
		bytes, _ := hex.DecodeString(digits[:len(digits)/2*2]) // up to what is no digit, as xxd
		at += uint64(len(bytes))
		_, _ = to.Write(bytes)
	}
	return true
}

// fill writes n zeros.
func fill(to *bufio.Writer, n uint64) error {
	var zeros [4096]byte
	for n > 0 {
		some := min(n, uint64(len(zeros)))
		if _, err := to.Write(zeros[:some]); err != nil {
			return err
		}
		n -= some
	}
	return nil
}

// odFormat is how od shows bytes: size of them at once, each in so many columns.
type odFormat struct {
	size, width int
	show        func(n uint64) string
}

// odFormats are those of -t. The letters that od has for some of them stand for
// the same.
func odFormats(kind string) (odFormat, bool) {
	switch kind {
	case "c":
		return odFormat{1, 4, func(n uint64) string {
			switch c := byte(n); {
			case c == 0:
				return `\0`
			case c >= ' ' && c <= '~':
				return string(rune(c))
			default:
				for letter, r := range escapes {
					if rune(c) == r && letter != '\\' {
						return `\` + string(letter)
					}
				}
				return fmt.Sprintf("%03o", c)
			}
		}}, true
	case "":
		return odFormat{}, false
	}
	size, err := strconv.Atoi(kind[1:])
	if kind[1:] == "" {
		size, err = 4, nil
	}
	at := map[int]int{1: 0, 2: 1, 4: 2, 8: 3}
	i, ok := at[size]
	if !ok || err != nil {
		return odFormat{}, false
	}
	switch kind[0] {
	case 'x':
		return odFormat{size, 2*size + 1, func(n uint64) string { return fmt.Sprintf("%0*x", 2*size, n) }}, true
	case 'o':
		width := []int{3, 6, 11, 22}[i]
		return odFormat{size, width + 1, func(n uint64) string { return fmt.Sprintf("%0*o", width, n) }}, true
	case 'u':
		return odFormat{size, []int{3, 5, 10, 20}[i] + 1, func(n uint64) string { return strconv.FormatUint(n, 10) }}, true
	case 'd':
		return odFormat{size, []int{4, 6, 11, 20}[i] + 1, func(n uint64) string {
			unused := 64 - 8*size
			return strconv.FormatInt(int64(n<<unused)>>unused, 10)
		}}, true
	}
	return odFormat{}, false
}

// od prints bytes in octal, or as -t says.
func od(k *Call) int {
	f := k.Flags("AtjNw")
	kind := f.Value['t']
	for letter, meaning := range map[byte]string{'c': "c", 'b': "o1", 'x': "x2", 'o': "o2", 'd': "u2", 's': "d2", 'i': "d4"} {
		if f.On[letter] {
			kind = meaning
		}
	}
	if kind == "" {
		kind = "o2"
	}
	format, ok := odFormats(kind)
	if !ok {
		return k.Fail("invalid type string '%s'", kind)
	}
	address, ok := map[string]string{"": "%07o", "o": "%07o", "d": "%07d", "x": "%06x", "n": ""}[f.Value['A']]
	if !ok {
		return k.Fail("invalid output address radix '%s'; it must be one character from [doxn]", f.Value['A'])
	}
	skip, err := offset(f.Value['j'], 0)
	limit, errLimit := offset(f.Value['N'], -1)
	row, errRow := offset(f.Value['w'], 16)
	for _, err := range []error{err, errLimit, errRow} {
		if err != nil {
			return k.Fail("%v", err)
		}
	}
	if row == 0 || row%int64(format.size) != 0 {
		return k.Fail("invalid width '%s'", f.Value['w'])
	}
	head := func(at int64) string {
		if address == "" {
			return ""
		}
		return fmt.Sprintf(address, skip+at)
	}
	n, code := k.dump(extent{f.Rest, skip, limit}, row, f.On['v'], func(at int64, some []byte) string {
		b := strings.Builder{}
		for len(some) > 0 {
			var word [8]byte
			some = some[copy(word[:format.size], some):]
			fmt.Fprintf(&b, "%*s", format.width, format.show(binary.LittleEndian.Uint64(word[:])))
		}
		return head(at) + b.String()
	})
	if address != "" {
		fmt.Fprintln(k.Stdout, head(n))
	}
	return code
}

// hexdump is that of -C: bytes in hexadecimal, and as text beside that.
func hexdump(k *Call) int {
	f := k.Flags("ns")
	if !f.On['C'] {
		return k.Fail("only -C is known here; xxd and od have other formats")
	}
	skip, err := offset(f.Value['s'], 0)
	limit, errLimit := offset(f.Value['n'], -1)
	if err != nil || errLimit != nil {
		return k.Fail("invalid number '%s'", f.Value['s']+f.Value['n'])
	}
	n, code := k.dump(extent{f.Rest, skip, limit}, 16, f.On['v'], func(at int64, some []byte) string {
		digits := fmt.Sprintf("% x", some)
		if len(some) > 8 {
			digits = digits[:24] + " " + digits[24:]
		}
		return fmt.Sprintf("%08x  %-49s |%s|", skip+at, digits, printable(some))
	})
	if n > 0 {
		fmt.Fprintf(k.Stdout, "%08x\n", skip+n)
	}
	return code
}

// dump prints what there is in rows. Of rows that are the same all but the first
// are one line with a star, unless all are wanted. It returns how many bytes there
// were.
func (k *Call) dump(what extent, row int64, all bool, line func(at int64, some []byte) string) (int64, int) {
	starred := false
	var before []byte
	return k.rows(what, row, func(at int64, some []byte) bool {
		if !all && at > 0 && bytes.Equal(some, before) {
			var err error
			if !starred {
				_, err = fmt.Fprintln(k.Stdout, "*")
			}
			starred = true
			return err == nil
		}
		starred = false
		before = append(before[:0], some...)
		_, err := fmt.Fprintln(k.Stdout, line(at, some))
		return err == nil
	})
}
