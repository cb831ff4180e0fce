// Package testlog keeps the log of an engine under test short.
package testlog

import (
	"flag"
	"io"
	"testing"

	"k8s.io/klog/v2"
)

// Quiet lets only the errors of klog through to stderr, so that a failed test is
// found among what its package prints: a started engine says some 150 lines.
// With -v everything is logged. It parses the flags and belongs at the beginning
// of TestMain.
func Quiet() {
	flag.Parse()
	if testing.Verbose() {
		return
	}
	klog.LogToStderr(false) // klog still writes messages from its stderrthreshold on, which is ERROR, to stderr
	klog.SetOutput(io.Discard)
}
