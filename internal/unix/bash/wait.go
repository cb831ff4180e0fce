package bash

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/interp"
)

// waits is a program that takes the place of the builtin wait, which knows the interpreter's own names of jobs.
const waits = "__wait"

// ErrInterrupted is the error of [Jobs.Wait] that was interrupted.
var ErrInterrupted = errors.New("wait: interrupted")

// notChild is the status of wait for what is no job of the shell.
const notChild = 127

// Wait does what the builtin wait does with args: process numbers, as $! is one, and jobs such as %1; none for all jobs of
// the shell; -n for the next one that ends, of all or of those that are named. ctx is that of an Exec handler. It ends also
// when interrupted is closed, as bash's does when a trapped signal comes, and when ctx is done. The jobs go on.
//
// It fails with the interp.ExitStatus of what was waited for last, with [ErrInterrupted], and with the error of ctx.
func (j *Jobs) Wait(ctx context.Context, args []string, interrupted <-chan struct{}) error {
	stderr, next := HandlerCtx(ctx).Stderr, false
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-n":
			next = true
		case "-f", "--": // jobs are never stopped
		default:
			fmt.Fprintf(stderr, "bash: wait: %s: invalid option\nwait: usage: wait [-fn] [id ...]\n", args[0])
			return interp.ExitStatus(2)
		}
		args = args[1:]
	}
	children := j.of(shellOf(ctx))
	switch {
	case len(args) == 0 && next:
		return j.waitNext(ctx, children, interrupted)
	case len(args) == 0:
		_, err := j.waitEach(ctx, children, interrupted)
		return err
	}
	status := 0
	var named []*Job
	for _, word := range args {
		job := j.Find(word)
		switch earlier, ok := j.statusOf(word); {
		case slices.Contains(children, job):
			named = append(named, job)
			if next {
				continue
			}
			last, err := j.waitEach(ctx, []*Job{job}, interrupted)
			if err != nil {
				return err
			}
			status = last
		case ok && job == nil && !next:
			status = earlier
		case strings.HasPrefix(word, "%"):
			fmt.Fprintf(stderr, "bash: wait: %s: no such job\n", word)
			status = notChild
		default:
			fmt.Fprintf(stderr, "bash: wait: pid %s is not a child of this shell\n", word)
			status = notChild
		}
	}
	if next && len(named) > 0 {
		return j.waitNext(ctx, named, interrupted)
	}
	return exit(status)
}

// waitEach waits for jobs, and returns the status of the last one.
func (j *Jobs) waitEach(ctx context.Context, jobs []*Job, interrupted <-chan struct{}) (status int, err error) {
	for _, job := range jobs {
		if !job.IsDone() {
			select {
			case <-job.Done():
			case <-interrupted:
				return 0, ErrInterrupted
			case <-ctx.Done():
				return 0, ctx.Err()
			}
		}
		status = job.Status()
		j.Forget(job)
	}
	return status, nil
}

// waitNext waits for the first of some jobs that ends, or has ended.
func (j *Jobs) waitNext(ctx context.Context, jobs []*Job, interrupted <-chan struct{}) error {
	if len(jobs) == 0 {
		return exit(notChild)
	}
	at := slices.IndexFunc(jobs, (*Job).IsDone)
	if at < 0 {
		var cases []reflect.SelectCase
		for _, job := range jobs {
			cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(job.Done())})
		}
		for _, end := range []<-chan struct{}{interrupted, ctx.Done()} {
			cases = append(cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(end)})
		}
		at, _, _ = reflect.Select(cases)
	}
	switch at {
	case len(jobs):
		return ErrInterrupted
	case len(jobs) + 1:
		return ctx.Err()
	}
	j.Forget(jobs[at])
	return exit(jobs[at].Status())
}

// exit is the error of a status.
func exit(status int) error {
	if status == 0 {
		return nil
	}
	return interp.ExitStatus(status)
}

// shellOf returns the shell, or the subshell, that calls a handler with ctx.
func shellOf(ctx context.Context) *interp.Runner {
	return (*interp.Runner)(reflect.ValueOf(interp.HandlerCtx(ctx)).FieldByName("runner").UnsafePointer())
}

// CalledBy reports whether ctx, of a handler, is that of a command of the shell itself, and not of a subshell, a part of a
// pipeline or a job in the background.
func CalledBy(ctx context.Context, shell *interp.Runner) bool { return shellOf(ctx) == shell }
