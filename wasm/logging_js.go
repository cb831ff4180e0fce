package main

import (
	"flag"
	"io"
	"strconv"

	"k8s.io/klog/v2"
)

// logWarningsOnly sends klog's warnings and errors to stderr, which the host shows, and drops what is
// below; with a verbosity of n > 0 everything up to V(n-1) is shown.
//
// klog has no such switch: it is made of its stderr threshold and of log files that lead nowhere. It has
// no background goroutine this way, which matters to an engine that must come to rest.
func logWarningsOnly(verbosity int) {
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	if verbosity > 0 {
		_ = flags.Set("v", strconv.Itoa(verbosity-1))
		return
	}
	_ = flags.Set("logtostderr", "false")
	_ = flags.Set("stderrthreshold", "WARNING")
	klog.SetOutput(io.Discard)
}

// errorsOnly calls f, and has no warnings shown meanwhile where those are all that is shown.
func errorsOnly(verbosity int, f func() error) error {
	if verbosity > 0 {
		return f()
	}
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags) // of the same settings
	_ = flags.Set("stderrthreshold", "ERROR")
	defer func() { _ = flags.Set("stderrthreshold", "WARNING") }()
	return f()
}
