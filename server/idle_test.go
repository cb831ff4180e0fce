package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	restWindow   = 10 * time.Second
	restLimit    = 2 * time.Minute
	restShare    = 0.01 // of one core
	restSwitches = 260  // in a second; about 120 are needed, 450 were before timers rang together
	restResident = 160  // MB; 105 to 125 are needed, 205 were before what a start leaves behind was given back
)

// Two nodes, all controllers and the scheduler take less than a hundredth of a core when nobody asks for anything, and
// little memory. The figures are the process's own, so that a busy machine does not change them much; the quietest of
// several windows counts.
func TestIdleTakesLittle(t *testing.T) {
	if os.Getenv("KUBETAB_TIMING") == "" {
		t.Skip("what a process takes at rest is measured with nothing beside it: make test-timing")
	}
	if runtime.GOOS != "linux" {
		t.Skip("what a process has used is read from /proc")
	}
	p := startKubetab(t, "--nodes", "2", "--controllers", "*", "--scheduler")
	var seen []string
	for begin := time.Now(); time.Since(begin) < restLimit; {
		busyBefore, switchesBefore := used(t, p.PID())
		from := time.Now()
		<-time.After(restWindow) // what is measured is that nothing happens
		busy, switches := used(t, p.PID())
		window := time.Since(from).Seconds()
		share, rate := (busy-busyBefore).Seconds()/window, float64(switches-switchesBefore)/window
		now := fmt.Sprintf("%.2f %% of a core, %.0f switches in a second, %d MB", share*100, rate, memoryOf(t, p.PID(), "VmRSS"))
		if share < restShare && rate < restSwitches && memoryOf(t, p.PID(), "VmRSS") < restResident {
			t.Log("at rest:", now)
			return
		}
		seen = append(seen, now)
	}
	t.Errorf("never below %v %% of a core, %d switches in a second and %d MB:\n%s", restShare*100, restSwitches, restResident, strings.Join(seen, "\n"))
}

// memoryOf returns a field of a process's status on Linux that is a size, such as VmRSS, in MB of 10^6 bytes.
func memoryOf(t *testing.T, pid int, field string) int64 {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return number(t, strings.Fields(value)[0]) * 1024 / 1e6
		}
	}
	t.Fatalf("process %d has no %s", pid, field)
	return 0
}

// used returns the processor time of a process's threads, and how often they have given the processor up by themselves:
// once for each time that they were woken.
func used(t *testing.T, pid int) (busy time.Duration, switches int64) {
	t.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil || len(threads) == 0 {
		t.Fatalf("process %d has no threads: %v", pid, err)
	}
	for _, thread := range threads {
		status, err := os.ReadFile(filepath.Join(thread, "status"))
		if err != nil {
			continue // it has just ended
		}
		for line := range strings.Lines(string(status)) {
			if value, ok := strings.CutPrefix(line, "voluntary_ctxt_switches:"); ok {
				switches += number(t, strings.TrimSpace(value))
			}
		}
		schedule, err := os.ReadFile(filepath.Join(thread, "schedstat")) // nanoseconds on a processor come first
		if err != nil {
			t.Fatal(err)
		}
		busy += time.Duration(number(t, strings.Fields(string(schedule))[0]))
	}
	return busy, switches
}

func number(t *testing.T, text string) int64 {
	t.Helper()
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
