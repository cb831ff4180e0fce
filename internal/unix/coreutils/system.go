package coreutils

import (
	"fmt"
	"math"
	"os"
	"slices"
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
		return k.misuse("missing operand")
	}
	total := time.Duration(0)
	for _, arg := range k.Args {
		d, ok := ParseDuration(arg)
		if !ok {
			return k.refuse("invalid time interval ‘%s’\nTry '"+k.Name+" --help' for more information.", "invalid number '%s'", arg)
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
	given := *k
	given.Args = slices.Clone(k.Args)
	for i, arg := range given.Args {
		if precision, ok := strings.CutPrefix(arg, "-I"); ok { // whose value is in the same word
			given.Args[i] = "--iso-8601=" + precision
		}
	}
	f := given.Flags("dr")
	now := k.System.Clock().Now().UTC()
	text, dated := f.Long["date"]
	if f.On['d'] {
		text, dated = f.Value['d'], true
	}
	if dated {
		when, ok := parseDate(text, now)
		if !ok {
			return k.refuse("invalid date ‘%s’", "invalid date '%s'", text)
		}
		now = when
	}
	if f.On['r'] {
		i, err := k.Files.Stat(k.Path(f.Value['r']), true)
		if err != nil {
			return k.Fail("%s: %s", f.Value['r'], Reason(err))
		}
		now = i.ModTime().UTC()
	}
	layout := "Mon Jan _2 15:04:05 UTC 2006"
	for _, arg := range f.Rest {
		if format, ok := strings.CutPrefix(arg, "+"); ok {
			fmt.Fprintln(k.Stdout, Strftime(now, format))
			return 0
		}
	}
	precision, iso := f.Long["iso-8601"]
	if iso {
		layout = "2006-01-02"
		if strings.HasPrefix(precision, "s") {
			layout = "2006-01-02T15:04:05-07:00"
		}
	}
	if f.On['R'] {
		layout = time.RFC1123Z
	}
	fmt.Fprintln(k.Stdout, now.Format(layout))
	return 0
}

// KernelVersion is what simulated machines say they run.
const KernelVersion = "6.12.0-kubetab"

// Uname is the program uname on a simulated machine of that name.
func Uname(k *Call, hostname string) int {
	parts := []struct {
		letter      byte
		name, value string
	}{
		{'s', "kernel-name", "Linux"}, {'n', "nodename", hostname}, {'r', "kernel-release", KernelVersion}, {'v', "kernel-version", "#1 SMP PREEMPT_DYNAMIC"},
		{'m', "machine", "x86_64"}, {'p', "processor", "unknown"}, {'i', "hardware-platform", "unknown"}, {'o', "operating-system", "GNU/Linux"},
	}
	f := k.Flags("")
	if len(f.Rest) > 0 {
		return k.Fail("extra operand '%s'", f.Rest[0])
	}
	_, all := f.Long["all"]
	all = all || f.On['a']
	var shown []string
	for _, part := range parts {
		_, asked := f.Long[part.name]
		asked = asked || f.On[part.letter]
		delete(f.On, part.letter)
		delete(f.Long, part.name)
		if asked || all && part.value != "unknown" {
			shown = append(shown, part.value)
		}
	}
	delete(f.On, 'a')
	delete(f.Long, "all")
	for letter := range f.On {
		return k.Fail("invalid option -- '%c'", letter)
	}
	for name := range f.Long {
		return k.Fail("unrecognized option '--%s'", name)
	}
	if shown == nil {
		shown = []string{parts[0].value}
	}
	fmt.Fprintln(k.Stdout, strings.Join(shown, " "))
	return 0
}

// Strftime formats a time as strftime(3) does, with what GNU adds: the flags -, _, 0 and ^ behind %, and the digits of %3N.
func Strftime(t time.Time, format string) string {
	var b strings.Builder
	for i := 0; i < len(format); i++ {
		if format[i] != '%' {
			b.WriteByte(format[i])
			continue
		}
		start := i
		for i++; i < len(format) && strings.IndexByte("-_0^:123456789E", format[i]) >= 0; i++ {
		}
		if i == len(format) {
			b.WriteString(format[start:])
			break
		}
		flags := format[start+1 : i]
		text, ok := dateField(t, format[i], flags)
		if !ok {
			b.WriteString(format[start : i+1])
			continue
		}
		switch trimmed := strings.TrimLeft(text, "0 "); {
		case strings.HasPrefix(flags, "-") && trimmed == "" && text != "":
			text = "0"
		case strings.HasPrefix(flags, "-"):
			text = trimmed
		case strings.HasPrefix(flags, "_"):
			text = fmt.Sprintf("%*s", len(text), trimmed)
		case strings.HasPrefix(flags, "0"):
			text = strings.ReplaceAll(text, " ", "0")
		case strings.HasPrefix(flags, "^"):
			text = strings.ToUpper(text)
		}
		b.WriteString(text)
	}
	return b.String()
}

func dateField(t time.Time, verb byte, flags string) (text string, ok bool) {
	isoYear, isoWeek := t.ISOWeek()
	weekday := int(t.Weekday())
	switch verb {
	case 's':
		return strconv.FormatInt(t.Unix(), 10), true
	case 'N':
		nanos := fmt.Sprintf("%09d", t.Nanosecond())
		if digits, err := strconv.Atoi(flags); err == nil && digits < len(nanos) {
			nanos = nanos[:digits]
		}
		return nanos, true
	case '%':
		return "%", true
	case 'n':
		return "\n", true
	case 't':
		return "\t", true
	case 'u':
		return strconv.Itoa((weekday+6)%7 + 1), true
	case 'w':
		return strconv.Itoa(weekday), true
	case 'V':
		return fmt.Sprintf("%02d", isoWeek), true
	case 'G':
		return strconv.Itoa(isoYear), true
	case 'g':
		return fmt.Sprintf("%02d", isoYear%100), true
	case 'U':
		return fmt.Sprintf("%02d", (t.YearDay()+6-weekday)/7), true
	case 'W':
		return fmt.Sprintf("%02d", (t.YearDay()+6-(weekday+6)%7)/7), true
	case 'C':
		return fmt.Sprintf("%02d", t.Year()/100), true
	case 'k':
		return fmt.Sprintf("%2d", t.Hour()), true
	case 'l':
		return fmt.Sprintf("%2d", (t.Hour()+11)%12+1), true
	case 'q':
		return strconv.Itoa((int(t.Month())-1)/3 + 1), true
	case 'z':
		if strings.Contains(flags, ":") {
			return t.Format("-07:00"), true
		}
	}
	layout, ok := dateVerbs[verb]
	return t.Format(layout), ok
}

var dateVerbs = map[byte]string{'Y': "2006", 'm': "01", 'd': "02", 'H': "15", 'M': "04", 'S': "05", 'T': "15:04:05", 'F': "2006-01-02",
	'y': "06", 'b': "Jan", 'B': "January", 'a': "Mon", 'A': "Monday", 'Z': "UTC", 'z': "-0700", 'I': "03", 'p': "PM", 'e': "_2", 'R': "15:04",
	'D': "01/02/06", 'c': "Mon Jan _2 15:04:05 2006", 'j': "002", 'h': "Jan", 'P': "pm", 'r': "03:04:05 PM", 'x': "01/02/06", 'X': "15:04:05"}

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

func which(k *Call) int {
	code := 0
	for _, name := range k.Flags("").Rest {
		found := k.System.Find(k.Env, k.Dir, name)
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
