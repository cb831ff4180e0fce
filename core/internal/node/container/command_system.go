package container

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/kubetab/kubetab/internal/unix/awk"
	"github.com/kubetab/kubetab/internal/unix/bash"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
	"github.com/kubetab/kubetab/internal/unix/terminal"
)

// systemCommands are about the system, processes and time.
var systemCommands = map[string]func(*call) int{
	"hostname": hostname, "id": id, "whoami": whoami,
	"uname": uname, "ps": ps, "kill": kill, "jobs": jobs, "nproc": nproc, "free": free, "uptime": uptime,
	"clear": clearScreen, "arch": arch, "stress": stress, "busybox": busybox, "apt-get": offline, "apk": offline, "apt": offline,
	"awk": func(k *call) int { return awk.Command(k.Call) },
	"top": top, "tty": ttyCommand, "stty": stty,
}

func nothing(*call) int { return 0 }

// clearScreen puts the cursor home and erases the screen.
func clearScreen(k *call) int { fmt.Fprint(k.Stdout, "\x1b[H\x1b[J"); return 0 }

// busybox runs the applet that its first argument names.
func busybox(k *call) int {
	if len(k.Args) == 0 {
		return 0
	}
	return k.session.Run(k.Call, k.Environ(), k.Args)
}

func hostname(k *call) int {
	f := k.Flags("")
	if f.On['i'] || f.On['I'] {
		fmt.Fprintln(k.Stdout, k.session.c.cfg.IP)
		return 0
	}
	fmt.Fprintln(k.Stdout, k.session.c.cfg.Hostname)
	return 0
}

func id(k *call) int {
	f := k.Flags("")
	uid := k.session.c.cfg.UID
	switch {
	case f.On['u'] && f.On['n'], f.On['g'] && f.On['n']:
		return whoami(k)
	case f.On['u'], f.On['g']:
		fmt.Fprintln(k.Stdout, uid)
	case uid == 0:
		fmt.Fprintln(k.Stdout, "uid=0(root) gid=0(root) groups=0(root)")
	default:
		fmt.Fprintf(k.Stdout, "uid=%d gid=0(root) groups=0(root)\n", uid)
	}
	return 0
}

func whoami(k *call) int {
	if uid := k.session.c.cfg.UID; uid != 0 {
		return k.Fail("unknown uid %d", uid)
	}
	fmt.Fprintln(k.Stdout, "root")
	return 0
}

func uname(k *call) int {
	f := k.Flags("")
	switch {
	case f.On['a']:
		fmt.Fprintf(k.Stdout, "Linux %s %s #1 SMP PREEMPT_DYNAMIC x86_64 GNU/Linux\n", k.session.c.cfg.Hostname, KernelVersion)
	case f.On['r']:
		fmt.Fprintln(k.Stdout, KernelVersion)
	case f.On['m']:
		fmt.Fprintln(k.Stdout, "x86_64")
	case f.On['n']:
		fmt.Fprintln(k.Stdout, k.session.c.cfg.Hostname)
	default:
		fmt.Fprintln(k.Stdout, "Linux")
	}
	return 0
}

// KernelVersion is what the simulated nodes and their containers say they run.
const KernelVersion = "6.12.0-kubetab"

func arch(k *call) int { fmt.Fprintln(k.Stdout, "x86_64"); return 0 }

func nproc(k *call) int { fmt.Fprintln(k.Stdout, 4); return 0 }

func ttyCommand(k *call) int {
	if _, typed := k.Stdin.(*terminal.Input); !typed {
		fmt.Fprintln(k.Stdout, "not a tty")
		return 1
	}
	fmt.Fprintln(k.Stdout, "/dev/pts/0")
	return 0
}

// stty tells the size of the terminal.
func stty(k *call) int {
	at, typed := k.Stdin.(*terminal.Input)
	if !typed {
		return k.Fail("standard input: Not a tty")
	}
	columns, rows := at.TTY().Size()
	switch {
	case len(k.Args) == 0:
		fmt.Fprintln(k.Stdout, "speed 38400 baud; line = 0;")
	case len(k.Args) == 1 && k.Args[0] == "size":
		fmt.Fprintln(k.Stdout, rows, columns)
	default:
		return k.Fail("invalid argument '%s'", k.Args[len(k.Args)-1])
	}
	return 0
}

// shownProcess is the number of a process that is not in the background. The others come after it.
const shownProcess = 7

func ps(k *call) int {
	line := func(number int, command string) {
		fmt.Fprintf(k.Stdout, "%5d root      0:00 %s\n", number, command)
	}
	fmt.Fprintln(k.Stdout, "PID   USER     TIME  COMMAND")
	line(1, strings.Join(k.session.c.argv, " "))
	line(shownProcess, strings.Join(append([]string{k.Name}, k.Args...), " "))
	for _, job := range k.session.c.root().processes.Running() {
		line(job.Process, job.Text)
	}
	return 0
}

// jobs lists what the shell has put into the background.
func jobs(k *call) int {
	k.session.jobs.Show(k.Stdout, k.Args)
	return 0
}

func top(k *call) int { return ps(k) }

func free(k *call) int {
	fmt.Fprintln(k.Stdout, "              total        used        free      shared  buff/cache   available")
	fmt.Fprintln(k.Stdout, "Mem:        8143860     1200000     5943860        1000     1000000     6700000")
	return 0
}

func uptime(k *call) int {
	c := k.session.c.cfg
	fmt.Fprintf(k.Stdout, " %s up %d min,  0 users,  load average: 0.00, 0.00, 0.00\n", c.Clock.Now().UTC().Format("15:04:05"), int(c.Clock.Since(k.session.c.Started).Minutes()))
	return 0
}

// kill sends a signal: to the container's first process, which SIGKILL from inside does not reach, as the kernel has it,
// and to what shells have in the background.
func kill(k *call) int {
	signal, words, err := bash.ParseKill(k.Args)
	if err != nil {
		return k.Fail("%v", err)
	}
	if signal == "l" {
		fmt.Fprintln(k.Stdout, strings.Join(bash.SignalNames(), " "))
		return 0
	}
	code, root := 0, k.session.c.root()
	for _, word := range words {
		if word == "1" {
			if signal != "KILL" && signal != "0" {
				root.Signal(signal)
			}
			continue
		}
		if !k.session.jobs.Kill(word, signal) {
			code = k.Fail("can't kill pid %s: No such process", word)
		}
	}
	return code
}

// stress only takes time; what it would use is reported from the Pod's requests.
func stress(k *call) int {
	fmt.Fprintln(k.Stdout, "stress: info: [1] dispatching hogs: 1 cpu, 0 io, 1 vm, 0 hdd")
	f := k.Flags("t")
	d := time.Duration(math.MaxInt64)
	if text := f.Value['t']; text != "" {
		d, _ = coreutils.ParseDuration(text)
	}
	return k.session.Pause(k.Call, d)
}

func offline(k *call) int {
	return k.Fail("no network: this container is simulated")
}
