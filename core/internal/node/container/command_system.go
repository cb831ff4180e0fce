package container

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/kubetab/kubetab/internal/unix/awk"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
	"github.com/kubetab/kubetab/internal/unix/openssl"
	"github.com/kubetab/kubetab/internal/unix/terminal"
)

// systemCommands are about the system, processes and time.
var systemCommands = map[string]func(*call) int{
	"hostname": hostname, "id": id, "date": date, "whoami": whoami, "groups": groups, "watch": watch,
	"uname": uname, "jobs": jobs, "nproc": nproc, "free": free, "uptime": uptime,
	"clear": clearScreen, "arch": arch, "stress": stress, "busybox": busybox, "apt-get": packager, "apk": packager, "apt": packager,
	"awk":     func(k *call) int { return awk.Command(k.Call) },
	"openssl": func(k *call) int { return openssl.Command(k.Call) },
	"chroot":  chroot, "sysctl": sysctl,
	"mount": mount, "df": df, "tty": ttyCommand, "stty": stty,
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
	name := k.session.c.cfg.Hostname
	hosts, _ := k.Files.ReadFile("/etc/hosts") // without it there is no other name
	domain := domainIn(string(hosts), name)
	switch {
	case f.On['f']:
		name += domain
	case f.On['d']:
		name = strings.TrimPrefix(domain, ".")
	}
	fmt.Fprintln(k.Stdout, name)
	return 0
}

// id tells who runs the command, or who has a name, as busybox does and in images of Debian that of GNU.
func id(k *call) int {
	f := k.Flags("")
	gnu := k.Userland == coreutils.GNU
	u := k.session.c.cfg.User
	if len(f.Rest) > 0 {
		var ok bool
		switch u, ok = k.userNamed(f.Rest[0]); {
		case !ok && gnu:
			return k.Fail("'%s': no such user", f.Rest[0])
		case !ok:
			return k.Fail("unknown user %s", f.Rest[0])
		}
	}
	number := func(n int64, name func(int64) (string, bool)) string {
		text := strconv.FormatInt(n, 10)
		if called, ok := name(n); f.On['n'] && ok {
			return called
		}
		return text
	}
	named := func(n int64, name func(int64) (string, bool)) string {
		text := strconv.FormatInt(n, 10)
		if called, ok := name(n); ok {
			text += "(" + called + ")"
		}
		return text
	}
	groups := u.kernelGroups()
	if gnu || f.On['G'] { // its own group first
		groups = append([]int64{u.GID}, slices.DeleteFunc(groups, func(gid int64) bool { return gid == u.GID })...)
	}
	switch {
	case f.On['u']:
		fmt.Fprintln(k.Stdout, number(u.UID, k.UserName))
	case f.On['g']:
		fmt.Fprintln(k.Stdout, number(u.GID, k.GroupName))
	case f.On['G']:
		texts := make([]string, len(groups))
		for i, g := range groups {
			texts[i] = number(g, k.GroupName)
		}
		fmt.Fprintln(k.Stdout, strings.Join(texts, " "))
	default:
		texts := make([]string, len(groups))
		for i, g := range groups {
			texts[i] = named(g, k.GroupName)
		}
		fmt.Fprintf(k.Stdout, "uid=%s gid=%s groups=%s\n", named(u.UID, k.UserName), named(u.GID, k.GroupName), strings.Join(texts, ","))
	}
	return 0
}

// userNamed returns a user of /etc/passwd, with the groups that /etc/group says.
func (k *call) userNamed(name string) (User, bool) {
	users, err := k.Files.ReadFile("/etc/passwd")
	if err != nil {
		return User{}, false
	}
	a, ok := accountIn(string(users), func(a account) bool { return a.name == name })
	groups, _ := k.Files.ReadFile("/etc/group") // without it, nobody is in more groups than his own
	return User{UID: a.uid, GID: a.gid, Groups: groupsOf(string(groups), name)}, ok
}

// watch is coreutils.Watch.
func watch(k *call) int {
	return coreutils.Watch(k.Call, k.session.tty, func(c *coreutils.Call, line string) { k.session.Run(c, c.Environ(), []string{"sh", "-c", line}) })
}

func whoami(k *call) int {
	uid := k.session.c.cfg.User.UID
	name, ok := k.UserName(uid)
	if !ok {
		return k.Fail("unknown uid %d", uid)
	}
	fmt.Fprintln(k.Stdout, name)
	return 0
}

func uname(k *call) int { return coreutils.Uname(k.Call, k.session.c.cfg.Hostname) }

func arch(k *call) int { fmt.Fprintln(k.Stdout, "x86_64"); return 0 }

func nproc(k *call) int { fmt.Fprintln(k.Stdout, processors); return 0 }

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

// shownProcess is the number after which those of processes begin that are not the
// first one.
const shownProcess = 7

// jobs lists what the shell has put into the background.
func jobs(k *call) int {
	k.session.jobs.Show(k.Stdout, k.Args)
	return 0
}

// free shows the memory of the node, in kilobytes unless an option says otherwise.
func free(k *call) int {
	f := k.Flags("sc")
	show := func(kilobytes int64) string { return strconv.FormatInt(kilobytes, 10) }
	for letter, shift := range map[byte]int{'b': -10, 'm': 10, 'g': 20} {
		if !f.On[letter] {
			continue
		}
		show = func(kilobytes int64) string {
			if shift < 0 {
				return strconv.FormatInt(kilobytes<<-shift, 10)
			}
			return strconv.FormatInt(kilobytes>>shift, 10)
		}
	}
	if f.On['h'] {
		show = func(kilobytes int64) string { return coreutils.Human(kilobytes << 10) }
	}
	row := func(title string, values ...int64) {
		line := fmt.Sprintf("%-7s", title)
		for _, value := range values {
			line += fmt.Sprintf(" %11s", show(value))
		}
		fmt.Fprintln(k.Stdout, line)
	}
	fmt.Fprintln(k.Stdout, "              total        used        free      shared  buff/cache   available")
	row("Mem:", 8143860, 1200000, 5943860, 1000, 1000000, 6700000)
	row("Swap:", 0, 0, 0)
	return 0
}

func uptime(k *call) int {
	c := k.session.c.cfg
	fmt.Fprintf(k.Stdout, " %s up %d min,  0 users,  load average: 0.00, 0.00, 0.00\n", c.Clock.Now().UTC().Format("15:04:05"), int(c.Clock.Since(k.session.c.Started).Minutes()))
	return 0
}
