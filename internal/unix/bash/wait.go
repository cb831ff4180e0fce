package bash

import (
	"context"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"unsafe"

	"mvdan.cc/sh/v3/interp"
)

// WaitCommand is the name of a program that a Call handler puts in the place of the builtin wait, so that Exec can run it
// with [Wait].
const WaitCommand = "__wait"

// ErrInterrupted is the error of [Wait] that was interrupted.
var ErrInterrupted = errors.New("wait: interrupted")

// Wait does what the builtin wait does with args, such as "g1", the $! of the first job, and none for all of them. It is
// for an Exec handler, whose context ctx is. The interpreter's own waits for jobs alone; this one ends also when
// interrupted is closed, as bash's does when a trapped signal comes, and when ctx is done. The jobs go on.
//
// It fails with [ErrInterrupted], with what the builtin fails with, and with the error of ctx.
func Wait(ctx context.Context, args []string, interrupted <-chan struct{}) error {
	hc := interp.HandlerCtx(ctx)
	for _, done := range waitedFor(jobs(hc), args) {
		select {
		case <-done:
		case <-interrupted:
			return ErrInterrupted
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return hc.Builtin(ctx, append([]string{"wait"}, args...))
}

// waitedFor returns the jobs that wait waits for with args: all when there are none, and none at all when the builtin will
// complain.
func waitedFor(jobs []<-chan struct{}, args []string) []<-chan struct{} {
	if len(args) == 0 {
		return jobs
	}
	var those []<-chan struct{}
	for _, arg := range args {
		id, ok := strings.CutPrefix(arg, "g")
		n, err := strconv.Atoi(id)
		if !ok || err != nil || n < 1 || n > len(jobs) {
			break // the builtin waits for those before it
		}
		those = append(those, jobs[n-1])
	}
	return those
}

// jobs returns what is closed when a job ends that the calling shell has put into the background, in the order of their
// begin. The interpreter tells nobody, so that these are read where it keeps them. It is for the goroutine that the handler
// was called in.
func jobs(hc interp.HandlerContext) []<-chan struct{} {
	kept := runnerOf(hc).Elem().FieldByName("bgProcs")
	all := make([]<-chan struct{}, kept.Len())
	for i := range all {
		done := kept.Index(i).FieldByName("done").UnsafePointer()
		all[i] = *(*chan struct{})(unsafe.Pointer(&done)) // a channel is a pointer
	}
	return all
}

func runnerOf(hc interp.HandlerContext) reflect.Value {
	return reflect.ValueOf(hc).FieldByName("runner")
}

// CalledBy reports whether ctx, of a handler, is that of a command of the shell itself, and not of a subshell, a part of a
// pipeline or a job in the background.
func CalledBy(ctx context.Context, shell *interp.Runner) bool {
	return runnerOf(interp.HandlerCtx(ctx)).UnsafePointer() == unsafe.Pointer(shell)
}
