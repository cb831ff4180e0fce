package coreutils

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// span is a range of cut's list, counted from one.
type span struct{ from, to int }

// spans reads a list such as 1,3-5,7-. what is a field, a byte or a character.
func spans(list, what string) ([]span, error) {
	var all []span
	for part := range strings.SplitSeq(list, ",") {
		low, high, isRange := strings.Cut(part, "-")
		s := span{1, math.MaxInt}
		var errLow, errHigh error
		if low != "" {
			s.from, errLow = strconv.Atoi(low)
		}
		switch {
		case !isRange:
			s.to = s.from
		case high != "":
			s.to, errHigh = strconv.Atoi(high)
		}
		switch {
		case errLow != nil || errHigh != nil || part == "-" || part == "":
			return nil, fmt.Errorf("invalid %s value '%s'", what, part)
		case s.from < 1:
			return nil, fmt.Errorf("%ss are numbered from 1", what)
		case s.to < s.from:
			return nil, fmt.Errorf("invalid decreasing range")
		}
		all = append(all, s)
	}
	return all, nil
}

func cutCommand(k *Call) int {
	f := k.Flags("dfcb")
	for long, letter := range map[string]byte{"delimiter": 'd', "fields": 'f', "characters": 'c', "bytes": 'b', "only-delimited": 's'} {
		if value, ok := f.Long[long]; ok {
			f.On[letter], f.Value[letter] = true, value
		}
	}
	letter, what := byte('f'), "field"
	switch {
	case f.On['c']:
		letter, what = 'c', "character"
	case f.On['b']:
		letter, what = 'b', "byte"
	case !f.On['f']:
		return k.Fail("you must specify a list of bytes, characters, or fields")
	}
	list, err := spans(f.Value[letter], what)
	if err != nil {
		return k.Fail("%v", err)
	}
	delimiter := cmp.Or(f.Value['d'], "\t")
	if utf8.RuneCountInString(delimiter) != 1 {
		return k.Fail("the delimiter must be a single character")
	}
	joint, isGiven := f.Long["output-delimiter"]
	if !isGiven && letter == 'f' {
		joint = delimiter
	}
	_, complement := f.Long["complement"]
	wanted := func(n int) bool {
		for _, s := range list {
			if n >= s.from && n <= s.to {
				return !complement
			}
		}
		return complement
	}
	return k.each(f.Rest, func(_ string, r io.Reader) error {
		return lines(r, func(text string) bool {
			var parts []string
			switch letter {
			case 'f':
				if parts = strings.Split(text, delimiter); len(parts) == 1 {
					if !f.On['s'] {
						fmt.Fprintln(k.Stdout, text)
					}
					return true
				}
			case 'c':
				parts = strings.Split(text, "")
			case 'b':
				for i := range len(text) {
					parts = append(parts, text[i:i+1])
				}
			}
			var kept []string
			run := false // of characters side by side, which nothing is put between
			for i, part := range parts {
				switch {
				case !wanted(i + 1):
					run = false
					continue
				case run && letter != 'f':
					kept[len(kept)-1] += part
				default:
					kept = append(kept, part)
				}
				run = true
			}
			_, err := fmt.Fprintln(k.Stdout, strings.Join(kept, joint))
			return err == nil
		})
	})
}
