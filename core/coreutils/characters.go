package coreutils

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// charset expands the ranges and classes of tr.
func charset(s string) []rune {
	for class, chars := range map[string]string{"[:lower:]": "a-z", "[:upper:]": "A-Z", "[:digit:]": "0-9", "[:space:]": " \t\n\r", "[:alpha:]": "a-zA-Z", "[:alnum:]": "a-zA-Z0-9", `\n`: "\n", `\t`: "\t", `\r`: "\r", `\0`: "\x00"} {
		s = strings.ReplaceAll(s, class, chars)
	}
	var set []rune
	in := []rune(s)
	for i := 0; i < len(in); i++ {
		if i+2 < len(in) && in[i+1] == '-' {
			for r := in[i]; r <= in[i+2]; r++ {
				set = append(set, r)
			}
			i += 2
			continue
		}
		set = append(set, in[i])
	}
	return set
}

func tr(k *Call) int {
	f := k.Flags("")
	if len(f.Rest) == 0 {
		return k.Fail("missing operand")
	}
	from := charset(f.Rest[0])
	var to []rune
	if len(f.Rest) > 1 {
		to = charset(f.Rest[1])
	}
	complement := f.On['c'] || f.On['C']
	data, err := io.ReadAll(k.Stdin)
	if err != nil {
		return k.Fail("%v", err)
	}
	last := rune(-1)
	out := strings.Map(func(r rune) rune {
		i := slices.Index(from, r)
		if complement {
			if i >= 0 {
				i = -1
			} else {
				i = len(from)
			}
		}
		if i < 0 {
			last = -1
			return r
		}
		if f.On['d'] {
			return -1
		}
		if len(to) > 0 {
			r = to[min(i, len(to)-1)]
		}
		if f.On['s'] && r == last {
			return -1
		}
		last = r
		return r
	}, string(data))
	_, err = io.WriteString(k.Stdout, out)
	if err != nil {
		return 1
	}
	return 0
}

func cutCommand(k *Call) int {
	f := k.Flags("dfc")
	delimiter := "\t"
	if f.On['d'] {
		delimiter = f.Value['d']
	}
	list := f.Value['f']
	if f.On['c'] {
		list, delimiter = f.Value['c'], ""
	}
	wanted := func(n int) bool {
		for _, part := range strings.Split(list, ",") {
			low, high, isRange := strings.Cut(part, "-")
			a, _ := strconv.Atoi(low)
			b, err := strconv.Atoi(high)
			if err != nil {
				b = 1 << 30
			}
			if !isRange {
				b = a
			}
			if n >= a && n <= b {
				return true
			}
		}
		return false
	}
	all, code := k.all(f.Rest)
	for _, text := range all {
		parts := strings.Split(text, delimiter)
		if len(parts) == 1 && delimiter != "" {
			fmt.Fprintln(k.Stdout, text)
			continue
		}
		var kept []string
		for i, part := range parts {
			if wanted(i + 1) {
				kept = append(kept, part)
			}
		}
		fmt.Fprintln(k.Stdout, strings.Join(kept, delimiter))
	}
	return code
}

func rev(k *Call) int {
	all, code := k.all(k.Args)
	for _, text := range all {
		r := []rune(text)
		slices.Reverse(r)
		fmt.Fprintln(k.Stdout, string(r))
	}
	return code
}
