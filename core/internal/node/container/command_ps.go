package container

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// column is one that ps -o can be asked for.
type column struct {
	header string
	width  int // negative: aligned on the left
	of     func(*call, shown) string
}

// columns are those of ps by the names that they have in -o.
var columns = map[string]column{
	"pid":  {"PID", 7, func(_ *call, p shown) string { return strconv.Itoa(p.number) }},
	"ppid": {"PPID", 7, func(_ *call, p shown) string { return strconv.Itoa(p.parent) }},
	"user": {"USER", -8, owner}, "ruser": {"RUSER", -8, owner}, "uname": {"USER", -8, owner}, "euser": {"EUSER", -8, owner},
	"uid": {"UID", 5, func(_ *call, p shown) string { return strconv.FormatInt(p.user.UID, 10) }},
	"gid": {"GID", 5, func(_ *call, p shown) string { return strconv.FormatInt(p.user.GID, 10) }},
	"group": {"GROUP", -8, func(k *call, p shown) string {
		if name, ok := k.GroupName(p.user.GID); ok {
			return name
		}
		return strconv.FormatInt(p.user.GID, 10)
	}},
	"tty": {"TT", -8, terminalOf}, "tt": {"TT", -8, terminalOf},
	"stat": {"STAT", -4, state}, "state": {"S", -1, state}, "s": {"S", -1, state},
	"time": {"TIME", 8, func(*call, shown) string { return "00:00:00" }},
	"etime": {"ELAPSED", 11, func(k *call, p shown) string {
		d := k.session.c.cfg.Clock.Since(p.began)
		if d >= time.Hour {
			return fmt.Sprintf("%02d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
		}
		return fmt.Sprintf("%02d:%02d", int(d.Minutes()), int(d.Seconds())%60)
	}},
	"start": {"STARTED", 8, func(_ *call, p shown) string { return p.began.UTC().Format("15:04:05") }},
	"stime": {"STIME", 5, func(_ *call, p shown) string { return p.began.UTC().Format("15:04") }},
	"pcpu":  {"%CPU", 4, func(*call, shown) string { return "0.0" }}, "%cpu": {"%CPU", 4, func(*call, shown) string { return "0.0" }},
	"pmem": {"%MEM", 4, func(*call, shown) string { return "0.0" }}, "%mem": {"%MEM", 4, func(*call, shown) string { return "0.0" }},
	"vsz":  {"VSZ", 6, func(_ *call, p shown) string { return strconv.Itoa(p.resident() + 1024) }},
	"rss":  {"RSS", 5, func(_ *call, p shown) string { return strconv.Itoa(p.resident()) }},
	"comm": {"COMMAND", -15, func(_ *call, p shown) string { return p.name() }},
	"args": {"COMMAND", -27, commandOf}, "command": {"COMMAND", -27, commandOf}, "cmd": {"CMD", -27, commandOf},
	"label": {"LABEL", -31, func(*call, shown) string { return "unconfined" }},
}

func owner(k *call, p shown) string {
	if name, ok := k.UserName(p.user.UID); ok {
		return name
	}
	return strconv.FormatInt(p.user.UID, 10)
}

func terminalOf(_ *call, p shown) string {
	if p.tty {
		return "pts/0"
	}
	return "?"
}

func state(_ *call, p shown) string {
	switch {
	case p.self:
		return "R"
	case p.parent == 0:
		return "Ss"
	}
	return "S"
}

func commandOf(_ *call, p shown) string { return p.text() }

// resident is how many kB a process is said to take: always the same of a name.
func (p shown) resident() int { return 960 + int(hashOf(p.name())%2000) }

// ps lists the processes, as busybox does or, in images of Debian, as procps.
func ps(k *call) int {
	var words []string // of -o
	var only []string  // numbers, of -p
	letters, full := "", false
	for i := 0; i < len(k.Args); i++ {
		arg := k.Args[i]
		if name, ok := strings.CutPrefix(arg, "-"); ok && len(name) > 0 && (name[0] == 'o' || name[0] == 'p') || arg == "o" || arg == "p" {
			name = strings.TrimPrefix(arg, "-")
			value := name[1:]
			if value == "" && i+1 < len(k.Args) {
				i++
				value = k.Args[i]
			}
			if name[0] == 'o' {
				words = append(words, strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })...)
			} else {
				only = append(only, strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' })...)
			}
			continue
		}
		full = full || strings.HasPrefix(arg, "-") && strings.Contains(arg, "f")
		letters += strings.TrimLeft(arg, "-")
	}
	all := k.sees()
	if only != nil {
		all = slices.DeleteFunc(all, func(p shown) bool { return !slices.Contains(only, strconv.Itoa(p.number)) })
	}
	switch {
	case words != nil:
		return psColumns(k, all, words)
	case !k.session.c.cfg.Image.Bash:
		fmt.Fprintln(k.Stdout, "PID   USER     TIME  COMMAND")
		for _, p := range all {
			fmt.Fprintf(k.Stdout, "%5d %-8.8s  0:00 %s\n", p.number, owner(k, p), p.text())
		}
	case full:
		fmt.Fprintln(k.Stdout, "UID          PID    PPID  C STIME TTY          TIME CMD")
		for _, p := range all {
			fmt.Fprintf(k.Stdout, "%-8.8s %7d %7d  0 %s %-8s 00:00:00 %s\n", owner(k, p), p.number, p.parent, p.began.UTC().Format("15:04"), terminalOf(k, p), p.text())
		}
	case strings.Contains(letters, "u"):
		fmt.Fprintln(k.Stdout, "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND")
		for _, p := range all {
			fmt.Fprintf(k.Stdout, "%-8.8s %7d  0.0  0.0 %6d %5d %-8s %-4s %s   0:00 %s\n", owner(k, p), p.number, p.resident()+1024, p.resident(), terminalOf(k, p), state(k, p), p.began.UTC().Format("15:04"), p.text())
		}
	case strings.ContainsAny(letters, "x"):
		fmt.Fprintln(k.Stdout, "    PID TTY      STAT   TIME COMMAND")
		for _, p := range all {
			fmt.Fprintf(k.Stdout, "%7d %-8s %-4s   0:00 %s\n", p.number, terminalOf(k, p), state(k, p), p.text())
		}
	default:
		fmt.Fprintln(k.Stdout, "    PID TTY          TIME CMD")
		for _, p := range all {
			if strings.ContainsAny(letters, "eA") || only != nil || p.tty == (k.session.tty != nil) {
				fmt.Fprintf(k.Stdout, "%7d %-8s 00:00:00 %s\n", p.number, terminalOf(k, p), p.name())
			}
		}
	}
	if only != nil && len(all) == 0 {
		return 1
	}
	return 0
}

