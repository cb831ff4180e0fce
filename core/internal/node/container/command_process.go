package container

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/kubetab/kubetab/internal/unix/bash"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// processCommands show processes and send them signals.
var processCommands = map[string]func(*call) int{
	"ps": ps, "top": top, "kill": kill, "killall": pkill, "pgrep": pkill, "pkill": pkill, "pidof": pidof,
}

// sees are the processes that the call sees.
func (k *call) sees() []shown { return k.session.c.shows(k.process) }

// kill sends a signal: to the container's first process, which SIGKILL from inside does not reach, as the kernel has it,
// and to what else runs in it.
func kill(k *call) int {
	s := k.session
	isBash := s.zero != "" && s.dialect == bash.Bash
	signal, words, err := bash.ParseKill(k.Args)
	if err != nil && isBash {
		return s.refuse(k, "kill: %v", err)
	} else if err != nil {
		name, _, _ := strings.Cut(err.Error(), ":")
		return s.refuse(k, "bad signal name '%s'", name)
	}
	if signal == "l" {
		fmt.Fprintln(k.Stdout, strings.Join(coreutils.SignalNames(), " "))
		return 0
	}
	if len(words) == 0 && isBash {
		fmt.Fprintln(k.Stderr, "kill: usage: kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]")
		return 2
	} else if len(words) == 0 {
		return s.refuse(k, "you need to specify whom to kill")
	}
	code := 0
	for _, word := range words {
		switch {
		case s.jobs.Kill(word, signal) || k.killNumber(word, signal):
		case strings.HasPrefix(word, "%") && s.jobs.Find(word) == nil:
			code = s.refuse(k, "kill: %s: no such job", word)
		case isBash:
			code = s.refuse(k, "kill: (%s) - No such process", word)
		default:
			code = s.refuse(k, "can't kill pid %s: No such process", word)
		}
	}
	return code
}

// refuse says why a builtin of the session's shell fails, or the program of its name where there is no shell, and returns its code.
func (s *session) refuse(k *call, format string, args ...any) int {
	if s.zero == "" {
		return k.Fail(format, args...)
	}
	fmt.Fprintf(k.Stderr, s.name()+": "+format+"\n", args...)
	return 1
}

// killNumber sends a signal to the process of a number, and reports whether there is one.
func (k *call) killNumber(word, signal string) bool {
	number, err := strconv.Atoi(word)
	if err != nil {
		return false
	}
	for _, p := range k.sees() {
		if p.number == number {
			p.signal(signal)
			return true
		}
	}
	return false
}

// pkill is also pgrep and killall.
func pkill(k *call) int {
	var all []bash.Process
	for _, p := range k.sees() {
		if !p.self {
			all = append(all, bash.Process{Number: p.number, Text: p.text(), Name: p.name(), Signal: p.signal})
		}
	}
	return bash.Pkill(k.Call, all, k.session.c.cfg.Image.Bash)
}

// pidof prints the numbers of what has one of the names, the last one first.
func pidof(k *call) int {
	var numbers []string
	for _, name := range k.Args {
		for _, p := range k.sees() {
			if p.name() == name && !p.self {
				numbers = append([]string{strconv.Itoa(p.number)}, numbers...)
			}
		}
	}
	if len(numbers) == 0 {
		return 1
	}
	fmt.Fprintln(k.Stdout, strings.Join(numbers, " "))
	return 0
}
