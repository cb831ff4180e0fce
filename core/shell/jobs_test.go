package shell_test

import (
	"testing"
)

// TestJobs: what runs in the background leaves the keys to the line, tells its end
// before the next prompt, and is ended by ^C once it is in the foreground.
func TestJobs(t *testing.T) {
	s := sit(t)
	s.types("sleep 60 &\r")
	s.sees(`(?s)\[1\] 1001\n.*~ \$ $`)
	s.types("cat &\r") // which must not take what is typed next
	s.sees(`(?s)\[2\] 1002\n.*~ \$ $`)
	s.types("while kill -0 1002 2>/dev/null; do sleep 0.01; done; echo typed\r")
	s.sees(`(?s)\ntyped\n.*\[2\]\+  Done +cat\n.*~ \$ $`)
	s.types("jobs\r")
	s.sees(`\[1\]\+  Running +sleep 60 &\n`)
	s.types("fg\r")
	s.sees(`\nsleep 60\n`)
	s.types("\x03")
	s.sees(`(?s)\^C.*~ \$ $`)
	s.types("echo $?; jobs; fg\r")
	s.sees(`(?s)\n130\nbash: fg: current: no such job\n`)

	// ^C ends the wait, and not what is waited for.
	s.types("sleep 60 &\r")
	s.sees(`(?s)\[1\] 1001\n.*~ \$ $`)
	s.types("wait\r")
	s.sees(`wait\n`)
	s.types("\x03")
	s.sees(`(?s)\^C.*~ \$ $`)
	s.types("kill %sleep; wait %1; echo $?\r")
	s.sees(`(?s)\n143\n.*~ \$ $`)
}
