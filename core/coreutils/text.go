package coreutils

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
)

// textCommands read text and print text.
var textCommands = map[string]func(*Call) int{
	"cat": cat, "less": cat, "more": cat, "tac": tac, "head": head, "tail": tail, "wc": wc, "grep": grep, "egrep": grep, "fgrep": grep, "sort": sortCommand, "uniq": uniq,
	"tr": tr, "cut": cutCommand, "sed": sed, "tee": tee, "rev": rev, "nl": nl, "base64": base64Command,
	"md5sum":    func(k *Call) int { return sum(k, md5.New) },
	"sha1sum":   func(k *Call) int { return sum(k, sha1.New) },
	"sha256sum": func(k *Call) int { return sum(k, sha256.New) },
	"seq":       seq, "yes": yes, "expr": expr, "xargs": xargs,
}

func cat(k *Call) int {
	return k.each(k.Flags("").Rest, func(_ string, r io.Reader) error {
		_, err := io.Copy(k.Stdout, r)
		return err
	})
}

// tac prints lines in reverse order.
func tac(k *Call) int {
	text, code := k.all(k.Flags("").Rest)
	for _, line := range slices.Backward(text) {
		fmt.Fprintln(k.Stdout, line)
	}
	return code
}

// lines reads r line by line, each without its newline.
func lines(r io.Reader, f func(string) bool) error {
	b := bufio.NewReader(r)
	for {
		text, err := b.ReadString('\n')
		if text != "" && !f(strings.TrimSuffix(text, "\n")) {
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

// count returns the number of lines that head and tail are to show.
func (f Flags) count() int {
	text := f.Value['n']
	if text == "" {
		text = f.Value['#']
	}
	n, err := strconv.Atoi(strings.TrimPrefix(text, "+"))
	if err != nil {
		return 10
	}
	return n
}

func head(k *Call) int {
	f := k.Flags("nc")
	if f.On['c'] {
		limit, _ := strconv.ParseInt(f.Value['c'], 10, 64)
		return k.each(f.Rest, func(_ string, r io.Reader) error {
			_, err := io.CopyN(k.Stdout, r, limit)
			if err == io.EOF {
				return nil
			}
			return err
		})
	}
	return k.each(f.Rest, func(_ string, r io.Reader) error {
		left := f.count()
		if left <= 0 {
			return nil
		}
		return lines(r, func(text string) bool {
			fmt.Fprintln(k.Stdout, text)
			left--
			return left > 0
		})
	})
}

func tail(k *Call) int {
	f := k.Flags("nc")
	follow := f.On['f'] || f.On['F']
	code := k.each(f.Rest, func(_ string, r io.Reader) error {
		var kept []string
		err := lines(r, func(text string) bool {
			if kept = append(kept, text); len(kept) > f.count() && !strings.HasPrefix(f.Value['n'], "+") {
				kept = kept[1:]
			}
			return true
		})
		if from := f.count() - 1; strings.HasPrefix(f.Value['n'], "+") && from > 0 {
			kept = kept[min(from, len(kept)):]
		}
		for _, text := range kept {
			fmt.Fprintln(k.Stdout, text)
		}
		return err
	})
	if !follow || code != 0 {
		return code
	}
	if len(f.Rest) == 0 {
		return code // standard input has ended
	}
	followed := k.Path(f.Rest[len(f.Rest)-1])
	if i, err := k.Files.Stat(followed, true); err != nil || !i.Mode().IsRegular() { // tail -f /dev/null keeps a container busy
		<-k.Done()
		return 143
	}
	last, err := k.Files.Open(followed, 0, 0)
	if err != nil {
		return k.Fail("%s: %s", followed, Reason(err))
	}
	defer last.Close()
	if _, err := io.Copy(io.Discard, last); err != nil { // what has been shown
		return k.Fail("%s: %s", followed, Reason(err))
	}
	ticker := k.System.Clock().NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-k.Done():
			return 143
		case <-ticker.C():
			if _, err := io.Copy(k.Stdout, last); err != nil {
				return 1
			}
		}
	}
}

func wc(k *Call) int {
	f := k.Flags("")
	return k.each(f.Rest, func(name string, r io.Reader) error {
		data, err := io.ReadAll(r)
		var parts []string
		all := !f.On['l'] && !f.On['w'] && !f.On['c']
		for _, column := range []struct {
			flag byte
			n    int
		}{{'l', bytes.Count(data, []byte("\n"))}, {'w', len(bytes.Fields(data))}, {'c', len(data)}} {
			switch {
			case all:
				parts = append(parts, fmt.Sprintf("%9d", column.n))
			case f.On[column.flag]:
				parts = append(parts, strconv.Itoa(column.n))
			}
		}
		if name != "-" {
			parts = append(parts, name)
		}
		fmt.Fprintln(k.Stdout, strings.Join(parts, " "))
		return err
	})
}

func uniq(k *Call) int {
	f := k.Flags("")
	all, code := k.all(f.Rest)
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j] == all[i] {
			j++
		}
		if f.On['c'] {
			fmt.Fprintf(k.Stdout, "%7d %s\n", j-i, all[i])
		} else if !f.On['d'] || j-i > 1 {
			fmt.Fprintln(k.Stdout, all[i])
		}
		i = j
	}
	return code
}

// sed does s, d and p with a line number or pattern before them.
func tee(k *Call) int {
	f := k.Flags("")
	out := []io.Writer{k.Stdout}
	for _, name := range f.Rest {
		flag := writeFlags
		if f.On['a'] {
			flag = appendFlags
		}
		h, err := k.Files.Open(k.Path(name), flag, 0o644)
		if err != nil {
			return k.Fail("%s: %s", name, Reason(err))
		}
		out = append(out, h)
	}
	if _, err := io.Copy(io.MultiWriter(out...), k.Stdin); err != nil {
		return k.Fail("%v", err)
	}
	return 0
}

func nl(k *Call) int {
	all, code := k.all(k.Flags("").Rest)
	for i, text := range all {
		fmt.Fprintf(k.Stdout, "%6d\t%s\n", i+1, text)
	}
	return code
}
