package coreutils

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
)

// sortKey is a key of sort: -k from[,to][flags], fields counted from one.
type sortKey struct {
	from, to         int // to is 0 for the end of the line
	numeric, reverse bool
	fold             bool
}

// comparisonsPerLook is how many comparisons there are between two looks at whether the command has ended.
const comparisonsPerLook = 1 << 10

// longLine is from how many bytes on each comparison of lines counts for so many.
const longLine = 1 << 16

// sortCommand follows GNU sort. It is long because each flag changes how lines are read,
// compared or written.
func sortCommand(k *Call) int {
	var keys []sortKey
	var files []string
	separator := ""
	whole := sortKey{from: 1}
	unique := false
	for i := 0; i < len(k.Args); i++ {
		arg := k.Args[i]
		if len(arg) < 2 || arg[0] != '-' || arg == "--" {
			if arg != "--" {
				files = append(files, arg)
			}
			continue
		}
		for j := 1; j < len(arg); j++ {
			value := func() string {
				text := arg[j+1:]
				if text == "" && i+1 < len(k.Args) {
					i++
					text = k.Args[i]
				}
				j = len(arg)
				return text
			}
			switch letter := arg[j]; letter {
			case 'k':
				text := value()
				key, ok := parseSortKey(text)
				if !ok {
					return k.Fail("invalid number at field start: invalid count at start of '%s'", text) + 1
				}
				keys = append(keys, key)
			case 't':
				separator = value()
			case 'n', 'g', 'h', 'V':
				whole.numeric = true
			case 'r':
				whole.reverse = true
			case 'f':
				whole.fold = true
			case 'u':
				unique = true
			case 's', 'b', 'd', 'i':
			default:
				return k.unknown(letter) + 1
			}
		}
	}
	all, code, err := k.all(files)
	if err != nil || code != 0 {
		return 2
	}
	if len(keys) == 0 {
		keys = []sortKey{whole}
	}
	for i, key := range keys { // a key without flags of its own has those of the command
		if !key.numeric && !key.reverse && !key.fold {
			keys[i].numeric, keys[i].reverse, keys[i].fold = whole.numeric, whole.reverse, whole.fold
		}
	}
	byKeys := func(a, b string) int {
		for _, key := range keys {
			if order := key.compare(key.of(a, separator), key.of(b, separator)); order != 0 {
				return order
			}
		}
		return 0
	}
	comparisons := 0
	ended := false
	slices.SortStableFunc(all, func(a, b string) int {
		isLong := len(a) > longLine && len(b) > longLine
		if isLong {
			runtime.Gosched() // to compare them is a loop without a call
		}
		if comparisons++; isLong || comparisons%comparisonsPerLook == 0 {
			ended = ended || k.Err() != nil
		}
		if ended {
			return 0 // what is left takes no time
		}
		order := byKeys(a, b)
		if order == 0 && !unique { // then by the whole line
			if order = strings.Compare(a, b); whole.reverse {
				order = -order
			}
		}
		return order
	})
	if ended {
		return 2
	}
	if unique {
		all = slices.CompactFunc(all, func(a, b string) bool { return byKeys(a, b) == 0 })
	}
	for _, text := range all {
		if _, err := fmt.Fprintln(k.Stdout, text); err != nil {
			return 2
		}
	}
	return code
}

func parseSortKey(text string) (sortKey, bool) {
	var key sortKey
	flags := strings.TrimLeft(text, "0123456789,.")
	for _, letter := range flags {
		switch letter {
		case 'n', 'g', 'h', 'V':
			key.numeric = true
		case 'r':
			key.reverse = true
		case 'f':
			key.fold = true
		}
	}
	from, to, isRange := strings.Cut(strings.TrimSuffix(text, flags), ",")
	n, err := strconv.Atoi(strings.Split(from, ".")[0])
	if err != nil || n < 1 {
		return key, false
	}
	key.from = n
	if isRange {
		if key.to, err = strconv.Atoi(strings.Split(to, ".")[0]); err != nil {
			return key, false
		}
	}
	return key, true
}

// of returns the part of a line that the key is.
func (s sortKey) of(line, separator string) string {
	if s.from == 1 && s.to == 0 {
		return line
	}
	var fields []string
	if separator == "" {
		fields, separator = strings.Fields(line), " "
	} else {
		fields = strings.Split(line, separator)
	}
	to := len(fields)
	if s.to > 0 {
		to = min(to, s.to)
	}
	if s.from > to {
		return ""
	}
	return strings.Join(fields[s.from-1:to], separator)
}

func (s sortKey) compare(a, b string) int {
	var order int
	switch {
	case s.numeric:
		order = cmp.Compare(leadingNumber(a), leadingNumber(b))
	case s.fold:
		order = strings.Compare(strings.ToUpper(a), strings.ToUpper(b))
	default:
		order = strings.Compare(a, b)
	}
	if s.reverse {
		return -order
	}
	return order
}

// leadingNumber is the number that a text begins with, times what K, M, G, Ki,
// Mi and Gi stand for; 0 if it begins with none.
func leadingNumber(text string) float64 {
	text = strings.TrimSpace(text)
	end := 0
	for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] == '.' || text[end] == '-' && end == 0) {
		end++
	}
	n, err := strconv.ParseFloat(text[:end], 64)
	if err != nil {
		return 0
	}
	if end < len(text) {
		switch text[end] {
		case 'k', 'K':
			n *= 1 << 10
		case 'M':
			n *= 1 << 20
		case 'G':
			n *= 1 << 30
		}
	}
	return n
}
