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
	signal, words, err := bash.ParseKill(k.Args)
	if err != nil {
		return k.Fail("%v", err)
	}
	if signal == "l" {
		fmt.Fprintln(k.Stdout, strings.Join(coreutils.SignalNames(), " "))
		return 0
	}
	code := 0
	for _, word := range words {
		if !k.session.jobs.Kill(word, signal) && !k.killNumber(word, signal) {
			code = k.Fail("can't kill pid %s: No such process", word)
		}
	}
	return code
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
