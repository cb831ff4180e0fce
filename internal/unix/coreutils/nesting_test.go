package coreutils

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/interp"
	"mvdan.cc/sh/v3/syntax"
)

// TestTheInterpretersFunctionsHaveTheirNames fails when mvdan.cc/sh has renamed what nested and processes look for: then
// functions that call each other would end the process, and jobs without end would fill it.
func TestTheInterpretersFunctionsHaveTheirNames(t *testing.T) {
	script, err := syntax.NewParser().Parse(strings.NewReader("f() { g; }; g() { true & }; f; wait"), "")
	if err != nil {
		t.Fatal(err)
	}
	calls := map[string]int{} // functions of the script around a command; the job's command is the job's goroutine's alone
	jobs := make(chan bool, 1)
	handler := func(_ context.Context, args []string) ([]string, error) {
		stack := make([]uintptr, 1000)
		stack = stack[:runtime.Callers(0, stack)]
		depth, isInterpreters := 0, false
		for frames, more := runtime.CallersFrames(stack), true; more; {
			var frame runtime.Frame
			if frame, more = frames.Next(); frame.Function == interpreterCall {
				depth++
			}
			isInterpreters = isInterpreters || strings.HasPrefix(frame.Function, interpreter)
		}
		if args[0] == "true" {
			jobs <- isInterpreters
		} else {
			calls[args[0]] = depth
		}
		return args, nil
	}
	runner, err := interp.New(interp.CallHandler(handler))
	if err != nil {
		t.Fatal(err)
	}
	if err := runner.Run(t.Context(), script); err != nil {
		t.Fatal(err)
	}
	if !<-jobs {
		t.Errorf("the goroutine of a job has no function that begins with %s", interpreter)
	}
	if calls["g"] != calls["f"]+1 {
		t.Errorf("around f and around g, which f calls, %s is found %d and %d times", interpreterCall, calls["f"], calls["g"])
	}
}

// TestScriptsAreCounted counts while a script has four jobs and a pipeline of two commands, all of which wait.
func TestScriptsAreCounted(t *testing.T) {
	script, err := syntax.NewParser().Parse(strings.NewReader("for i in 1 2 3 4; do true & done; true | true; wait"), "")
	if err != nil {
		t.Fatal(err)
	}
	begun, end := make(chan struct{}), make(chan struct{})
	handler := func(_ context.Context, args []string) ([]string, error) {
		if args[0] == "true" {
			begun <- struct{}{}
			<-end
		}
		return args, nil
	}
	runner, err := interp.New(interp.CallHandler(handler))
	if err != nil {
		t.Fatal(err)
	}
	var before, beside processes
	before.count()
	done := make(chan error)
	go func() { done <- runner.Run(context.Background(), script) }()
	for range 6 {
		<-begun
	}
	beside.count()
	close(end)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	// The script itself, which runs the second command of the pipeline, counts where all of a stack is looked at.
	if found := beside.scripts - before.scripts; found != 5 && found != 6 {
		t.Errorf("%d goroutines of a script with four jobs and the other command of a pipeline", found)
	}
}
