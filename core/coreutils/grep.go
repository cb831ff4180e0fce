package coreutils

import (
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

func grep(k *Call) int {
	f := k.Flags("emABC")
	pattern := f.Value['e']
	if !f.On['e'] {
		if len(f.Rest) == 0 {
			return k.Fail("no pattern")
		}
		pattern, f.Rest = f.Rest[0], f.Rest[1:]
	}
	switch {
	case f.On['F'] || k.Name == "fgrep":
		pattern = regexp.QuoteMeta(pattern)
	case !f.On['E'] && k.Name != "egrep":
		pattern = strings.NewReplacer(`\|`, "|", `\+`, "+", `\?`, "?", `\(`, "(", `\)`, ")", "|", `\|`, "+", `\+`, "(", `\(`, ")", `\)`).Replace(pattern)
	}
	if f.On['w'] {
		pattern = `\b(?:` + pattern + `)\b`
	}
	if f.On['i'] {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		fmt.Fprintf(k.Stderr, "grep: bad regex '%s'\n", pattern)
		return 2
	}
	found := false
	code := k.each(f.Rest, func(name string, r io.Reader) error {
		n, row := 0, 0
		err := lines(r, func(text string) bool {
			row++
			if re.MatchString(text) == f.On['v'] {
				return true
			}
			found = true
			n++
			switch {
			case f.On['q']:
				return false
			case f.On['c'], f.On['l']:
				return true
			case f.On['o']:
				text = strings.Join(re.FindAllString(text, -1), "\n")
			}
			if f.On['n'] {
				text = strconv.Itoa(row) + ":" + text
			}
			if len(f.Rest) > 1 && !f.On['h'] {
				text = name + ":" + text
			}
			fmt.Fprintln(k.Stdout, text)
			return true
		})
		if f.On['c'] {
			fmt.Fprintln(k.Stdout, n)
		}
		if f.On['l'] && n > 0 {
			fmt.Fprintln(k.Stdout, name)
		}
		return err
	})
	switch {
	case found:
		return 0
	case code != 0:
		return 2
	}
	return 1
}

// all returns the lines of every file named.
func (k *Call) all(names []string) ([]string, int) {
	var all []string
	code := k.each(names, func(_ string, r io.Reader) error {
		return lines(r, func(text string) bool { all = append(all, text); return true })
	})
	return all, code
}
