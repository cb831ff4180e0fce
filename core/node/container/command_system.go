package container

import (
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

// systemCommands are about the system, processes and time.
var systemCommands = map[string]func(*call) int{
	"sleep": sleep, "date": date, "env": env, "printenv": printenv, "hostname": hostname, "id": id, "whoami": whoami,
	"uname": uname, "ps": ps, "kill": kill, "which": which, "timeout": timeout, "nproc": nproc, "free": free, "uptime": uptime,
	"clear": nothing, "arch": arch, "stress": stress, "nohup": runArgs, "time": runArgs, "nice": runArgs, "busybox": runArgs, "apt-get": offline, "apk": offline, "apt": offline,
	"dd": dd, "usleep": sleep, "top": top, "tty": ttyCommand,
}

// run runs a command line with this call's streams and environment.
func (k *call) run(argv []string) int {
	child := newSession(k.session.c.withEnv(k.environ()), k.stdout, k.stderr)
	child.stdin = k.stdin
	child.c.cfg.Dir = k.dir
	return child.run(k, argv)
}

func runArgs(k *call) int {
	if len(k.args) == 0 {
		return 0
	}
	return k.run(k.args)
}

// pause waits on the clock, until ctx ends, or until a trapped signal wakes it.
func (k *call) pause(d time.Duration) int {
	timer := k.session.c.cfg.Clock.NewTimer(d)
	defer timer.Stop()
	wake := make(chan struct{})
	s := k.session
	s.mu.Lock()
	s.sleepers[wake] = struct{}{}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.sleepers, wake)
	}()
	select {
	case <-timer.C():
		return 0
	case <-wake:
		return 143
	case <-k.Done():
		return 143
	}
}

func sleep(k *call) int {
	if len(k.args) == 0 {
		return k.fail("missing operand")
	}
	total := time.Duration(0)
	for _, arg := range k.args {
		d, ok := parseSleep(arg)
		if !ok {
			return k.fail("invalid number '%s'", arg)
		}
		if k.name == "usleep" {
			d /= 1e6
		}
		if total += d; total < 0 {
			total = math.MaxInt64
		}
	}
	return k.pause(total)
}

// parseSleep reads what sleep and timeout take: a number with s, m, h or d.
func parseSleep(text string) (time.Duration, bool) {
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

func date(k *call) int {
	f := k.flags("dr")
	now := k.session.c.cfg.Clock.Now().UTC()
	if text, ok := strings.CutPrefix(f.value['d'], "@"); ok {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			now = time.Unix(n, 0).UTC()
		}
	}
	layout := "Mon Jan _2 15:04:05 UTC 2006"
	for _, arg := range f.rest {
		if format, ok := strings.CutPrefix(arg, "+"); ok {
			fmt.Fprintln(k.stdout, strftime(now, format))
			return 0
		}
	}
	if f.on['I'] {
		layout = "2006-01-02"
	}
	if f.on['R'] {
		layout = time.RFC1123Z
	}
	fmt.Fprintln(k.stdout, now.Format(layout))
	return 0
}

var dateVerbs = map[byte]string{'Y': "2006", 'm': "01", 'd': "02", 'H': "15", 'M': "04", 'S': "05", 'T': "15:04:05", 'F': "2006-01-02",
	'y': "06", 'b': "Jan", 'B': "January", 'a': "Mon", 'A': "Monday", 'Z': "UTC", 'z': "-0700", 'I': "03", 'p': "PM", 'e': "_2", 'R': "15:04",
	'D': "01/02/06", 'c': "Mon Jan _2 15:04:05 2006", 'j': "002", 'N': "000000000", 'x': "01/02/06", 'X': "15:04:05"}

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

func env(k *call) int {
	args := k.args
	vars := k.environ()
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
		child := newSession(k.session.c.withEnv(vars), k.stdout, k.stderr)
		child.stdin = k.stdin
		return child.run(k, args)
	}
	// In a stable order: that of a real environment depends on the runtime.
	sort.Strings(vars)
	for _, v := range vars {
		if !strings.HasPrefix(v, "IFS=") {
			fmt.Fprintln(k.stdout, v)
		}
	}
	return 0
}

func printenv(k *call) int {
	if len(k.args) == 0 {
		return env(k)
	}
	code := 0
	for _, name := range k.args {
		v := k.env.Get(name)
		if !v.IsSet() || !v.Exported {
			code = 1
			continue
		}
		fmt.Fprintln(k.stdout, v.String())
	}
	return code
}

func hostname(k *call) int {
	f := k.flags("")
	if f.on['i'] || f.on['I'] {
		fmt.Fprintln(k.stdout, k.session.c.cfg.IP)
		return 0
	}
	fmt.Fprintln(k.stdout, k.session.c.cfg.Hostname)
	return 0
}

func id(k *call) int {
	f := k.flags("")
	uid := k.session.c.cfg.UID
	switch {
	case f.on['u'] && f.on['n'], f.on['g'] && f.on['n']:
		return whoami(k)
	case f.on['u'], f.on['g']:
		fmt.Fprintln(k.stdout, uid)
	case uid == 0:
		fmt.Fprintln(k.stdout, "uid=0(root) gid=0(root) groups=0(root)")
	default:
		fmt.Fprintf(k.stdout, "uid=%d gid=0(root) groups=0(root)\n", uid)
	}
	return 0
}

func whoami(k *call) int {
	if uid := k.session.c.cfg.UID; uid != 0 {
		return k.fail("unknown uid %d", uid)
	}
	fmt.Fprintln(k.stdout, "root")
	return 0
}

