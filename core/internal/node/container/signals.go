package container

import (
	"context"
	"errors"
	"strings"

	"mvdan.cc/sh/v3/interp"

	"github.com/kubetab/kubetab/internal/unix/bash"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// Signals, the traps that a script has for them, and wait, which they end. The interpreter knows none of this.

// signal delivers a signal. It reports whether the script handles it.
func (s *session) signal(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, ok := s.traps[name]
	if !ok {
		return false
	}
	if body == "" {
		return true
	}
	s.pending, s.last = append(s.pending, body), name
	if s.waiting != nil { // `wait` returns when a trapped signal comes
		close(s.waiting)
		s.waiting = nil
	}
	return true
}

// takePending returns what traps have to run before the command whose handler ctx is of, which is none for a command of a
// subshell.
func (s *session) takePending(ctx context.Context) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.pending) == 0 || !bash.CalledBy(ctx, s.top) {
		return ""
	}
	return s.pendingBodies()
}

// pendingBodies is for those who hold mu.
func (s *session) pendingBodies() string {
	body := strings.Join(s.pending, "\n")
	s.pending = nil
	return body
}

// trap remembers the traps of signals and leaves those of EXIT and ERR to the
// interpreter.
func (s *session) trap(ctx context.Context, args []string) []string {
	if len(args) < 3 || strings.HasPrefix(args[1], "-") && args[1] != "-" {
		return args
	}
	kept := args[:2:2]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hooked = true
	for _, name := range args[2:] {
		signal, err := coreutils.Signal(name)
		switch {
		case err != nil || signal == "0": // EXIT, ERR, and what is none
			kept = append(kept, name)
		case !bash.CalledBy(ctx, s.top): // signals come to the shell itself
		default:
			if args[1] == "-" {
				delete(s.traps, signal)
			} else {
				s.traps[signal] = args[1]
			}
		}
	}
	if len(kept) == 2 {
		return []string{"true"}
	}
	return kept
}

// trapped returns the status of what a trapped signal has ended.
func trapped(signal string) interp.ExitStatus {
	number, _ := coreutils.SignalNumber(signal)
	return interp.ExitStatus(128 + number)
}

// wait is the builtin, which a trapped signal ends.
func (s *session) wait(ctx context.Context, args []string) error {
	if !bash.CalledBy(ctx, s.top) {
		return s.jobs.Wait(ctx, args, nil)
	}
	s.mu.Lock()
	interrupted := make(chan struct{})
	if len(s.pending) > 0 {
		close(interrupted)
	} else {
		s.waiting = interrupted
	}
	s.mu.Unlock()
	err := s.jobs.Wait(ctx, args, interrupted)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waiting = nil
	if errors.Is(err, bash.ErrInterrupted) {
		return trapped(s.last)
	}
	return err
}
