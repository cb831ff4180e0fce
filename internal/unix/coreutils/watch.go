package coreutils

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/kubetab/kubetab/internal/unix/terminal"
)

// Watch runs a command line again and again: watch of procps, with -n SECONDS and, for no title, -t. run runs the line as the
// call that it is given. On a screen, which is nil for none, each run takes the place of the one before.
func Watch(k *Call, screen *terminal.TTY, run func(k *Call, line string)) int {
	every, title, args := 2*time.Second, true, k.Args
	for len(args) > 0 && strings.HasPrefix(args[0], "-") { // those behind the command are the command's
		flag := args[0]
		args = args[1:]
		switch text, ok := strings.CutPrefix(flag, "-n"); {
		case ok:
			if text == "" && len(args) > 0 {
				text, args = args[0], args[1:]
			}
			seconds, err := strconv.ParseFloat(text, 64)
			if err != nil || seconds < 0.1 {
				return k.Fail("invalid interval '%s'", text)
			}
			every = time.Duration(seconds * float64(time.Second))
		case flag == "-t", flag == "--no-title":
			title = false
		}
	}
	if len(args) == 0 {
		return k.Fail("no command given")
	}
	line := strings.Join(args, " ")
	for {
		var shown bytes.Buffer
		one := *k
		one.Stdout, one.Stderr = &shown, &shown
		run(&one, line)
		if k.Err() != nil {
			return 130
		}
		text := shown.String()
		if screen != nil {
			columns, rows := screen.Size()
			head := ""
			if title {
				head, rows = fmt.Sprintf("%.*s\n\n", columns, fmt.Sprintf("Every %.1fs: %s", every.Seconds(), line)), rows-2
			}
			if lines := strings.SplitAfter(text, "\n"); len(lines) > rows {
				text = strings.Join(lines[:max(rows-1, 1)], "")
			}
			text = head + text
			if _, err := screen.Write([]byte("\x1b[H\x1b[2J")); err != nil {
				return 1
			}
		}
		if _, err := k.Stdout.Write([]byte(text)); err != nil {
			return 1
		}
		if code := k.System.Pause(k, every); code != 0 {
			return code
		}
	}
}