func uname(k *call) int {
	f := k.flags("")
	switch {
	case f.on['a']:
		fmt.Fprintf(k.stdout, "Linux %s %s #1 SMP PREEMPT_DYNAMIC x86_64 GNU/Linux\n", k.session.c.cfg.Hostname, KernelVersion)
	case f.on['r']:
		fmt.Fprintln(k.stdout, KernelVersion)
	case f.on['m']:
		fmt.Fprintln(k.stdout, "x86_64")
	case f.on['n']:
		fmt.Fprintln(k.stdout, k.session.c.cfg.Hostname)
	default:
		fmt.Fprintln(k.stdout, "Linux")
	}
	return 0
}

// KernelVersion is what the simulated nodes and their containers say they run.
const KernelVersion = "6.12.0-kubetab"

func arch(k *call) int { fmt.Fprintln(k.stdout, "x86_64"); return 0 }

func nproc(k *call) int { fmt.Fprintln(k.stdout, 4); return 0 }

func ttyCommand(k *call) int {
	if !k.session.tty {
		fmt.Fprintln(k.stdout, "not a tty")
		return 1
	}
	fmt.Fprintln(k.stdout, "/dev/pts/0")
	return 0
}

func ps(k *call) int {
	fmt.Fprintln(k.stdout, "PID   USER     TIME  COMMAND")
	fmt.Fprintf(k.stdout, "    1 root      0:00 %s\n", strings.Join(k.session.c.argv, " "))
	fmt.Fprintf(k.stdout, "%5d root      0:00 %s\n", 7, strings.Join(append([]string{k.name}, k.args...), " "))
	return 0
}

func top(k *call) int { return ps(k) }

func free(k *call) int {
	fmt.Fprintln(k.stdout, "              total        used        free      shared  buff/cache   available")
	fmt.Fprintln(k.stdout, "Mem:        8143860     1200000     5943860        1000     1000000     6700000")
	return 0
}

func uptime(k *call) int {
	c := k.session.c.cfg
	fmt.Fprintf(k.stdout, " %s up %d min,  0 users,  load average: 0.00, 0.00, 0.00\n", c.Clock.Now().UTC().Format("15:04:05"), int(c.Clock.Since(k.session.c.Started).Minutes()))
	return 0
}

// kill sends a signal. Only the container's first process can get one; SIGKILL
// from inside does not reach it, as the kernel has it.
func kill(k *call) int {
	signal := "TERM"
	args := k.args
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		name := strings.TrimPrefix(args[0], "-")
		if name == "s" && len(args) > 1 {
			name, args = args[1], args[1:]
		}
		signal = strings.TrimPrefix(strings.ToUpper(name), "SIG")
		if named, ok := signalNumbers[signal]; ok {
			signal = named
		}
		args = args[1:]
	}
	code := 0
	for _, pid := range args {
		switch {
		case pid == "1" && signal != "KILL" && signal != "0":
			root := k.session.c.root()
			root.Signal(signal)
		case pid == "1":
		default:
			code = k.fail("can't kill pid %s: No such process", pid)
		}
	}
	return code
}

func which(k *call) int {
	code := 0
	for _, name := range k.args {
		if !isTool(name) && !k.session.c.cfg.Image.hasShell(name) {
			code = 1
			continue
		}
		fmt.Fprintln(k.stdout, "/bin/"+name)
	}
	return code
}

func timeout(k *call) int {
	args := k.args
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		if args[0] == "-t" {
			args = args[1:]
			break
		}
		args = args[1:]
	}
	if len(args) < 2 {
		return k.fail("missing operand")
	}
	d, ok := parseSleep(args[0])
	if !ok {
		return k.fail("invalid number '%s'", args[0])
	}
	done := make(chan int, 1)
	child := *k
	ctx, cancel := contextWithCancel(k)
	defer cancel()
	child.Context = ctx
	k.session.c.cfg.Go(func() { done <- child.run(args[1:]) })
	timer := k.session.c.cfg.Clock.NewTimer(d)
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

// stress only takes time; what it would use is reported from the Pod's requests.
func stress(k *call) int {
	fmt.Fprintln(k.stdout, "stress: info: [1] dispatching hogs: 1 cpu, 0 io, 1 vm, 0 hdd")
	f := k.flags("t")
	d := time.Duration(math.MaxInt64)
	if text := f.value['t']; text != "" {
		d, _ = parseSleep(text)
	}
	return k.pause(d)
}

func offline(k *call) int {
	return k.fail("no network: this container is simulated")
}

func dd(k *call) int {
	in, out := "", ""
	size, count := int64(512), int64(-1)
	for _, arg := range k.args {
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
	var r io.Reader = k.stdin
	var w io.Writer = k.stdout
	if in != "" {
		h, err := k.tree.Open(k.path(in), 0, 0)
		if err != nil {
			return k.fail("can't open '%s': %s", in, reason(err))
		}
		r = h
	}
	if out != "" {
		h, err := k.tree.Open(k.path(out), writeFlags, 0o644)
		if err != nil {
			return k.fail("can't open '%s': %s", out, reason(err))
		}
		w = h
	}
	total := size * count
	if count < 0 || total > 64<<20 {
		total = 64 << 20 // more would only fill the memory of this process
	}
	n, err := io.CopyN(w, r, total)
	if err != nil && err != io.EOF {
		return k.fail("%s", reason(err))
	}
	fmt.Fprintf(k.stderr, "%d+0 records in\n%d+0 records out\n", n/max(size, 1), n/max(size, 1))
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
