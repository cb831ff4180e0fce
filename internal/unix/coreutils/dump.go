package coreutils

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// together returns what is in the files, skip bytes after their start and limit
// bytes at most; a negative limit is none.
func (k *Call) together(names []string, skip, limit int64) ([]byte, int) {
	var all bytes.Buffer
	code := k.each(names, func(_ string, r io.Reader) error {
		if skip > 0 {
			n, err := io.CopyN(io.Discard, r, skip)
			if skip -= n; err != nil && err != io.EOF {
				return err
			}
		}
		most := int64(mostMemory) + 1 - int64(all.Len())
		if limit >= 0 {
			most = min(most, limit-int64(all.Len()))
		}
		_, err := all.ReadFrom(io.LimitReader(r, most))
		if all.Len() > mostMemory {
			all = bytes.Buffer{}
			return ErrMemory
		}
		return err
	})
	return all.Bytes(), code
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
	data, code := k.together(names, skip, limit)
	plain := f.On['p']
	if f.On['r'] {
		if _, err := k.Stdout.Write(fromHex(string(data), plain)); err != nil {
			return 1
		}
		return code
	}
	digits := hex.EncodeToString(data)
	if f.On['u'] {
		digits = strings.ToUpper(digits)
	}
	if row == 0 {
		row = 16
		if plain {
			row = 30
		}
	}
	if group == 0 || group > row {
		group = row
	}
	for at := int64(0); at < int64(len(data)); at += row {
		end := min(at+row, int64(len(data)))
		if plain {
			fmt.Fprintln(k.Stdout, digits[2*at:2*end])
			continue
		}
		var b strings.Builder
		for i := range row {
			if i > 0 && i%group == 0 {
				b.WriteByte(' ')
			}
			if at+i < end {
				b.WriteString(digits[2*(at+i) : 2*(at+i)+2])
			} else {
				b.WriteString("  ")
			}
		}
		if _, err := fmt.Fprintf(k.Stdout, "%08x: %s  %s\n", skip+at, b.String(), printable(data[at:end])); err != nil {
			return 1
		}
	}
	return code
}

// fromHex reads what xxd has printed: plain digits, or lines with an offset in
// front and the text behind two blanks.
func fromHex(text string, plain bool) []byte {
	var data []byte
	for line := range strings.Lines(text) {
		at := len(data)
		if !plain {
			number, rest, ok := strings.Cut(line, ":")
			n, err := strconv.ParseUint(strings.TrimSpace(number), 16, 32)
			if !ok || err != nil {
				continue
			}
			at = int(n)
			line, _, _ = strings.Cut(strings.TrimSpace(rest), "  ")
		}
		digits := strings.Join(strings.Fields(line), "")
		bytes, _ := hex.DecodeString(digits[:len(digits)/2*2]) // up to what is no digit, as xxd
		if at > len(data) {
			data = append(data, make([]byte, at-len(data))...)
		}
		data = append(data[:at], bytes...)
	}
	return data
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
	data, code := k.together(f.Rest, skip, limit)
	head := func(at int) string {
		if address == "" {
			return ""
		}
		return fmt.Sprintf(address, skip+int64(at))
	}
	k.dump(data, int(row), f.On['v'], func(at int, some []byte) string {
		b := strings.Builder{}
		for len(some) > 0 {
			var word [8]byte
			some = some[copy(word[:format.size], some):]
			fmt.Fprintf(&b, "%*s", format.width, format.show(binary.LittleEndian.Uint64(word[:])))
		}
		return head(at) + b.String()
	})
	if address != "" {
		fmt.Fprintln(k.Stdout, head(len(data)))
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
	data, code := k.together(f.Rest, skip, limit)
	k.dump(data, 16, f.On['v'], func(at int, some []byte) string {
		digits := fmt.Sprintf("% x", some)
		if len(some) > 8 {
			digits = digits[:24] + " " + digits[24:]
		}
		return fmt.Sprintf("%08x  %-49s |%s|", skip+int64(at), digits, printable(some))
	})
	if len(data) > 0 {
		fmt.Fprintf(k.Stdout, "%08x\n", skip+int64(len(data)))
	}
	return code
}

// dump prints the data in rows. Of rows that are the same all but the first are
// one line with a star, unless all are wanted.
func (k *Call) dump(data []byte, row int, all bool, line func(at int, some []byte) string) {
	starred := false
	for at := 0; at < len(data); at += row {
		some := data[at:min(at+row, len(data))]
		if !all && at > 0 && bytes.Equal(some, data[at-row:at]) {
			if !starred {
				fmt.Fprintln(k.Stdout, "*")
			}
			starred = true
			continue
		}
		starred = false
		if _, err := fmt.Fprintln(k.Stdout, line(at, some)); err != nil {
			return
		}
	}
}
