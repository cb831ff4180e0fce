package coreutils

import (
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// grepLong are the short names of long options.
var grepLong = map[string]byte{
	"after-context": 'A', "basic-regexp": 'G', "before-context": 'B', "context": 'C', "count": 'c', "dereference-recursive": 'R', "extended-regexp": 'E',
	"file": 'f', "files-with-matches": 'l', "files-without-match": 'L', "fixed-strings": 'F', "ignore-case": 'i', "invert-match": 'v', "line-number": 'n',
	"line-regexp": 'x', "max-count": 'm', "no-filename": 'h', "no-messages": 's', "only-matching": 'o', "perl-regexp": 'P', "quiet": 'q', "recursive": 'r',
	"regexp": 'e', "silent": 'q', "with-filename": 'H', "word-regexp": 'w',
}

// grep follows GNU grep. It is long because each flag changes what its one loop over the
// lines does.
func grep(k *Call) int {
	f := k.Flags("efmABC")
	for name, value := range f.Long {
		if letter, known := grepLong[name]; known {
			f.On[letter], f.Value[letter] = true, value
		}
	}
	trouble := func(format string, args ...any) int {
		return 1 + k.Fail(format, args...)
	}
	var patterns []string // those of one line each
	if f.On['e'] {
		patterns = strings.Split(f.Value['e'], "\n")
	}
	if f.On['f'] {
		code := k.each([]string{f.Value['f']}, func(_ string, r io.Reader) error {
			return lines(r, func(text string) bool { patterns = append(patterns, text); return true })
		})
		if code != 0 {
			return 2
		}
	}
	if !f.On['e'] && !f.On['f'] {
		if len(f.Rest) == 0 {
			return trouble("no pattern")
		}
		patterns, f.Rest = strings.Split(f.Rest[0], "\n"), f.Rest[1:]
	}
	for i, pattern := range patterns {
		switch {
		case f.On['F'] || k.Name == "fgrep":
			pattern = regexp.QuoteMeta(pattern)
		case !f.On['P']:
			pattern = posix(pattern, f.On['E'] || k.Name == "egrep")
		}
		patterns[i] = pattern
	}
	pattern := "(?:" + strings.Join(patterns, ")|(?:") + ")"
	switch {
	case len(patterns) == 0: // an empty file of patterns
		pattern = `[^\s\S]`
	case f.On['x']:
		pattern = `^(?:` + pattern + `)$`
	case f.On['w']:
		pattern = `\b(?:` + pattern + `)\b`
	}
	if f.On['i'] || f.On['y'] {
		pattern = "(?i)" + pattern
	}
	re, err := CompilePattern(k, pattern, !f.On['P'])
	if err != nil {
		return trouble("bad regex '%s'", strings.Join(patterns, "|"))
	}
	context := map[byte]int{'m': -1}
	if text := f.Value['#']; text != "" {
		f.On['C'], f.Value['C'] = true, text
	}
	for _, letter := range []byte("ABCm") {
		if !f.On[letter] {
			continue
		}
		n, err := strconv.Atoi(f.Value[letter])
		switch {
		case letter == 'm' && err != nil:
			return trouble("invalid max count")
		case letter != 'm' && (err != nil || n < 0):
			return trouble("%s: invalid context length argument", f.Value[letter])
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
	files := *k
	if f.On['s'] {
		files.Stderr = io.Discard
	}
	code := files.each(names, s.file)
	switch {
	case code != 0 && !(s.found && f.On['q']):
		return 2
	case s.found:
		return 0
	}
	return 1
}

// search is one run of grep.
type search struct {
	call                *Call
	flags               Flags
	re                  *Pattern
	named               bool // lines begin with their file's name
	before, after, most int  // lines around a match, and matches in a file; below zero is all
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
	if name == "-" {
		name = "(standard input)"
	}
	on := s.flags.On
	silent := on['q'] || on['c'] || on['l'] || on['L']
	row, matches := 0, 0
	printed, follow := 0, 0 // the last row that was printed, and how many after it are to be
	var earlier []string
	if s.most == 0 {
		return nil
	}
	err := lines(r, func(text string) bool {
		row++
		if matches == s.most || s.re.Match(text) == on['v'] {
			switch {
			case follow > 0:
				s.line(name, row, "-", text)
				printed, follow = row, follow-1
			case s.before > 0:
				earlier = append(earlier[max(0, len(earlier)-s.before+1):], text)
			}
			return matches != s.most || follow > 0
		}
		s.found = s.found || !on['L']
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
			if on['o'] && !on['v'] {
				for _, at := range s.re.FindAll(text) {
					if part := text[at[0]:at[1]]; part != "" {
						s.line(name, row, ":", part)
					}
				}
			} else if !on['o'] {
				s.line(name, row, ":", text)
			}
		}
		return !on['q'] && !on['l'] && !on['L'] && (matches != s.most || follow > 0)
	})
	if on['c'] {
		text := strconv.Itoa(matches)
		if s.named {
			text = name + ":" + text
		}
		fmt.Fprintln(s.call.Stdout, text)
	}
	if on['l'] && matches > 0 || on['L'] && matches == 0 {
		s.found = true
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

// all returns the lines of every file named. The error is ErrMemory, and told.
func (k *Call) all(names []string) (all []string, code int, err error) {
	var has held
	code = k.each(names, func(_ string, r io.Reader) error {
		failed := lines(r, func(text string) bool {
			all = append(all, text)
			return has.add(text)
		})
		if has > mostMemory {
			failed = ErrMemory
		}
		if errors.Is(failed, ErrMemory) {
			all, err = nil, ErrMemory
		}
		return failed
	})
	return all, code, err
}
