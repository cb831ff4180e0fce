package coreutils

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// classes are those that tr knows by name, in the order of their characters.
var classes = map[string]string{
	"lower": "a-z", "upper": "A-Z", "digit": "0-9", "alpha": "A-Za-z", "alnum": "0-9A-Za-z", "xdigit": "0-9A-Fa-f",
	"blank": `\t `, "space": `\t\n\v\f\r `, "punct": "!-/:-@[-`{-~", "graph": "!-~", "print": " -~", "cntrl": `\0-\037\177`,
}

var escapes = map[byte]rune{'a': '\a', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', 'v': '\v', '\\': '\\'}

// unescape returns the character at the start of s, which a backslash may spell,
// and how many bytes it takes.
func unescape(s string) (rune, int) {
	if len(s) < 2 || s[0] != '\\' {
		return utf8.DecodeRuneInString(s)
	}
	if r, ok := escapes[s[1]]; ok {
		return r, 2
	}
	digits := 1
	for digits < min(len(s), 4) && s[digits] >= '0' && s[digits] <= '7' {
		digits++
	}
	if n, err := strconv.ParseUint(s[1:digits], 8, 8); err == nil {
		return rune(n), digits
	}
	r, size := utf8.DecodeRuneInString(s[1:])
	return r, 1 + size
}

// repeat is the [x*], [x*n] or [x*0n] at the start of s, where n is decimal or
// octal. size is in bytes, 0 if there is none.
func repeat(s string) (r rune, times, size int) {
	rest, ok := strings.CutPrefix(s, "[")
	if !ok || rest == "" {
		return 0, 0, 0
	}
	r, size = unescape(rest)
	count, _, ok := strings.Cut(rest[size:], "]")
	if !ok || !strings.HasPrefix(count, "*") {
		return 0, 0, 0
	}
	size += len("[") + len(count) + len("]")
	base := 10
	if strings.HasPrefix(count, "*0") {
		base = 8
	}
	n, err := strconv.ParseUint(count[1:], base, 16)
	if err != nil && count != "*" {
		return 0, 0, 0
	}
	return r, int(n), size
}

// errFill is that a repeat without a number stands where nothing says how long
// the set has to be.
var errFill = errors.New("the [c*] repeat construct may not appear in string1")

// charset expands the ranges, classes, repeats and escapes of tr. A repeat
// without a number fills up the set to the given length; there may be one, and
// none where length is -1, as of the first set.
func charset(s string, length int) ([]rune, error) {
	var set []rune
	for len(s) > 0 {
		if r, times, size := repeat(s); size > 0 {
			s = s[size:]
			var after []rune
			if times == 0 {
				if length < 0 {
					return nil, errFill
				}
				var err error
				if after, err = charset(s, -1); errors.Is(err, errFill) {
					err = errors.New("only one [c*] repeat construct may appear in string2")
				}
				if err != nil {
					return nil, err
				}
				s, times = "", length-len(set)-len(after)
			}
			for range times {
				set = append(set, r)
			}
			set = append(set, after...)
			continue
		}
		if rest, ok := strings.CutPrefix(s, "[:"); ok {
			if name, rest, ok := strings.Cut(rest, ":]"); ok {
				class, known := classes[name]
				if !known {
					return nil, fmt.Errorf("invalid character class '%s'", name)
				}
				all, err := charset(class, -1)
				if err != nil {
					return nil, err
				}
				set, s = append(set, all...), rest
				continue
			}
		}
		from, size := unescape(s)
		to, text := from, s
		s = s[size:]
		if len(s) > 1 && s[0] == '-' {
			to, size = unescape(s[1:])
			s = s[1+size:]
		}
		if to < from {
			return nil, fmt.Errorf("range-endpoints of '%s' are in reverse collating sequence order", strings.TrimSuffix(text, s))
		}
		for r := from; r <= to; r++ {
			set = append(set, r)
		}
	}
	return set, nil
}

// lastIndex is that of r in set: of several that translate one character, tr
// takes the last.
func lastIndex(set []rune, r rune) int {
	for i := len(set) - 1; i >= 0; i-- {
		if set[i] == r {
			return i
		}
	}
	return -1
}

// tr passes on each character as it comes: a watch may be behind it.
func tr(k *Call) int {
	f := k.Flags("")
	deletes, squeezes := f.On['d'], f.On['s']
	switch n := len(f.Rest); {
	case n == 0:
		return k.Fail("missing operand")
	case n == 1 && deletes == squeezes:
		return k.Fail("missing operand after '%s'", f.Rest[0])
	case n > 2 || n == 2 && deletes && !squeezes:
		return k.Fail("extra operand '%s'", f.Rest[n-1])
	}
	var sets [2][]rune
	for i, text := range f.Rest {
		length := -1
		if i > 0 {
			length = len(sets[0])
		}
		var err error
		if sets[i], err = charset(text, length); err != nil {
			return k.Fail("%v", err)
		}
	}
	from, to := sets[0], sets[1]
	translates := !deletes && len(f.Rest) > 1
	if translates && len(to) == 0 {
		return k.Fail("when not truncating set1, string2 must be non-empty")
	}
	complement := f.On['c'] || f.On['C']
	chosen := func(r rune) bool { return slices.Contains(from, r) != complement }
	squeezed := chosen
	if len(f.Rest) > 1 {
		squeezed = func(r rune) bool { return slices.Contains(to, r) }
	}
	in, out := bufio.NewReader(k.Stdin), bufio.NewWriter(k.Stdout)
	last := rune(-1)
	for {
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return 1
			}
		}
		r, size, err := in.ReadRune()
		if err == io.EOF {
			return 0
		}
		if err != nil {
			return k.Fail("read error: %s", Reason(err))
		}
		if r == utf8.RuneError && size == 1 { // a byte that is no character stays what it is
			_ = in.UnreadRune() // it has just been read
			b, _ := in.ReadByte()
			if !(deletes && complement) {
				_ = out.WriteByte(b) // the error is that of Flush
			}
			last = -1
			continue
		}
		if chosen(r) {
			if deletes {
				continue
			}
			if translates {
				i := len(to) - 1
				if !complement {
					i = min(i, lastIndex(from, r))
				}
				r = to[i]
			}
		}
		if squeezes && r == last && squeezed(r) {
			continue
		}
		last = r
		_, _ = out.WriteRune(r) // the error is that of Flush
	}
}
