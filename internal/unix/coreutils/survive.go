package coreutils

import (
	"fmt"
	"path"
	"runtime"
	"strings"
)

// Aborted is the exit code of a program that had a [Fault], as a shell shows that of a program that ends by SIGABRT.
const Aborted = 134

// mostSaid is how much of a panic's value is told, in bytes: that of package regexp has the whole expression.
const mostSaid = 500

// Fault is a panic of a program or of an interpreter. It is a mistake in code that is linked into the process, which is
// the API server's as well: the program ends, and the process goes on.
type Fault struct {
	Value any    // what the code has panicked with
	Place string // where: function and line, such as "interp.(*Runner).lookupVar, vars.go:156"
}

func (f *Fault) Error() string {
	text := fmt.Sprint(f.Value)
	if len(text) > mostSaid {
		text = text[:mostSaid] + "..."
	}
	return fmt.Sprintf("internal error: %s (%s)", text, f.Place)
}

// Survive runs f on the calling goroutine, and returns a *Fault if f panics. What f was in the middle of is left as it
// is. Goroutines that f starts are not its: each needs a Survive of its own.
func Survive(f func()) (fault error) {
	defer func() {
		if p := recover(); p != nil {
			fault = &Fault{Value: p, Place: place()}
		}
	}()
	f()
	return nil
}

// place is where the code has panicked whose deferred function calls it.
func place() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(3, pcs)])
	for more := true; more; {
		var frame runtime.Frame
		// The first frames are the runtime's: gopanic, and what has found a nil pointer or an index out of range.
		if frame, more = frames.Next(); frame.Function != "" && !strings.HasPrefix(frame.Function, "runtime.") {
			return fmt.Sprintf("%s, %s:%d", path.Base(frame.Function), path.Base(frame.File), frame.Line)
		}
	}
	return "nobody knows where"
}
