package container

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
	"sort"
	"strconv"
	"strings"
	"time"
)

// textCommands read text and print text.
var textCommands = map[string]func(*call) int{
	"cat": cat, "head": head, "tail": tail, "wc": wc, "grep": grep, "egrep": grep, "fgrep": grep, "sort": sortCommand, "uniq": uniq,
	"tr": tr, "cut": cutCommand, "sed": sed, "tee": tee, "rev": rev, "nl": nl, "base64": base64Command,
	"md5sum":    func(k *call) int { return sum(k, md5.New) },
	"sha1sum":   func(k *call) int { return sum(k, sha1.New) },
	"sha256sum": func(k *call) int { return sum(k, sha256.New) },
	"seq":       seq, "yes": yes, "expr": expr, "xargs": xargs,
}

func cat(k *call) int {
	return k.each(k.flags("").rest, func(_ string, r io.Reader) error {
		_, err := io.Copy(k.stdout, r)
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
func (f flags) count() int {
	text := f.value['n']
	if text == "" {
		text = f.value['#']
	}
	n, err := strconv.Atoi(strings.TrimPrefix(text, "+"))
	if err != nil {
		return 10
	}
	return n
}

func head(k *call) int {
	f := k.flags("nc")
	if f.on['c'] {
		limit, _ := strconv.ParseInt(f.value['c'], 10, 64)
		return k.each(f.rest, func(_ string, r io.Reader) error {
			_, err := io.CopyN(k.stdout, r, limit)
			if err == io.EOF {
				return nil
			}
			return err
		})
	}
	return k.each(f.rest, func(_ string, r io.Reader) error {
		left := f.count()
		if left <= 0 {
			return nil
		}
		return lines(r, func(text string) bool {
			fmt.Fprintln(k.stdout, text)
			left--
			return left > 0
		})
	})
}

func tail(k *call) int {
	f := k.flags("nc")
	follow := f.on['f'] || f.on['F']
	var last *Handle
	code := k.each(f.rest, func(_ string, r io.Reader) error {
		var kept []string
		err := lines(r, func(text string) bool {
			if kept = append(kept, text); len(kept) > f.count() && !strings.HasPrefix(f.value['n'], "+") {
				kept = kept[1:]
			}
			return true
		})
		if from := f.count() - 1; strings.HasPrefix(f.value['n'], "+") && from > 0 {
			kept = kept[min(from, len(kept)):]
		}
		for _, text := range kept {
			fmt.Fprintln(k.stdout, text)
		}
		last, _ = r.(*Handle)
		return err
	})
	if !follow || code != 0 {
		return code
	}
	if last == nil || last.file.device != noDevice { // tail -f /dev/null keeps a container busy
		<-k.Done()
		return 143
	}
	ticker := k.session.c.cfg.Clock.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-k.Done():
			return 143
		case <-ticker.C():
			if _, err := io.Copy(k.stdout, last); err != nil {
				return 1
			}
		}
	}
}

func wc(k *call) int {
	f := k.flags("")
	return k.each(f.rest, func(name string, r io.Reader) error {
		data, err := io.ReadAll(r)
		var parts []string
		all := !f.on['l'] && !f.on['w'] && !f.on['c']
		for _, column := range []struct {
			flag byte
			n    int
		}{{'l', bytes.Count(data, []byte("\n"))}, {'w', len(bytes.Fields(data))}, {'c', len(data)}} {
			switch {
			case all:
				parts = append(parts, fmt.Sprintf("%9d", column.n))
			case f.on[column.flag]:
				parts = append(parts, strconv.Itoa(column.n))
			}
		}
		if name != "-" {
			parts = append(parts, name)
		}
		fmt.Fprintln(k.stdout, strings.Join(parts, " "))
		return err
	})
}

func grep(k *call) int {
	f := k.flags("emABC")
	pattern := f.value['e']
	if !f.on['e'] {
		if len(f.rest) == 0 {
			return k.fail("no pattern")
		}
		pattern, f.rest = f.rest[0], f.rest[1:]
	}
	switch {
	case f.on['F'] || k.name == "fgrep":
		pattern = regexp.QuoteMeta(pattern)
	case !f.on['E'] && k.name != "egrep":
		pattern = strings.NewReplacer(`\|`, "|", `\+`, "+", `\?`, "?", `\(`, "(", `\)`, ")", "|", `\|`, "+", `\+`, "(", `\(`, ")", `\)`).Replace(pattern)
	}
	if f.on['w'] {
		pattern = `\b(?:` + pattern + `)\b`
	}
	if f.on['i'] {
		pattern = "(?i)" + pattern
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		fmt.Fprintf(k.stderr, "grep: bad regex '%s'\n", pattern)
		return 2
	}
	found := false
	code := k.each(f.rest, func(name string, r io.Reader) error {
		n, row := 0, 0
		err := lines(r, func(text string) bool {
			row++
			if re.MatchString(text) == f.on['v'] {
				return true
			}
			found = true
			n++
			switch {
			case f.on['q']:
				return false
			case f.on['c'], f.on['l']:
				return true
			case f.on['o']:
				text = strings.Join(re.FindAllString(text, -1), "\n")
			}
			if f.on['n'] {
				text = strconv.Itoa(row) + ":" + text
			}
			if len(f.rest) > 1 && !f.on['h'] {
				text = name + ":" + text
			}
			fmt.Fprintln(k.stdout, text)
			return true
		})
		if f.on['c'] {
			fmt.Fprintln(k.stdout, n)
		}
		if f.on['l'] && n > 0 {
			fmt.Fprintln(k.stdout, name)
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
func (k *call) all(names []string) ([]string, int) {
	var all []string
	code := k.each(names, func(_ string, r io.Reader) error {
		return lines(r, func(text string) bool { all = append(all, text); return true })
	})
	return all, code
}

func sortCommand(k *call) int {
	f := k.flags("kt")
	all, code := k.all(f.rest)
	if f.on['n'] {
		number := func(s string) float64 {
			s = strings.TrimSpace(s)
			end := 0
			for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == '.' || s[end] == '-') {
				end++
			}
			n, _ := strconv.ParseFloat(s[:end], 64)
			return n
		}
		sort.SliceStable(all, func(i, j int) bool { return number(all[i]) < number(all[j]) })
	} else {
		slices.Sort(all)
	}
	if f.on['r'] {
		slices.Reverse(all)
	}
	if f.on['u'] {
		all = slices.Compact(all)
	}
	for _, text := range all {
		fmt.Fprintln(k.stdout, text)
	}
	return code
}

func uniq(k *call) int {
	f := k.flags("")
	all, code := k.all(f.rest)
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j] == all[i] {
			j++
		}
		if f.on['c'] {
			fmt.Fprintf(k.stdout, "%7d %s\n", j-i, all[i])
		} else if !f.on['d'] || j-i > 1 {
			fmt.Fprintln(k.stdout, all[i])
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

func tr(k *call) int {
	f := k.flags("")
	if len(f.rest) == 0 {
		return k.fail("missing operand")
	}
	from := charset(f.rest[0])
	var to []rune
	if len(f.rest) > 1 {
		to = charset(f.rest[1])
	}
	complement := f.on['c'] || f.on['C']
	data, err := io.ReadAll(k.stdin)
	if err != nil {
		return k.fail("%v", err)
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
		if f.on['d'] {
			return -1
		}
		if len(to) > 0 {
			r = to[min(i, len(to)-1)]
		}
		if f.on['s'] && r == last {
			return -1
		}
		last = r
		return r
	}, string(data))
	_, err = io.WriteString(k.stdout, out)
	if err != nil {
		return 1
	}
	return 0
}

func cutCommand(k *call) int {
	f := k.flags("dfc")
	delimiter := "\t"
	if f.on['d'] {
		delimiter = f.value['d']
	}
	list := f.value['f']
	if f.on['c'] {
		list, delimiter = f.value['c'], ""
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
	all, code := k.all(f.rest)
	for _, text := range all {
		parts := strings.Split(text, delimiter)
		if len(parts) == 1 && delimiter != "" {
			fmt.Fprintln(k.stdout, text)
			continue
		}
		var kept []string
		for i, part := range parts {
			if wanted(i + 1) {
				kept = append(kept, part)
			}
		}
		fmt.Fprintln(k.stdout, strings.Join(kept, delimiter))
	}
	return code
}

// sed does s, d and p with a line number or pattern before them.
func sed(k *call) int {
	f := k.flags("e")
	script := f.value['e']
	if !f.on['e'] {
		if len(f.rest) == 0 {
			return k.fail("no script")
		}
		script, f.rest = f.rest[0], f.rest[1:]
	}
	address, action, err := parseSed(script, f.on['E'] || f.on['r'])
	if err != nil {
		return k.fail("%v", err)
	}
	edit := func(all []string) string {
		var b strings.Builder
		for i, text := range all {
			keep := !f.on['n']
			if address(i+1, len(all), text) {
				var printed bool
				if text, printed, keep = action(text, keep); printed {
					b.WriteString(text + "\n")
				}
			}
			if keep {
				b.WriteString(text + "\n")
			}
		}
		return b.String()
	}
	if f.on['i'] {
		code := 0
		for _, name := range f.rest {
			data, err := k.tree.ReadFile(k.path(name))
			if err == nil {
				var all []string
				_ = lines(bytes.NewReader(data), func(text string) bool { all = append(all, text); return true })
				err = k.tree.WriteFile(k.path(name), []byte(edit(all)), 0o644)
			}
			if err != nil {
				code = k.fail("%s: %s", name, reason(err))
			}
		}
		return code
	}
	all, code := k.all(f.rest)
	fmt.Fprint(k.stdout, edit(all))
	return code
}

type sedAddress func(row, rows int, text string) bool
type sedAction func(text string, keep bool) (out string, printed, kept bool)

func parseSed(script string, extended bool) (sedAddress, sedAction, error) {
	expression := func(s string) (*regexp.Regexp, error) {
		if !extended {
			s = strings.NewReplacer(`\(`, "(", `\)`, ")", `\+`, "+", `\|`, "|", "(", `\(`, ")", `\)`, "+", `\+`, "|", `\|`).Replace(s)
		}
		return regexp.Compile(s)
	}
	address := sedAddress(func(int, int, string) bool { return true })
	script = strings.TrimSpace(script)
	switch {
	case strings.HasPrefix(script, "/"):
		pattern, rest, ok := strings.Cut(script[1:], "/")
		re, err := expression(pattern)
		if !ok || err != nil {
			return nil, nil, fmt.Errorf("bad address in '%s'", script)
		}
		address, script = func(_, _ int, text string) bool { return re.MatchString(text) }, rest
	case strings.HasPrefix(script, "$"):
		address, script = func(row, rows int, _ string) bool { return row == rows }, script[1:]
	case script != "" && script[0] >= '0' && script[0] <= '9':
		end := strings.IndexFunc(script, func(r rune) bool { return (r < '0' || r > '9') && r != ',' })
		if end < 0 {
			return nil, nil, fmt.Errorf("missing command")
		}
		low, high, isRange := strings.Cut(script[:end], ",")
		a, _ := strconv.Atoi(low)
		b, _ := strconv.Atoi(high)
		if !isRange {
			b = a
		}
		address, script = func(row, _ int, _ string) bool { return row >= a && row <= b }, script[end:]
	}
	switch {
	case script == "d":
		return address, func(text string, _ bool) (string, bool, bool) { return text, false, false }, nil
	case script == "p":
		return address, func(text string, keep bool) (string, bool, bool) { return text, true, keep }, nil
	case len(script) > 2 && script[0] == 's':
		parts := strings.Split(script[2:], script[1:2])
		if len(parts) != 3 {
			return nil, nil, fmt.Errorf("bad s command '%s'", script)
		}
		if strings.Contains(parts[2], "I") || strings.Contains(parts[2], "i") {
			parts[0] = "(?i)" + parts[0]
		}
		re, err := expression(parts[0])
		if err != nil {
			return nil, nil, err
		}
		with := regexp.MustCompile(`\\([0-9])`).ReplaceAllString(strings.ReplaceAll(parts[1], "$", "$$"), "$${$1}")
		with = strings.ReplaceAll(with, "&", "${0}")
		return address, func(text string, keep bool) (string, bool, bool) {
			matched := re.MatchString(text)
			if strings.Contains(parts[2], "g") {
				text = re.ReplaceAllString(text, with)
			} else if at := re.FindStringSubmatchIndex(text); at != nil {
				text = text[:at[0]] + string(re.ExpandString(nil, with, text, at)) + text[at[1]:]
			}
			return text, matched && strings.Contains(parts[2], "p"), keep
		}, nil
	}
	return nil, nil, fmt.Errorf("unsupported command %s", script)
}

func tee(k *call) int {
	f := k.flags("")
	out := []io.Writer{k.stdout}
	for _, name := range f.rest {
		flag := writeFlags
		if f.on['a'] {
			flag = appendFlags
		}
		h, err := k.tree.Open(k.path(name), flag, 0o644)
		if err != nil {
			return k.fail("%s: %s", name, reason(err))
		}
		out = append(out, h)
	}
	if _, err := io.Copy(io.MultiWriter(out...), k.stdin); err != nil {
		return k.fail("%v", err)
	}
	return 0
}

func rev(k *call) int {
	all, code := k.all(k.args)
	for _, text := range all {
		r := []rune(text)
		slices.Reverse(r)
		fmt.Fprintln(k.stdout, string(r))
	}
	return code
}

func nl(k *call) int {
	all, code := k.all(k.flags("").rest)
	for i, text := range all {
		fmt.Fprintf(k.stdout, "%6d\t%s\n", i+1, text)
	}
	return code
}

func base64Command(k *call) int {
	f := k.flags("w")
	return k.each(f.rest, func(_ string, r io.Reader) error {
		data, err := io.ReadAll(r)
		if err != nil {
			return err
		}
		if f.on['d'] || f.on['D'] {
			decoded, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(data)), ""))
			_, _ = k.stdout.Write(decoded)
			return err
		}
		text := base64.StdEncoding.EncodeToString(data)
		for len(text) > 76 && !f.on['w'] {
			fmt.Fprintln(k.stdout, text[:76])
			text = text[76:]
		}
		fmt.Fprintln(k.stdout, text)
		return nil
	})
}

func sum(k *call, algorithm func() hash.Hash) int {
	return k.each(k.flags("").rest, func(name string, r io.Reader) error {
		h := algorithm()
		_, err := io.Copy(h, r)
		fmt.Fprintf(k.stdout, "%x  %s\n", h.Sum(nil), name)
		return err
	})
}

func seq(k *call) int {
	var numbers []int
	separator := "\n"
	for i := 0; i < len(k.args); i++ {
		arg := k.args[i]
		if arg == "-s" && i+1 < len(k.args) {
			i++
			separator = k.args[i]
			continue
		}
		n, err := strconv.Atoi(arg)
		if err != nil {
			return k.fail("invalid number '%s'", arg)
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
		return k.fail("missing operand")
	}
	if step == 0 {
		return k.fail("increment must not be 0")
	}
	more := func(n int) bool { return step > 0 && n <= last || step < 0 && n >= last }
	for n := first; more(n); n += step {
		end := separator
		if !more(n + step) {
			end = "\n"
		}
		if _, err := fmt.Fprintf(k.stdout, "%d%s", n, end); err != nil || k.Err() != nil {
			return 1
		}
	}
	return 0
}

func yes(k *call) int {
	text := "y"
	if len(k.args) > 0 {
		text = strings.Join(k.args, " ")
	}
	// A reader that closes its end stops it; what writes to a log is slowed
	// down, because nobody would.
	for i := 1; k.Err() == nil; i++ {
		if _, err := fmt.Fprintln(k.stdout, text); err != nil {
			return 1
		}
		if i%1000 == 0 {
			time.Sleep(rest)
		}
	}
	return 143
}

func expr(k *call) int {
	if len(k.args) != 3 {
		return k.fail("syntax error")
	}
	a, errA := strconv.Atoi(k.args[0])
	b, errB := strconv.Atoi(k.args[2])
	numbers := errA == nil && errB == nil
	truth := map[bool]int{true: 1}
	result := 0
	switch op := k.args[1]; {
	case op == "=":
		result = truth[k.args[0] == k.args[2]]
	case op == "!=":
		result = truth[k.args[0] != k.args[2]]
	case !numbers:
		return k.fail("non-numeric argument")
	case op == "+":
		result = a + b
	case op == "-":
		result = a - b
	case op == "*":
		result = a * b
	case (op == "/" || op == "%") && b == 0:
		return k.fail("division by zero")
	case op == "/":
		result = a / b
	case op == "%":
		result = a % b
	case op == "<":
		result = truth[a < b]
	case op == ">":
		result = truth[a > b]
	default:
		return k.fail("syntax error")
	}
	fmt.Fprintln(k.stdout, result)
	if result == 0 {
		return 1
	}
	return 0
}

func xargs(k *call) int {
	f := k.args
	perRun := 0
	for len(f) > 0 && strings.HasPrefix(f[0], "-") {
		if f[0] == "-n" && len(f) > 1 {
			perRun, _ = strconv.Atoi(f[1])
			f = f[1:]
		}
		f = f[1:]
	}
	if len(f) == 0 {
		f = []string{"echo"}
	}
	data, err := io.ReadAll(k.stdin)
	if err != nil {
		return k.fail("%v", err)
	}
	words := strings.Fields(string(data))
	if perRun <= 0 {
		perRun = max(len(words), 1)
	}
	code := 0
	for chunk := range slices.Chunk(words, perRun) {
		code = max(code, k.run(append(slices.Clone(f), chunk...)))
	}
	return code
}
