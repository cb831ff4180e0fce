package coreutils

import (
	"bufio"
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"hash"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// textCommands read text and print text.
var textCommands = map[string]func(*Call) int{
	"cat": cat, "head": head, "tail": tail, "wc": wc, "grep": grep, "egrep": grep, "fgrep": grep, "sort": sortCommand, "uniq": uniq,
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

func rev(k *Call) int {
	all, code := k.all(k.Args)
	for _, text := range all {
		r := []rune(text)
		slices.Reverse(r)
		fmt.Fprintln(k.Stdout, string(r))
	}
	return code
}

func nl(k *Call) int {
	all, code := k.all(k.Flags("").Rest)
	for i, text := range all {
		fmt.Fprintf(k.Stdout, "%6d\t%s\n", i+1, text)
	}
	return code
}

func base64Command(k *Call) int {
	f := k.Flags("w")
	return k.each(f.Rest, func(_ string, r io.Reader) error {
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if f.On['d'] || f.On['D'] {
			decoded, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(data)), ""))
			_, _ = k.Stdout.Write(decoded)
			return err
		}
		text := base64.StdEncoding.EncodeToString(data)
		for len(text) > 76 && !f.On['w'] {
			fmt.Fprintln(k.Stdout, text[:76])
			text = text[76:]
		}
		fmt.Fprintln(k.Stdout, text)
		return nil
	})
}

func sum(k *Call, algorithm func() hash.Hash) int {
	return k.each(k.Flags("").Rest, func(name string, r io.Reader) error {
		h := algorithm()
		_, err := io.Copy(h, r)
		fmt.Fprintf(k.Stdout, "%x  %s\n", h.Sum(nil), name)
		return err
	})
}

func seq(k *Call) int {
	var numbers []int
	separator := "\n"
	for i := 0; i < len(k.Args); i++ {
		arg := k.Args[i]
		if arg == "-s" && i+1 < len(k.Args) {
			i++
			separator = k.Args[i]
			continue
		}
		n, err := strconv.Atoi(arg)
		if err != nil {
			return k.Fail("invalid number '%s'", arg)
		}
		numbers = append(numbers, n)
	}
	first, step, last := 1, 1, 0
	switch len(numbers) {
	case 1:
		last = numbers[0]
	case 2:
		first, last = numbers[0], numbers[1]
	case 3:
		first, step, last = numbers[0], numbers[1], numbers[2]
	default:
		return k.Fail("missing operand")
	}
	if step == 0 {
		return k.Fail("increment must not be 0")
	}
	more := func(n int) bool { return step > 0 && n <= last || step < 0 && n >= last }
	for n := first; more(n); n += step {
		end := separator
		if !more(n + step) {
			end = "\n"
		}
		if _, err := fmt.Fprintf(k.Stdout, "%d%s", n, end); err != nil || k.Err() != nil {
			return 1
		}
	}
	return 0
}

// yesRest gives others a turn on a machine with one thread.
const yesRest = 2 * time.Millisecond

func yes(k *Call) int {
	text := "y"
	if len(k.Args) > 0 {
		text = strings.Join(k.Args, " ")
	}
	// A reader that closes its end stops it; what writes to a log is slowed
	// down, because nobody would.
	for i := 1; k.Err() == nil; i++ {
		if _, err := fmt.Fprintln(k.Stdout, text); err != nil {
			return 1
		}
		if i%1000 == 0 {
			time.Sleep(yesRest)
		}
	}
	return 143
}

func expr(k *Call) int {
	if len(k.Args) != 3 {
		return k.Fail("syntax error")
	}
	a, errA := strconv.Atoi(k.Args[0])
	b, errB := strconv.Atoi(k.Args[2])
	numbers := errA == nil && errB == nil
	truth := map[bool]int{true: 1}
	result := 0
	switch op := k.Args[1]; {
	case op == "=":
		result = truth[k.Args[0] == k.Args[2]]
	case op == "!=":
		result = truth[k.Args[0] != k.Args[2]]
	case !numbers:
		return k.Fail("non-numeric argument")
	case op == "+":
		result = a + b
	case op == "-":
		result = a - b
	case op == "*":
		result = a * b
	case (op == "/" || op == "%") && b == 0:
		return k.Fail("division by zero")
	case op == "/":
		result = a / b
	case op == "%":
		result = a % b
	case op == "<":
		result = truth[a < b]
	case op == ">":
		result = truth[a > b]
	default:
		return k.Fail("syntax error")
	}
	fmt.Fprintln(k.Stdout, result)
	if result == 0 {
		return 1
	}
	return 0
}

func xargs(k *Call) int {
	f := k.Args
	perRun, marker := 0, ""
	for len(f) > 0 && strings.HasPrefix(f[0], "-") {
		flag := f[0]
		f = f[1:]
		value := func() string {
			if len(flag) > 2 {
				return flag[2:]
			}
			if len(f) == 0 {
				return ""
			}
			v := f[0]
			f = f[1:]
			return v
		}
		switch {
		case strings.HasPrefix(flag, "-n"):
			perRun, _ = strconv.Atoi(value())
		case strings.HasPrefix(flag, "-I"):
			marker = value()
		}
	}
	if len(f) == 0 {
		f = []string{"echo"}
	}
	data, err := io.ReadAll(k.Stdin)
	if err != nil {
		return k.Fail("%v", err)
	}
	code := 0
	if marker != "" { // a run for each line, which takes the marker's place
		for line := range strings.Lines(string(data)) {
			argv := slices.Clone(f)
			for i := range argv {
				argv[i] = strings.ReplaceAll(argv[i], marker, strings.TrimSpace(line))
			}
			code = max(code, k.System.Run(k, k.Environ(), argv))
		}
		return code
	}
	words := strings.Fields(string(data))
	if perRun <= 0 {
		perRun = max(len(words), 1)
	}
	for chunk := range slices.Chunk(words, perRun) {
		code = max(code, k.System.Run(k, k.Environ(), append(slices.Clone(f), chunk...)))
	}
	return code
}
