package container

import (
	"strings"
	"testing"
)

// isWaiting reports whether the script has come to wait.
func (s *session) isWaiting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.waiting != nil
}

func TestSignals(t *testing.T) {
	ended := func(b *box) func() bool { return func() bool { return len(b.ended) > 0 } }
	t.Run("a server ends", func(t *testing.T) {
		b := run(t, "nginx")
		b.Signal("TERM")
		if code := <-b.ended; code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
	t.Run("a trap runs after the command in the foreground", func(t *testing.T) {
		b := run(t, "busybox", "sh", "-c", "trap 'echo bye; exit 9' TERM; echo up; while true; do sleep 1; done")
		b.step(t, func() bool { return b.Log.Tail(1, 100) == "up\n" })
		b.Signal("TERM")
		b.step(t, ended(b))
		if code := <-b.ended; code != 9 || b.Log.Tail(1, 100) != "bye\n" {
			t.Errorf("exit code %d, log %q", code, b.Log.Tail(9, 100))
		}
	})
	t.Run("wait is interrupted", func(t *testing.T) {
		for _, test := range []struct {
			script, want string // want: what bash prints
			code         int
		}{
			{"trap 'echo bye' TERM; sleep 1000 & echo up; wait; echo after", "bye\nafter\n", 0},
			{"trap 'echo bye; false' TERM; sleep 1000 & echo up; wait", "bye\n", 143},
			{"trap 'echo bye' TERM; sleep 1000 & echo up; wait $!; echo $?; sleep 1; echo after", "bye\n143\nafter\n", 0},
			{"trap 'exit 7' TERM; while true; do sleep 1; done & echo up; wait; echo after", "", 7},
			{"trap 'exit 7' TERM; nginx -g 'daemon off;' 2> /dev/null & echo up; wait; echo after", "", 7},
			{"trap 'echo bye' TERM; sleep 1 & echo up; wait; echo $?; (exit 4) & wait $!; echo $?", "bye\n143\n4\n", 0},
			// What ends what it has begun, as an entrypoint does.
			{"trap 'kill $p; wait $p; echo $?; exit 3' TERM; sleep 1000 & p=$!; echo up; wait $p; echo after", "143\n", 3},
			{"trap 'kill $(jobs -p)' TERM; nginx -g 'daemon off;' 2> /dev/null & sleep 1000 & echo up; wait; wait; echo after", "after\n", 0},
			{"trap 'kill -INT %1' TERM; (trap 'echo no' TERM); while :; do sleep 1; done & echo up; wait; wait %1; echo $?", "130\n", 0},
			{"trap 'kill -9 $!' TERM; sleep 1000 & sleep 2000 & echo up; wait -n; wait -n; echo $?; ps -o pid,args | grep '^ *8 '", "137\n      8 sleep 1000\n", 0},
		} {
			b := run(t, "nginx", "sh", "-c", test.script)
			b.step(t, b.main.isWaiting)
			if log := b.Log.Tail(99, 1000); !strings.HasSuffix(log, "up\n") {
				t.Errorf("%s: log %q before the signal", test.script, log)
			}
			b.Signal("TERM")
			b.step(t, ended(b))
			if code := <-b.ended; code != test.code {
				t.Errorf("%s: exit code %d, want %d", test.script, code, test.code)
			}
			if _, after, _ := strings.Cut(b.Log.Tail(99, 1000), "up\n"); after != test.want {
				t.Errorf("%s: log %q after the signal, want %q", test.script, after, test.want)
			}
		}
	})
	t.Run("without a trap nothing happens", func(t *testing.T) {
		b := run(t, "busybox", "sleep", "1000")
		b.Signal("TERM")
		if !b.Running() {
			t.Error("PID 1 was ended by a signal that it does not handle")
		}
		b.Kill()
		if code := <-b.ended; code != 137 {
			t.Errorf("exit code %d", code)
		}
		b.Kill()
		if len(b.ended) > 0 {
			t.Error("it ended twice")
		}
	})
}
