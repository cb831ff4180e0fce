package shell

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"mvdan.cc/sh/v3/expand"

	"github.com/kubetab/kubetab/core/shell/kubectl"
	"github.com/kubetab/kubetab/internal/unix/awk"
	"github.com/kubetab/kubetab/internal/unix/bash"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
	"github.com/kubetab/kubetab/internal/unix/openssl"
	tty "github.com/kubetab/kubetab/internal/unix/terminal"
)

// programs are those that coreutils has not.
var programs map[string]func(*session, *coreutils.Call) int

func init() {
	// Assigned here because programs run programs.
	programs = map[string]func(*session, *coreutils.Call) int{
		"kubectl": (*session).kubectl, "jq": jq, "awk": func(_ *session, c *coreutils.Call) int { return awk.Command(c) }, "diff": diff,
		"openssl": func(_ *session, c *coreutils.Call) int { return openssl.Command(c) }, "watch": (*session).watch, "history": (*session).showHistory,
		"clear": (*session).clear, "help": help, "bash": (*session).bash, "sh": (*session).bash,
		"vi": (*session).editFile, "vim": (*session).editFile, "nano": (*session).editFile, "edit": (*session).editFile,
		"node":   (*session).node,
		"whoami": whoami, "hostname": hostname, "uname": uname, "id": id,
		"jobs": (*session).listJobs, "fg": (*session).foreground, "bg": (*session).resume, "kill": (*session).kill, "pkill": (*session).pkill, "pgrep": (*session).pkill, "killall": (*session).pkill,
		bash.Spool: (*session).spool,
	}
}

// kubectl runs upstream's, see package kubectl.
func (k *session) kubectl(c *coreutils.Call) int {
	args := c.Args
	if name := k.contextName(); name != "" {
		args = append([]string{"--context=" + name}, args...)
	}
	env := map[string]string{}
	for _, v := range c.Environ() {
		name, value, _ := strings.Cut(v, "=")
		env[name] = value
	}
	env["KUBE_EDITOR"] = k.editor(cmp.Or(env["KUBE_EDITOR"], env["EDITOR"]))
	find := func(name string) string { return k.onPath(c.Env, c.Dir, name) }
	file, rest, err := kubectl.Plugin(c.Args, find)
	if err != nil {
		fmt.Fprintln(c.Stderr, "Error:", err)
		return 1
	}
	if file != "" {
		run := *c
		// As upstream's pluginEnvironment has it, but for the kubectl of this shell.
		run.Env = expand.ListEnviron(append(c.Environ(), "KUBECTL_PATH="+k.Find(c.Env, c.Dir, "kubectl"))...)
		return k.script(&run, file, file, rest)
	}
	defer asking(c)()
	return k.shell.cluster.Run(context.WithValue(c, terminalKey{}, k.id), kubectl.Command{Args: args, Dir: c.Dir, Env: env, In: c.Stdin, Out: c.Stdout, Err: c.Stderr})
}

// bash runs -c and files; a shell within the shell would add nothing.
func (k *session) bash(c *coreutils.Call) int {
	switch {
	case len(c.Args) > 0 && c.Args[0] == "--version":
		bash.Version(c.Stdout)
		return 0
	case len(c.Args) > 1 && c.Args[0] == "-c":
		var params []string
		zero := c.Name
		if len(c.Args) > 2 {
			zero, params = c.Args[2], c.Args[3:]
		}
		return k.sub(c, c.Args[1], zero, c.Environ(), params)
	case len(c.Args) > 0 && !strings.HasPrefix(c.Args[0], "-"):
		return k.commands(c, c.Path(c.Args[0]), c.Args[0], c.Args[1:])
	}
	return c.Fail("this shell runs %s -c COMMAND and %s FILE", c.Name, c.Name)
}

// watch is coreutils.Watch.
func (k *session) watch(c *coreutils.Call) int {
	var at *tty.TTY
	if screen, ok := c.Stdout.(*tty.Output); ok {
		at = screen.TTY()
	}
	return coreutils.Watch(c, at, func(c *coreutils.Call, line string) { k.sub(c, line, "watch", c.Environ(), nil) })
}

func (k *session) clear(c *coreutils.Call) int {
	if screen, ok := c.Stdout.(*tty.Output); ok {
		_, _ = screen.TTY().Write([]byte("\x1b[H\x1b[2J\x1b[3J")) // fails when nobody looks any more
	}
	return 0
}

func (k *session) showHistory(c *coreutils.Call) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(c.Args) > 0 && c.Args[0] == "-c" {
		k.history = nil
		return 0
	}
	lines := k.history
	first := 1
	if len(c.Args) > 0 {
		if n, err := strconv.Atoi(c.Args[0]); err == nil && n >= 0 && n < len(lines) {
			first += len(lines) - n
			lines = lines[len(lines)-n:]
		}
	}
	for i, line := range lines {
		fmt.Fprintf(c.Stdout, "%5d  %s\n", first+i, line)
	}
	return 0
}

func help(_ *session, c *coreutils.Call) int {
	names := slices.Collect(coreutils.Names())
	names = append(names, slices.Collect(maps.Keys(programs))...)
	slices.Sort(names)
	fmt.Fprintf(c.Stdout, `kubectl (k) talks to the API server in this tab: kubectl get nodes, kubectl explain pod.spec
curl does, too: curl -k https://127.0.0.1:6443/api/v1/namespaces
node FILE runs a script of yours, whose fetch('/api/v1/namespaces') does

Pipes, redirects, variables, loops and here-documents work as in bash. Tab completes commands, resources, names
and files; Ctrl-R searches the history; Ctrl-C ends what runs. A command with & behind it runs in the background:
jobs, fg, wait and kill %%1 find it. Nothing can be stopped with Ctrl-Z.

Programs: %s
`, strings.Join(slices.Compact(names), " "))
	return 0
}

func whoami(_ *session, c *coreutils.Call) int   { fmt.Fprintln(c.Stdout, "kubetab"); return 0 }
func hostname(_ *session, c *coreutils.Call) int { fmt.Fprintln(c.Stdout, "kubetab"); return 0 }
func uname(_ *session, c *coreutils.Call) int    { return coreutils.Uname(c, "kubetab") }

func id(_ *session, c *coreutils.Call) int {
	fmt.Fprintln(c.Stdout, "uid=1000(kubetab) gid=1000(kubetab) groups=1000(kubetab)")
	return 0
}
