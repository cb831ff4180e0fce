package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"

	"k8s.io/klog/v2"
)

// setUpLogging sends klog, which all of Kubernetes logs with, to standard error at the given verbosity, or nowhere for
// quiet: a healthy start logs a hundred lines that mean nothing to somebody who only wants an API. It returns the
// logger for net/http, nil for quiet.
func setUpLogging(verbosity int) (*log.Logger, error) {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	if verbosity == quiet {
		klog.SetOutput(io.Discard)
		for name, value := range map[string]string{"logtostderr": "false", "alsologtostderr": "false", "stderrthreshold": "FATAL"} {
			if err := flags.Set(name, value); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	if err := flags.Set("v", fmt.Sprint(verbosity)); err != nil {
		return nil, err
	}
	return log.New(klogWriter{}, "", 0), nil
}

// neverExitWhileStopping keeps upstream from ending the process when we are about to end it ourselves. The namespace
// controller, for one, exits when discovery has nothing for it (initOpCache in pkg/controller/namespace/deletion), which
// is what it finds when a signal comes while it is being made. Then only its goroutine ends. At any other time the
// exit is upstream's decision, and there is at least a line which says so.
func neverExitWhileStopping(ctx context.Context) {
	klog.OsExit = func(code int) {
		if ctx.Err() != nil {
			runtime.Goexit()
		}
		fmt.Fprintln(os.Stderr, "kubetab: the API server cannot go on and has ended: run it with -v 0 to see why")
		os.Exit(code)
	}
}

// klogWriter turns what net/http says about single connections into klog lines.
type klogWriter struct{}

func (klogWriter) Write(p []byte) (int, error) {
	klog.V(1).Info(string(p))
	return len(p), nil
}
