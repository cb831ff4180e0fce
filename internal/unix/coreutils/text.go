package coreutils

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// textCommands read text and print text.
var textCommands = map[string]func(*Call) int{
	"cat": cat, "less": cat, "more": cat, "tac": tac, "head": head, "tail": tail, "wc": wc, "grep": grep, "egrep": grep, "fgrep": grep, "sort": sortCommand, "uniq": uniq,
	"tr": tr, "cut": cutCommand, "sed": sed, "tee": tee, "rev": rev, "nl": nl, "base64": base64Command,
	"paste": paste, "column": column, "xxd": xxd, "od": od, "hexdump": hexdump,
	"md5sum":    func(k *Call) int { return sum(k, md5.New) },
	"sha1sum":   func(k *Call) int { return sum(k, sha1.New) },
	"sha256sum": func(k *Call) int { return sum(k, sha256.New) },
	"sha224sum": func(k *Call) int { return sum(k, sha256.New224) },
	"sha384sum": func(k *Call) int { return sum(k, sha512.New384) },
	"sha512sum": func(k *Call) int { return sum(k, sha512.New) },
	"gzip":      gzipCommand, "gunzip": gzipCommand, "zcat": gzipCommand, "cksum": cksum,
	"seq": seq, "yes": yes, "expr": expr, "xargs": xargs, "envsubst": envsubst,
	"comm": comm, "cmp": compare, "shuf": shuf, "fold": fold, "strings": stringsOf, "split": split, "join": join,
}

func cat(k *Call) int {
	f := k.Flags("")
	row := 0
	return k.each(f.Rest, func(_ string, r io.Reader) error {
		if !f.On['n'] && !f.On['b'] {
			_, err := io.Copy(k.Stdout, r)
			return err
		}
		return whole(r, func(text string) bool {
			if f.On['b'] && text == "\n" {
				fmt.Fprint(k.Stdout, text)
				return true
			}
			row++
			_, err := fmt.Fprintf(k.Stdout, "%6d\t%s", row, text)
			return err == nil
		})
	})
}

// tac prints lines in reverse order.
func tac(k *Call) int {
	text, code, err := k.all(k.Flags("").Rest)
	if err != nil {
		return code
	}
	for _, line := range slices.Backward(text) {
		fmt.Fprintln(k.Stdout, line)
	}
	return code
}

// lines reads r line by line, each without its newline, until f has enough.
func lines(r io.Reader, f func(string) bool) error {
	return whole(r, func(text string) bool { return f(strings.TrimSuffix(text, "\n")) })
}

