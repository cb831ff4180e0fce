package bash

import (
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// Process is one that pgrep, pkill and killall find.
type Process struct {
	Number int
	Text   string // its command line
	Name   string // of its program
	Signal func(name string)
}

// Processes returns what runs in the background, for [Pkill].
func (p *Processes) Processes() (all []Process) {
	for _, job := range p.Running() {
		all = append(all, Process{job.Process, job.Text, programOf(job.Text), func(name string) { job.Kill(name) }})
	}
	return all
}

// programOf is what the kernel calls the process of a job: its program, or the shell where a script is run.
func programOf(line string) string {
	words := strings.Fields(line)
	if len(words) == 0 || strings.ContainsAny(words[0], `(){}[]$"'=;|&`) || len(words[0]) == 0 {
		return "sh"
	}
	switch words[0] {
	case "while", "until", "for", "if", "case":
		return "sh"
	}
	return path.Base(words[0])
}

// Pkill is pgrep, pkill and killall, by the name of the call, among some processes, the oldest first. The first two exit with
// 1 where there is none, and with 2 for what they do not understand. What killall says of a name that nothing has is psmisc's
// or busybox's. It is long because each flag changes which processes
// are meant.
func Pkill(k *coreutils.Call, all []Process, psmisc bool) int {
	finds, exact := k.Name == "pgrep", k.Name == "killall"
	signal, args := "TERM", k.Args
	on := map[byte]bool{}
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		word := args[0]
		args = args[1:]
		if word == "--" {
			break
		}
		if word == "-s" && !finds && len(args) > 0 {
			word, args = "-"+args[0], args[1:]
		}
		name, long := strings.CutPrefix(word, "--signal=")
		if !long {
			name = word[1:]
		}
		if parsed, err := coreutils.Signal(name); !finds && err == nil {
			signal = parsed
			continue
		}
		letters := word[1:]
		if strings.HasPrefix(word, "--") {
			letters = map[string]string{"--full": "f", "--exact": "x", "--list-name": "l", "--list-full": "a", "--count": "c", "--newest": "n", "--oldest": "o", "--inverse": "v", "--quiet": "q"}[word]
		}
		if letters == "" || strings.Trim(letters, "fxlacnovqeiw") != "" {
			return 1 + k.Fail("invalid option -- '%s'", strings.TrimLeft(word, "-"))
		}
		for _, letter := range []byte(letters) {
			on[letter] = true
		}
	}
	if len(args) == 0 || len(args) > 1 && !exact {
		return 1 + k.Fail("only one pattern can be provided")
	}
	exact = exact || on['x']
	code, found := 0, []Process(nil)
	for _, arg := range args {
		expr := arg
		if exact {
			expr = "^(?:" + arg + ")$"
		}
		pattern, err := coreutils.CompilePattern(k, expr, false)
		if err != nil {
			return 1 + k.Fail("invalid pattern '%s'", arg)
		}
		some := 0
		for _, process := range all {
			text := process.Name
			if on['f'] {
				text = process.Text
			}
			if is := pattern.Match(text); k.Name == "killall" && text == arg || k.Name != "killall" && is != on['v'] {
				found = append(found, process)
				some++
			}
		}
		if some > 0 || k.Name != "killall" {
			continue
		}
		switch code = 1; {
		case on['q']:
		case psmisc:
			fmt.Fprintf(k.Stderr, "%s: no process found\n", arg)
		default:
			k.Fail("%s: no process killed", arg)
		}
	}
	switch {
	case len(found) == 0:
		if on['c'] && k.Name != "killall" {
			fmt.Fprintln(k.Stdout, 0)
		}
		return 1
	case on['n']:
		found = found[len(found)-1:]
	case on['o']:
		found = found[:1]
	}
	if on['c'] && k.Name != "killall" {
		fmt.Fprintln(k.Stdout, len(found))
	}
	for _, process := range found {
		if !finds {
			process.Signal(signal)
			continue
		}
		line := strconv.Itoa(process.Number)
		switch {
		case on['a']:
			line += " " + process.Text
		case on['l']:
			line += " " + process.Name
		}
		if !on['c'] && !on['q'] {
			fmt.Fprintln(k.Stdout, line)
		}
	}
	return code
}
