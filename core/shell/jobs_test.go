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
	// A job must not take what is typed next; and it ends when its prompt is there.
	s.types("(cat; until test -e go; do sleep 0.01; done) &\r")
	s.sees(`(?s)\[2\] 1002\n.*~ \$ $`)
	s.types("touch go; while kill -0 1002 2>/dev/null; do sleep 0.01; done; echo typed\r")
	s.sees(`(?s)\ntyped\n.*\[2\]\+  Done .*cat.*~ \$ $`)
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
	s.sees(`(?s)\[1\] 1003\n.*~ \$ $`)
	s.types("wait\r")
	s.sees(`wait\n`)
	s.types("\x03")
	s.sees(`(?s)\^C.*~ \$ $`)
	s.types("kill %sleep; wait %1; echo $?\r")
	s.sees(`(?s)\n143\n.*~ \$ $`)

	// What a job has ended with is there for wait after the prompt has told of it,
	// and under a number that no later job has.
	s.types("rm go; (until test -e go; do sleep 0.01; done; exit 7) &\r")
	s.sees(`(?s)\[1\] 1004\n.*~ \$ $`)
	s.types("touch go; until ! kill -0 1004 2>/dev/null; do sleep 0.01; done\r")
	s.sees(`(?s)\[1\]\+  Exit 7 .*~ \$ $`)
	s.types("true &\r")
	s.sees(`(?s)\[1\] 1005\n.*~ \$ $`)
	s.types("wait 1004; echo $?; rm go\r")
	s.sees(`(?s)\n7\n.*~ \$ $`)

	// Within functions, loops and scripts, too.
	s.types("f() { sleep 60 & kill $!; wait $!; echo f$? $!; }; f; for i in 1 2; do sleep 60 & done; kill $!; wait $!; echo l$?; kill %1\r")
	s.sees(`(?s)\nf143 1006\nl143\n.*~ \$ $`)
	// bash is a process of its own, and so takes a number.
	s.types("bash -c 'sleep 60 & p=$!; trap \"kill $p; wait $p; echo s\\$? $p\" EXIT; sleep 60 & kill $(jobs -p | tail -n 1); wait -n; echo n$?'\r")
	s.sees(`(?s)\nn143\ns143 1010\n.*~ \$ $`)
}

// TestJobsByName: pgrep, pkill and killall find what runs in the background.
func TestJobsByName(t *testing.T) {
	s := sit(t)
	s.types("sleep 61 & sleep 62 &\r")
	s.sees(`(?s)\[2\] 1002\n.*~ \$ $`)
	s.types("pgrep sleep; pgrep -fa 62; pkill -f 'sleep 61'; wait %1; echo a$?; killall sleep; wait %2; echo b$?; killall sleep; echo c$?\r")
	s.sees(`(?s)\n1001\n1002\n1002 sleep 62.*\na143\n.*b143\n.*sleep: no process found\nc1\n`)
}

// TestSubstitutionInJob: what <(command) is in a job is there as long as the job,
// and not as long as another line.
func TestSubstitutionInJob(t *testing.T) {
	s := sit(t)
	s.types("cat <(until test -e go; do sleep 0.01; done; echo late) > late &\r")
	s.sees(`(?s)\[1\] 1001\n.*~ \$ $`)
	s.types("until ls $TMPDIR/fd-* > /dev/null 2>&1; do sleep 0.01; done; echo begun\r")
	s.sees(`(?s)\nbegun\n.*~ \$ $`)
	s.types("touch go; wait; cat late; ls $TMPDIR/fd-* 2>/dev/null | wc -l; rm go late\r")
	s.sees(`(?s)\nlate\n0\n.*~ \$ $`)
}

// A ^C that is typed before the command has begun ends it all the same.
func TestInterruptAhead(t *testing.T) {
	s := sit(t)
	s.types("sleep 60\r\x03")
	s.sees(`(?s)sleep 60\n\^C\n.*~ \$ $`)
	s.types("echo $?\r")
	s.sees(`(?s)\n130\n.*~ \$ $`)
}
