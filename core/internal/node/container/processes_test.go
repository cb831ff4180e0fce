package container

import (
	"slices"
	"strings"
	"testing"
)

// ps shows the first process, what has been exec'd, and what they run, in the layout of
// the image's ps.
func TestPs(t *testing.T) {
	b := run(t, "busybox", "sh", "-c", "sleep 1h")
	b.step(t, func() bool { return b.firstArgv()[0] == "sleep" })
	for line, want := range map[string]string{
		"ps":               "PID   USER     TIME  COMMAND\n    1 root      0:00 sleep 1h\n    8 root      0:00 ps\n",
		"sh -c ps":         "PID   USER     TIME  COMMAND\n    1 root      0:00 sleep 1h\n    8 root      0:00 ps\n",
		"ps -o pid,comm":   "    PID COMMAND\n      1 sleep\n      8 ps\n",
		"pgrep sleep":      "1\n",
		"pgrep -fl leep.1": "1 sleep\n",
		"pidof sleep":      "1\n",
		"killall nope":     "killall: nope: no process killed\n",
	} {
		b := run(t, "busybox", "sh", "-c", "sleep 1h")
		b.step(t, func() bool { return b.firstArgv()[0] == "sleep" })
		argv := strings.Fields(line)
		if got, _ := b.exec(t, argv...); got != want {
			t.Errorf("%s\n got %q\nwant %q", line, got, want)
		}
	}
	if got, _ := b.exec(t, "sh", "-c", "sleep 5 & ps; exit"); !strings.HasPrefix(got, "PID   USER     TIME  COMMAND\n    1 root      0:00 sleep 1h\n    8 root      0:00 sleep 5\n    9 root      0:00 sh -c sleep 5 & ps; exit\n   10 root      0:00 ps\n") {
		t.Errorf("of a script: %q", got)
	}
	debian := run(t, "debian", "sh", "-c", "while true; do sleep 1000; done")
	debian.step(t, func() bool { return len(debian.shows(nil)) == 2 })
	for line, want := range map[string]string{
		"ps -ef":             "UID          PID    PPID  C STIME TTY          TIME CMD\nroot           1       0  0 HH:MM ?        00:00:00 sh -c while true; do sleep 1000; done\nroot           8       1  0 HH:MM ?        00:00:00 sleep 1000\n",
		"ps aux":             "USER         PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n",
		"ps":                 "    PID TTY          TIME CMD\n      1 ?        00:00:00 sh\n      8 ?        00:00:00 sleep\n",
		"ps -o pid= -p 1":    "      1\n",
		"killall nope":       "nope: no process found\n",
		"top -bn1":           "top - ",
		"ps -o pid,nonsense": "ps: error: unknown user-defined format specifier \"nonsense\"\n",
	} {
		want = strings.ReplaceAll(want, "HH:MM", debian.Started.UTC().Format("15:04"))
		if got, _ := debian.exec(t, strings.Fields(line)...); !strings.HasPrefix(got, want) {
			t.Errorf("%s\n got %q\nwant %q", line, got, want)
		}
	}
}

func TestPsOfNginx(t *testing.T) {
	b := run(t, "nginx")
	got, _ := b.exec(t, "ps", "-o", "user,pid,args")
	if want := "USER         PID COMMAND\nroot           1 nginx: master process nginx -g daemon off;\nnginx          8 nginx: worker process\n"; !strings.HasPrefix(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A signal reaches what somebody else runs: by number and by name, and a trap of it.
func TestSignalsToOthers(t *testing.T) {
	for signal, want := range map[string]string{"kill -9 $(pgrep -x sleep)": "137", "pkill sleep": "143", "killall -HUP sleep": "129", "killall -USR1 sleep": "138"} {
		b := run(t, "busybox", "sh", "-c", "sleep 1000; echo $?; sleep 2000; echo $?")
		b.step(t, func() bool { return len(b.shows(nil)) == 2 })
		if got, code := b.exec(t, "sh", "-c", "killall -0 sleep && "+signal); got != "" || code != 0 {
			t.Errorf("%s: %q, %d", signal, got, code)
		}
		b.step(t, func() bool { return b.Log.Tail(9, 100) != "" })
		if got := b.Log.Tail(9, 100); strings.TrimSpace(got) != want {
			t.Errorf("%s: exit code %q, want %s", signal, got, want)
		}
	}
	b := run(t, "busybox", "sh", "-c", "trap 'echo again' HUP; while true; do sleep 1; done")
	b.step(t, func() bool { return len(b.shows(nil)) == 2 })
	b.exec(t, "kill", "-HUP", "1")
	b.step(t, func() bool { return b.Log.Tail(9, 100) == "again\n" })
	done := make(chan int, 1)
	go func() {
		_, code := b.exec(t, "sleep", "1000")
		done <- code
	}()
	b.step(t, func() bool { return b.runs("sleep 1000") })
	b.exec(t, "pkill", "-f", "sleep 1000")
	if code := <-done; code != 143 {
		t.Errorf("an exec that is killed returns %d", code)
	}
}

// runs says whether a process has this command line and no more: a shell that is to begin it has the words in its own.
func (b *box) runs(line string) bool {
	return slices.ContainsFunc(b.shows(nil), func(p shown) bool { return p.text() == line })
}
