package coreutils

import (
	"context"
	"fmt"
	"math"
	"strings"
	"time"
)

// What timeout exits with.
const (
	timedOut     = 124
	cannotDoThis = 125 // timeout itself fails
)

// timeout runs a command, and ends it when its time is over. The command ends by any signal.
func timeout(k *Call) int {
	args, signal, statusOfCommand, verbose := k.Args, "TERM", false, false
	value := func(name string, letters ...string) (string, bool) {
		arg := args[0]
		if long, ok := strings.CutPrefix(arg, name+"="); ok {
			return long, true
		}
		for _, letter := range append(letters, name) {
			if arg == letter && len(args) > 1 {
				args = args[1:]
				return args[0], true
			}
			if glued, ok := strings.CutPrefix(arg, letter); ok && len(letter) == 2 && glued != "" {
				return glued, true
			}
		}
		return "", false
	}
	interval := "" // busybox had -t SECONDS
	for len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "--" {
		if text, ok := value("--signal", "-s"); ok {
			signal = text
		} else if text, ok := value("--kill-after", "-k"); ok {
			if _, ok := ParseDuration(text); !ok {
				k.Fail("invalid time interval '%s'", text)
				return cannotDoThis
			}
		} else if text, ok := value("-t", "-t"); ok {
			interval = text
		} else {
			switch args[0] {
			case "--preserve-status", "-p":
				statusOfCommand = true
			case "-v", "--verbose":
				verbose = true
			case "-f", "--foreground":
			default:
				k.Fail("unrecognized option '%s'", args[0])
				return cannotDoThis
			}
		}
		args = args[1:]
	}
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if interval == "" && len(args) > 0 {
		interval, args = args[0], args[1:]
	}
	if len(args) == 0 {
		k.Fail("missing operand")
		return cannotDoThis
	}
	signal, err := Signal(signal)
	if err != nil {
		k.Fail("'%s': invalid signal", signal)
		return cannotDoThis
	}
	limit, ok := ParseDuration(interval)
	if !ok {
		k.Fail("invalid time interval '%s'", interval)
		return cannotDoThis
	}
	code, isOver := k.runFor(limit, args)
	switch {
	case !isOver:
		return code
	case verbose:
		fmt.Fprintf(k.Stderr, "timeout: sending signal %s to command '%s'\n", signal, args[0])
	}
	if number, _ := SignalNumber(signal); statusOfCommand || signal == "KILL" {
		return 128 + number
	}
	return timedOut
}

// runFor runs a command and returns what it exits with, or that its time was over. 0 is no limit.
func (k *Call) runFor(limit time.Duration, args []string) (code int, isOver bool) {
	if limit == 0 {
		limit = math.MaxInt64
	}
	done := make(chan int, 1)
	child := *k
	ctx, cancel := context.WithCancel(k)
	defer cancel()
	child.Context = ctx
	k.System.Go(func() {
		code := Aborted
		if fault := Survive(func() { code = k.System.Run(&child, k.Environ(), args) }); fault != nil {
			k.Fail("%v", fault)
		}
		done <- code
	})
	timer := k.System.Clock().NewTimer(limit)
	defer timer.Stop()
	select {
	case code := <-done:
		return code, false
	case <-timer.C():
		cancel()
		<-done
		return 0, true
	}
}
