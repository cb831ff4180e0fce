package coreutils

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
)

// paste puts the lines of files side by side, or with -s each file on a line.
func paste(k *Call) int {
	f := k.Flags("d")
	serial := f.On['s']
	_, long := f.Long["serial"]
	serial = serial || long
	var marks []string // what stands between columns, in turn
	list := cmp.Or(f.Value['d'], f.Long["delimiters"])
	if list == "" && !f.On['d'] {
		list = "\t"
	}
	for len(list) > 0 {
		r, size := unescape(list)
		mark := string(r)
		if list[:size] == `\0` {
			mark = ""
		}
		marks, list = append(marks, mark), list[size:]
	}
	if len(marks) == 0 {
		marks = []string{""}
	}
	names := f.Rest
	if len(names) == 0 {
		names = []string{"-"}
	}
	if serial {
		return k.each(names, func(_ string, r io.Reader) error {
			row := 0
			err := lines(r, func(text string) bool {
				if row > 0 {
					text = marks[(row-1)%len(marks)] + text
				}
				row++
				_, err := fmt.Fprint(k.Stdout, text)
				return err == nil
			})
			fmt.Fprintln(k.Stdout)
			return err
		})
	}
	// Standard input, named more than once, gives its lines to each in turn.
	stdin := bufio.NewReader(k.Stdin)
	var files []*bufio.Reader
	for _, name := range names {
		if name == "-" {
			files = append(files, stdin)
			continue
		}
		h, err := k.open(name)
		if err != nil {
			return k.Fail("%s: %s", name, Reason(err))
		}
		defer h.Close()
		files = append(files, bufio.NewReader(h))
	}
	for {
		var b strings.Builder
		some := false
		for i, file := range files {
			text, err := ReadLine(file, '\n')
			if err != nil && err != io.EOF {
				return k.Fail("%s: %s", names[i], Reason(err))
			}
			some = some || text != ""
			if i > 0 {
				b.WriteString(marks[(i-1)%len(marks)])
			}
			b.WriteString(strings.TrimSuffix(text, "\n"))
		}
		if !some {
			return 0
		}
		if _, err := fmt.Fprintln(k.Stdout, b.String()); err != nil {
			return 1
		}
	}
}