// whole reads r line by line, each with its newline if it has one.
func whole(r io.Reader, f func(string) bool) error {
	b := bufio.NewReader(r)
	for {
		text, err := ReadLine(b, '\n')
		if text != "" && !f(text) {
			return nil
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// part is what head and tail are to show: so many lines, or bytes. With a sign
// in front head shows all but the last of them, and tail all from one on.
type part struct {
	n           int
	sign, bytes bool
}

// part reads -n, -c and the number of -5. sign is the one that means something.
func (f Flags) part(sign string) (part, error) {
	text := cmp.Or(f.Value['n'], f.Long["lines"], f.Value['#'], "10")
	p := part{}
	if f.On['c'] || f.Long["bytes"] != "" {
		text, p.bytes = cmp.Or(f.Value['c'], f.Long["bytes"]), true
	}
	digits, signed := strings.CutPrefix(text, sign)
	digits = strings.TrimLeft(digits, "+-")
	bare := strings.TrimRight(digits, "bkKmMGTPEiB")
	unit, known := units[digits[len(bare):]]
	n, err := strconv.Atoi(bare)
	if err != nil || !known || n > math.MaxInt/unit {
		return p, wording{"invalid number of %[2]s: ‘%[1]s’", "invalid number '%[1]s'", []any{text, map[bool]string{false: "lines", true: "bytes"}[p.bytes]}}
	}
	p.n, p.sign = n*unit, signed
	return p, nil
}

// units are what GNU's programs multiply numbers by.
var units = map[string]int{
	"": 1, "b": 512, "kB": 1e3, "k": 1 << 10, "K": 1 << 10, "KiB": 1 << 10, "MB": 1e6, "M": 1 << 20, "m": 1 << 20, "MiB": 1 << 20,
	"GB": 1e9, "G": 1 << 30, "GiB": 1 << 30, "TB": 1e12, "T": 1 << 40, "TiB": 1 << 40, "PB": 1e15, "P": 1 << 50, "PiB": 1 << 50,
}

// named prints the name of each of several files above what f prints of it.
func (k *Call) named(f Flags, show func(name string, r io.Reader) error) int {
	first := true
	return k.each(f.Rest, func(name string, r io.Reader) error {
		if len(f.Rest) > 1 && !f.On['q'] || f.On['v'] {
			if !first {
				fmt.Fprintln(k.Stdout)
			}
			if name == "-" {
				name = "standard input"
			}
			fmt.Fprintf(k.Stdout, "==> %s <==\n", name)
		}
		first = false
		return show(name, r)
	})
}

func head(k *Call) int {
	f := k.Flags("nc")
	p, err := f.part("-")
	if err != nil {
		return k.report(err, nil)
	}
	return k.named(f, func(_ string, r io.Reader) error {
		switch {
		case p.bytes && p.sign:
			data, err := ReadAll(r)
			_, _ = k.Stdout.Write(data[:max(len(data)-p.n, 0)]) // nobody reads any more
			return err
		case p.bytes:
			_, err := io.CopyN(k.Stdout, r, int64(p.n))
			if err == io.EOF {
				return nil
			}
			return err
		case p.sign:
			var kept []string
			var has held
			enough := true
			err := whole(r, func(text string) bool {
				enough = has.add(text)
				if kept = append(kept, text); len(kept) > p.n {
					fmt.Fprint(k.Stdout, kept[0])
					has.remove(kept[0])
					kept = kept[1:]
				}
				return enough
			})
			if !enough {
				return ErrMemory
			}
			return err
		case p.n == 0:
			return nil
		}
		left := p.n
		return whole(r, func(text string) bool {
			_, err := fmt.Fprint(k.Stdout, text)
			left--
			return err == nil && left > 0
		})
	})
}

// wc puts its columns where GNU's does: as wide as the number of all bytes, or
// seven where that is not known before.
// counted returns how many lines, words, characters and bytes r has, by the option of wc that asks for them: without words and
// characters if bytesAlone.
func counted(r io.Reader, bytesAlone bool) (map[byte]int, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	var lines, words, characters, size int
	inWord := false
	for {
		if bytesAlone {
			if _, err := in.Peek(1); err != nil {
				return map[byte]int{'l': lines, 'c': size}, ended(err)
			}
			part, _ := in.Peek(in.Buffered()) // which is there
			lines, size = lines+bytes.Count(part, []byte{'\n'}), size+len(part)
			_, _ = in.Discard(len(part))
			continue
		}
		c, n, err := in.ReadRune()
		if err != nil {
			return map[byte]int{'l': lines, 'w': words, 'm': characters, 'c': size}, ended(err)
		}
		size, characters = size+n, characters+1
		if c == '\n' {
			lines++
		}
		if unicode.IsSpace(c) {
			inWord = false
		} else if !inWord {
			inWord = true
			words++
		}
	}
}

// ended is an error of a reader, but for its end.
func ended(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}

func wc(k *Call) int {
	f := k.Flags("")
	columns := []byte("lwmc")
	columns = slices.DeleteFunc(columns, func(c byte) bool { return !f.On[c] })
	if len(columns) == 0 {
		columns = []byte("lwc")
	}
	var rows []map[byte]int
	var names []string
	total := map[byte]int{}
	code := k.each(f.Rest, func(name string, r io.Reader) error {
		one, err := counted(r, !slices.ContainsFunc(columns, func(c byte) bool { return c == 'w' || c == 'm' }))
		for c, n := range one {
			total[c] += n
		}
		rows, names = append(rows, one), append(names, name)
		return err
	})
	width := len(strconv.Itoa(total['c']))
	if slices.Contains(names, "-") {
		width = 7
	}
	if len(columns) == 1 && len(f.Rest) < 2 {
		width = 1
	}
	if len(f.Rest) > 1 {
		rows, names = append(rows, total), append(names, "total")
	}
	for i, row := range rows {
		var parts []string
		for _, c := range columns {
			parts = append(parts, fmt.Sprintf("%*d", width, row[c]))
		}
		if len(f.Rest) > 0 {
			parts = append(parts, names[i])
		}
		fmt.Fprintln(k.Stdout, strings.Join(parts, " "))
	}
	return code
}

func uniq(k *Call) int {
	f := k.Flags("fsw")
	count, before, seen := 0, "", false
	show := func() bool {
		switch {
		case !seen, f.On['d'] && count < 2, f.On['u'] && count > 1:
			return true
		case f.On['c']:
			fmt.Fprintf(k.Stdout, "%7d ", count)
		}
		_, err := fmt.Fprintln(k.Stdout, before)
		return err == nil
	}
	code := k.each(f.Rest, func(_ string, r io.Reader) error {
		return lines(r, func(text string) bool {
			if seen && (text == before || f.On['i'] && strings.EqualFold(text, before)) {
				count++
				return true
			}
			goes := show()
			count, before, seen = 1, text, true
			return goes
		})
	})
	show()
	return code
}

func rev(k *Call) int {
	return k.each(k.Flags("").Rest, func(_ string, r io.Reader) error {
		return lines(r, func(text string) bool {
			letters := []rune(text)
			slices.Reverse(letters)
			_, err := fmt.Fprintln(k.Stdout, string(letters))
			return err == nil
		})
	})
}

func tee(k *Call) int {
	f := k.Flags("")
	flag := writeFlags
	if f.On['a'] {
		flag = appendFlags
	}
	out := []io.Writer{k.Stdout}
	code := 0
	for _, name := range f.Rest {
		h, err := k.Files.Open(k.Path(name), flag, 0o644)
		if err != nil {
			code = k.Fail("%s: %s", name, Reason(err))
			continue
		}
		defer h.Close()
		out = append(out, h)
	}
	if _, err := io.Copy(io.MultiWriter(out...), k.Stdin); err != nil {
		return k.Fail("%s", Reason(err))
	}
	return code
}

// nl numbers the lines that are not empty, or with -b a all of them.
func nl(k *Call) int {
	f := k.Flags("b")
	row := 0
	return k.each(f.Rest, func(_ string, r io.Reader) error {
		return lines(r, func(text string) bool {
			if text == "" && f.Value['b'] != "a" {
				_, err := fmt.Fprintln(k.Stdout, "       ")
				return err == nil
			}
			row++
			_, err := fmt.Fprintf(k.Stdout, "%6d\t%s\n", row, text)
			return err == nil
		})
	})
}
