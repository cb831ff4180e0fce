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
	// Lines of a pattern, and several of them, mean one or the other.
	choices := strings.Split(pattern, "\n")
	for i, choice := range choices {
		switch {
		case f.On['F'] || k.Name == "fgrep":
			choice = regexp.QuoteMeta(choice)
		case !f.On['E'] && k.Name != "egrep":
			choice = strings.NewReplacer(`\|`, "|", `\+`, "+", `\?`, "?", `\(`, "(", `\)`, ")", "|", `\|`, "+", `\+`, "(", `\(`, ")", `\)`).Replace(choice)
		}
		choices[i] = choice
	}
	pattern = choices[0]
	if len(choices) > 1 {
		pattern = "(?:" + strings.Join(choices, ")|(?:") + ")"
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
	context := map[byte]int{}
	for _, letter := range []byte("ABCm") {
		if !f.On[letter] {
			continue
		}
		n, err := strconv.Atoi(f.Value[letter])
		switch {
		case letter == 'm' && err != nil:
			fmt.Fprintln(k.Stderr, "grep: invalid max count")
			return 2
		case err != nil || n < 0:
			fmt.Fprintf(k.Stderr, "grep: %s: invalid context length argument\n", f.Value[letter])
			return 2
		}
		context[letter] = n
	}
	names := f.Rest
	deep := f.On['r'] || f.On['R']
	if deep {
		names = k.below(names)
		if len(names) == 0 {
			return 1
		}
	}
	s := search{
		call: k, flags: f, re: re, named: (len(names) > 1 || deep) && !f.On['h'] || f.On['H'],
		before: max(context['B'], context['C']), after: max(context['A'], context['C']), most: context['m'],
	}
	code := k.each(names, s.file)
	switch {
	case s.found:
		return 0
	case code != 0:
		return 2
	}
	return 1
}

// search is one run of grep.
type search struct {
	call                *Call
	flags               Flags
	re                  *regexp.Regexp
	named               bool // lines begin with their file's name
	before, after, most int  // lines around a match, and matches in a file; no most is all
	found               bool
}

// line prints one with what stands before it; mark is ":" for a match and "-" for
// what is around one.
func (s *search) line(name string, row int, mark, text string) {
	if s.flags.On['n'] {
		text = strconv.Itoa(row) + mark + text
	}
	if s.named {
		text = name + mark + text
	}
	fmt.Fprintln(s.call.Stdout, text)
}

func (s *search) file(name string, r io.Reader) error {
	on := s.flags.On
	silent := on['q'] || on['c'] || on['l']
	row, matches := 0, 0
	printed, follow := 0, 0 // the last row that was printed, and how many after it are to be
	var earlier []string
	err := lines(r, func(text string) bool {
		row++
		if s.re.MatchString(text) == on['v'] {
			switch {
			case follow > 0:
				s.line(name, row, "-", text)
				printed, follow = row, follow-1
			case s.before > 0:
				earlier = append(earlier[max(0, len(earlier)-s.before+1):], text)
			}
			return true
		}
		s.found = true
		matches++
		if !silent {
			first := row - len(earlier)
			if s.before+s.after > 0 && printed > 0 && first > printed+1 {
				fmt.Fprintln(s.call.Stdout, "--")
			}
			for i, text := range earlier {
				s.line(name, first+i, "-", text)
			}
			earlier, printed, follow = nil, row, s.after
			if on['o'] {
				for _, part := range s.re.FindAllString(text, -1) {
					s.line(name, row, ":", part)
				}
			} else {
				s.line(name, row, ":", text)
			}
		}
		return !on['q'] && (s.most == 0 || matches < s.most)
	})
	if on['c'] {
		text := strconv.Itoa(matches)
		if s.named {
			text = name + ":" + text
		}
		fmt.Fprintln(s.call.Stdout, text)
	}
	if on['l'] && matches > 0 {
		fmt.Fprintln(s.call.Stdout, name)
	}
	return err
}

// below returns the files named and those in the folders named, or in the current
// one when there are no names.
func (k *Call) below(names []string) (all []string) {
	if len(names) == 0 {
		names = []string{"."}
	}
	for _, name := range names {
		info, err := k.Files.Stat(k.Path(name), false)
		if err != nil || !info.IsDir() {
			all = append(all, name) // whoever opens it says what is wrong
			continue
		}
		entries, err := k.Files.ReadDir(k.Path(name))
		if err != nil {
			k.Fail("%s: %s", name, Reason(err))
			continue
		}
		for _, entry := range entries {
			all = append(all, k.below([]string{strings.TrimSuffix(name, "/") + "/" + entry.Name()})...)
		}
	}
	return all
}

// all returns the lines of every file named.
func (k *Call) all(names []string) ([]string, int) {
	var all []string
	code := k.each(names, func(_ string, r io.Reader) error {
		return lines(r, func(text string) bool { all = append(all, text); return true })
	})
	return all, code
}