// psColumns lists what -o names.
func psColumns(k *call, all []shown, words []string) int {
	var shows []column
	titled := false
	for _, word := range words {
		name, header, renamed := strings.Cut(word, "=")
		c, ok := columns[strings.ToLower(name)]
		if !ok {
			return k.Fail("error: unknown user-defined format specifier \"%s\"", name)
		}
		if renamed {
			c.header = header
		}
		titled = titled || c.header != ""
		shows = append(shows, c)
	}
	line := func(text func(column) string) {
		var cells []string
		for i, c := range shows {
			width := c.width
			if i == len(shows)-1 && width < 0 {
				width = 0 // nothing comes after it
			}
			cells = append(cells, fmt.Sprintf("%*s", width, text(c)))
		}
		fmt.Fprintln(k.Stdout, strings.Join(cells, " "))
	}
	if titled {
		line(func(c column) string { return c.header })
	}
	for _, p := range all {
		line(func(c column) string { return c.of(k, p) })
	}
	return 0
}

// top prints what runs: once, or as often as -n says.
func top(k *call) int {
	f := k.Flags("nd")
	times := 1
	if n, err := strconv.Atoi(f.Value['n']); err == nil {
		times = n
	}
	pause := 5 * time.Second
	if seconds, err := strconv.ParseFloat(f.Value['d'], 64); err == nil && seconds >= 0 && seconds < 1e6 {
		pause = time.Duration(seconds * float64(time.Second))
	}
	for i := range times {
		if i > 0 && k.session.Pause(k.Call, pause) != 0 {
			return 143
		}
		if k.session.c.cfg.Image.Bash {
			topTable(k)
		} else {
			topBusybox(k)
		}
	}
	return 0
}

func topTable(k *call) {
	all, c := k.sees(), k.session.c.cfg
	fmt.Fprintf(k.Stdout, `top - %s up %d min,  0 users,  load average: 0.00, 0.00, 0.00
Tasks: %3d total,   1 running, %3d sleeping,   0 stopped,   0 zombie
%%Cpu(s):  0.0 us,  0.0 sy,  0.0 ni,100.0 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st
MiB Mem :   7953.0 total,   5804.6 free,   1171.9 used,    976.6 buff/cache
MiB Swap:      0.0 total,      0.0 free,      0.0 used.   6542.9 avail Mem

    PID USER      PR  NI    VIRT    RES    SHR S  %%CPU  %%MEM     TIME+ COMMAND
`, c.Clock.Now().UTC().Format("15:04:05"), int(c.Clock.Since(k.session.c.Started).Minutes()), len(all), len(all)-1)
	for _, p := range all {
		fmt.Fprintf(k.Stdout, "%7d %-8.8s  20   0 %7d %6d %6d %s   0.0   0.0   0:00.00 %s\n", p.number, owner(k, p), p.resident()+1024, p.resident(), p.resident()/2, state(k, p)[:1], p.name())
	}
}

func topBusybox(k *call) {
	all := k.sees()
	last := all[len(all)-1].number
	fmt.Fprintf(k.Stdout, `Mem: 2200000K used, 5943860K free, 1000K shrd, 0K buff, 1000000K cached
CPU:   0%% usr   0%% sys   0%% nic 100%% idle   0%% io   0%% irq   0%% sirq
Load average: 0.00 0.00 0.00 1/%d %d
  PID  PPID USER     STAT   VSZ %%VSZ CPU %%CPU COMMAND
`, len(all), last)
	for _, p := range all {
		fmt.Fprintf(k.Stdout, "%5d %5d %-8.8s %-4s %5d   0%%   0   0%% %s\n", p.number, p.parent, owner(k, p), state(k, p)[:1], p.resident()+1024, p.text())
	}
}
