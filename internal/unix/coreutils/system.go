package coreutils

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"sort"
	"strconv"
	"strings"
	"time"
)

const (
	writeFlags  = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	appendFlags = os.O_WRONLY | os.O_CREATE | os.O_APPEND
)

// systemCommands are about time, the environment and other commands.
var systemCommands = map[string]func(*Call) int{
	"sleep": sleep, "usleep": sleep, "date": date, "env": env, "printenv": printenv, "timeout": timeout, "dd": dd, "which": which,
	"nohup": runArgs, "time": runArgs, "nice": runArgs,
}

func sleep(k *Call) int {
	if len(k.Args) == 0 {
		return k.Fail("missing operand")
	}
	total := time.Duration(0)
	for _, arg := range k.Args {
		d, ok := ParseDuration(arg)
		if !ok {
			return k.Fail("invalid number '%s'", arg)
		}
		if k.Name == "usleep" {
			d /= 1e6
		}
		if total += d; total < 0 {
			total = math.MaxInt64
		}
	}
	return k.System.Pause(k, total)
}

// ParseDuration reads what sleep and timeout take: a number with s, m, h or d.
func ParseDuration(text string) (time.Duration, bool) {
	if text == "infinity" || text == "inf" {
		return math.MaxInt64, true
	}
	unit := time.Second
	if text != "" {
		switch text[len(text)-1] {
		case 's':
			text = text[:len(text)-1]
		case 'm':
			unit, text = time.Minute, text[:len(text)-1]
		case 'h':
			unit, text = time.Hour, text[:len(text)-1]
		case 'd':
			unit, text = 24*time.Hour, text[:len(text)-1]
		}
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || n < 0 {
		return 0, false
	}
	if n*float64(unit) >= math.MaxInt64 {
		return math.MaxInt64, true
	}
	return time.Duration(n * float64(unit)), true
}

func date(k *Call) int {
	f := k.Flags("dr")
	now := k.System.Clock().Now().UTC()
	if text, ok := strings.CutPrefix(f.Value['d'], "@"); ok {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			now = time.Unix(n, 0).UTC()
		}
	}
	layout := "Mon Jan _2 15:04:05 UTC 2006"
	for _, arg := range f.Rest {
		if format, ok := strings.CutPrefix(arg, "+"); ok {
			fmt.Fprintln(k.Stdout, strftime(now, format))
			return 0
		}
	}
	if f.On['I'] {
		layout = "2006-01-02"
	}
	if f.On['R'] {
		layout = time.RFC1123Z
	}
	fmt.Fprintln(k.Stdout, now.Format(layout))
	return 0
}

func strftime(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			b.WriteByte(format[i])
			continue
		}
		i++
		switch verb := format[i]; verb {
		case 's':
			b.WriteString(strconv.FormatInt(t.Unix(), 10))
		case 'N':
			fmt.Fprintf(&b, "%09d", t.Nanosecond())
		case '%':
			b.WriteByte('%')
		case 'n':
			b.WriteByte('\n')
		default:
			if layout, ok := dateVerbs[verb]; ok {
				b.WriteString(t.Format(layout))
			} else {
				b.WriteString("%" + string(verb))
			}
		}
	}
	return b.String()
}

var dateVerbs = map[byte]string{'Y': "2006", 'm': "01", 'd': "02", 'H': "15", 'M': "04", 'S': "05", 'T': "15:04:05", 'F': "2006-01-02",
	'y': "06", 'b': "Jan", 'B': "January", 'a': "Mon", 'A': "Monday", 'Z': "UTC", 'z': "-0700", 'I': "03", 'p': "PM", 'e': "_2", 'R': "15:04",
	'D': "01/02/06", 'c': "Mon Jan _2 15:04:05 2006", 'j': "002", 'N': "000000000", 'x': "01/02/06", 'X': "15:04:05"}

