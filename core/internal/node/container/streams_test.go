package container

import (
	"bytes"
	"strings"
	"testing"
)

// The devices of a command that joins a container lead to its own streams, and those of the first process to the log.
func TestStreamsOfACommand(t *testing.T) {
	for _, test := range []struct{ script, in, out, errs, log string }{
		{"echo a > /dev/stdout; echo b > /dev/stderr; echo c > /proc/1/fd/1", "", "a\n", "b\n", "c\n"},
		{"echo a | tee /dev/stderr; echo b | tee /proc/self/fd/2 > /dev/null; echo c > /proc/1/fd/2", "", "a\n", "a\nb\n", "c\n"},
		{"echo a | cat /dev/stdin; cat < /dev/stdin; echo b | wc -l < /dev/fd/0", "in\n", "a\nin\n1\n", "", ""},
		{"cat /dev/fd/0 - > /dev/fd/1", "in\n", "in\n", "", ""},
		{"{ echo a > /dev/stdout; echo b > /dev/stderr; } 2>&1 | sed s/^/-/; x=$(echo c > /dev/stdout); echo $x", "", "-a\n-b\nc\n", "", ""},
		{"ls /proc/self/fd /dev/fd; ls -d /dev/shm; stat -c %a /dev/shm", "", "/dev/fd:\n0\n1\n2\n\n/proc/self/fd:\n0\n1\n2\n/dev/shm\n1777\n", "", ""},
		{"echo a | tee /dev/full > /dev/null; head -c 2 /dev/full | od -An -tx1; echo x > /dev/shm/f; cat /dev/shm/f", "", " 00 00\nx\n", "tee: No space left on device\n", ""},
	} {
		b := run(t, "busybox", "sleep", "1000")
		var out, errs bytes.Buffer
		if _, err := b.Exec(t.Context(), []string{"sh", "-c", test.script}, strings.NewReader(test.in), &out, &errs, nil); err != nil {
			t.Fatal(err)
		}
		if log := b.Log.Tail(9, 1000); out.String() != test.out || errs.String() != test.errs || log != test.log {
			t.Errorf("%s\nprints %q and %q, want %q and %q; the log has %q, want %q", test.script, out.String(), errs.String(), test.out, test.errs, log, test.log)
		}
	}
}