func env(k *Call) int {
	args := k.Args
	vars := k.Environ()
	for len(args) > 0 && (strings.HasPrefix(args[0], "-") || strings.Contains(args[0], "=")) {
		switch {
		case args[0] == "-i" || args[0] == "-":
			vars = nil
		case args[0] == "-u" && len(args) > 1:
			gone := args[1]
			var kept []string
			for _, v := range vars {
				if !strings.HasPrefix(v, gone+"=") {
					kept = append(kept, v)
				}
			}
			vars, args = kept, args[1:]
		default:
			vars = append(vars, args[0])
		}
		args = args[1:]
	}
	if len(args) > 0 {
		return k.System.Run(k, vars, args)
	}
	// In a stable order: that of a real environment depends on the runtime.
	sort.Strings(vars)
	for _, v := range vars {
		if !strings.HasPrefix(v, "IFS=") {
			fmt.Fprintln(k.Stdout, v)
		}
	}
	return 0
}

func printenv(k *Call) int {
	if len(k.Args) == 0 {
		return env(k)
	}
	code := 0
	for _, name := range k.Args {
		v := k.Env.Get(name)
		if !v.IsSet() || !v.Exported {
			code = 1
			continue
		}
		fmt.Fprintln(k.Stdout, v.String())
	}
	return code
}

func timeout(k *Call) int {
	args := k.Args
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if args[0] == "-t" {
			args = args[1:]
			break
		}
		args = args[1:]
	}
	if len(args) < 2 {
		return k.Fail("missing operand")
	}
	d, ok := ParseDuration(args[0])
	if !ok {
		return k.Fail("invalid number '%s'", args[0])
	}
	done := make(chan int, 1)
	child := *k
	ctx, cancel := context.WithCancel(k)
	defer cancel()
	child.Context = ctx
	k.System.Go(func() {
		code := Aborted
		if fault := Survive(func() { code = k.System.Run(&child, k.Environ(), args[1:]) }); fault != nil {
			k.Fail("%v", fault)
		}
		done <- code
	})
	timer := k.System.Clock().NewTimer(d)
	defer timer.Stop()
	select {
	case code := <-done:
		return code
	case <-timer.C():
		cancel()
		<-done
		return 124
	}
}

func dd(k *Call) int {
	in, out := "", ""
	size, count := int64(512), int64(-1)
	for _, arg := range k.Args {
		name, value, _ := strings.Cut(arg, "=")
		switch name {
		case "if":
			in = value
		case "of":
			out = value
		case "bs":
			size = parseSize(value)
		case "count":
			count = parseSize(value)
		}
	}
	var r io.Reader = k.Stdin
	var w io.Writer = k.Stdout
	if in != "" {
		h, err := k.Files.Open(k.Path(in), 0, 0)
		if err != nil {
			return k.Fail("can't open '%s': %s", in, Reason(err))
		}
		defer h.Close()
		r = h
	}
	if out != "" {
		h, err := k.Files.Open(k.Path(out), writeFlags, 0o644)
		if err != nil {
			return k.Fail("can't open '%s': %s", out, Reason(err))
		}
		defer h.Close()
		w = h
	}
	total := size * count
	if count < 0 || total > 64<<20 {
		total = 64 << 20 // more would only fill the memory of this process
	}
	n, err := io.CopyN(w, r, total)
	if err != nil && err != io.EOF {
		return k.Fail("%s", Reason(err))
	}
	fmt.Fprintf(k.Stderr, "%d+0 records in\n%d+0 records out\n", n/max(size, 1), n/max(size, 1))
	return 0
}

func parseSize(text string) int64 {
	unit := int64(1)
	switch {
	case strings.HasSuffix(text, "k"), strings.HasSuffix(text, "K"):
		unit = 1 << 10
	case strings.HasSuffix(text, "M"):
		unit = 1 << 20
	case strings.HasSuffix(text, "G"):
		unit = 1 << 30
	}
	n, _ := strconv.ParseInt(strings.TrimRight(text, "kKMG"), 10, 64)
	return n * unit
}

func which(k *Call) int {
	code := 0
	for _, name := range k.Args {
		found := k.System.Find(name)
		if found == "" {
			code = 1
			continue
		}
		fmt.Fprintln(k.Stdout, found)
	}
	return code
}

func runArgs(k *Call) int {
	if len(k.Args) == 0 {
		return 0
	}
	return k.System.Run(k, k.Environ(), k.Args)
}
