package container

import (
	"strings"
	"sync"
	"testing"
	"time"
)

// boxOf starts a container with files.
func boxOf(t *testing.T, files *Tree, name string, argv ...string) *box {
	t.Helper()
	b, err := tryRunWith(t, func(c *Config) { c.Files = func() *Tree { return files } }, name, argv...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// given starts a container that is given resources. The second value tells whether it
// was said to have taken too much memory.
func given(t *testing.T, r Resources, name string, argv ...string) (*box, func() bool) {
	t.Helper()
	var mu sync.Mutex
	oom := false
	b, err := tryRunWith(t, func(c *Config) {
		c.Capabilities = Capabilities(false, nil, nil)
		c.OnOOM = func() { mu.Lock(); defer mu.Unlock(); oom = true }
		c.Resources = func() Resources { return r }
	}, name, argv...)
	if err != nil {
		t.Fatal(err)
	}
	return b, func() bool { mu.Lock(); defer mu.Unlock(); return oom }
}

// stress takes what it is told to, and the kernel ends what takes too much memory.
func TestStress(t *testing.T) {
	const mega = 1 << 20
	for _, test := range []struct {
		image, line string
		given       Resources
		want        Load // zero: the container ends
	}{
		{"polinux/stress", "stress --vm 1 --vm-bytes 150M --vm-hang 1", Resources{Memory: 200 * mega}, Load{CPU: 50, Memory: 150 * mega}},
		{"polinux/stress", "stress --vm 1 --vm-bytes 250M --vm-hang 1", Resources{Memory: 100 * mega}, Load{}},
		{"polinux/stress", "stress -m 2 --vm-bytes 64m", Resources{Memory: 100 * mega}, Load{}},
		{"polinux/stress", "stress -c 2", Resources{}, Load{CPU: 2000}},
		{"vish/stress", "stress -cpus 2", Resources{CPULimit: 1000}, Load{CPU: 1000}},
		{"vish/stress", "stress -mem-total 150Mi -mem-alloc-size 10Mi -mem-alloc-sleep 1s", Resources{}, Load{Memory: 150 * mega}},
		{"vish/stress", "stress -mem-total 150Mi -mem-alloc-size 10Mi -mem-alloc-sleep 1s", Resources{Memory: 100 * mega}, Load{}},
		{"busybox", "yes", Resources{CPULimit: 300}, Load{CPU: 300}},
	} {
		argv := strings.Fields(test.line)
		if test.line == "yes" {
			argv = []string{"sh", "-c", "yes > /dev/null"}
		}
		b, oom := given(t, test.given, test.image, argv...)
		if test.want != (Load{}) {
			b.step(t, func() bool { return b.Load() == test.want })
			b.Kill()
			<-b.ended
			continue
		}
		b.step(t, func() bool { return len(b.ended) > 0 })
		if code := <-b.ended; code != 137 || !oom() {
			t.Errorf("%s: exit code %d, of memory: %t", test.line, code, oom())
		}
	}
	if got := run(t, "polinux/stress", "stress", "-c", "1", "-t", "0").output(); got != "stress: info: [1] dispatching hogs: 1 cpu, 0 io, 0 vm, 0 hdd\nstress: info: [1] successful run completed in 0s\n" {
		t.Errorf("%q", got)
	}
}

// A server that calculates for each request uses a processor while it is asked, and not
// afterwards.
func TestLoadOfRequests(t *testing.T) {
	b, _ := given(t, Resources{CPULimit: 500}, "registry.k8s.io/hpa-example")
	if b.Load() != (Load{}) {
		t.Errorf("nobody asks, and it uses %v", b.Load())
	}
	for range 100 {
		b.answer(t, 80, "/")
		_ = b.clock.Step(50 * time.Millisecond)
	}
	if got := b.Load().CPU; got != 500 {
		t.Errorf("20 requests in a second use %d", got)
	}
	_ = b.clock.Step(time.Minute)
	if got := b.Load().CPU; got != 0 {
		t.Errorf("a minute later it uses %d", got)
	}
}

// A loop that waits for nothing keeps a processor busy, whatever it is written in, and one that waits does not.
func TestLoadOfLoops(t *testing.T) {
	for _, line := range []string{
		"while true; do :; done",
		"i=0; while [ $i -ge 0 ]; do i=$((i+1)); done",
		"dd if=/dev/zero of=/dev/null",
		"sha256sum /dev/urandom",
		"awk 'BEGIN { while (1) x++ }'",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			b, _ := given(t, Resources{CPULimit: 500}, "busybox", "sh", "-c", line)
			b.clock.Resume() // what a loop takes is real time, and nobody tells when it has taken it
			for began := time.Now(); b.Load().CPU < 500; time.Sleep(time.Millisecond) {
				if time.Since(began) > patience {
					t.Fatalf("it uses %d", b.Load().CPU)
				}
			}
			b.Kill()
			<-b.ended
		})
	}
	b, _ := given(t, Resources{}, "busybox", "sh", "-c", "i=0; while [ $i -lt 1000 ]; do i=$((i+1)); sleep 0.1; done; head -c 10 /dev/urandom > /dev/null")
	b.step(t, func() bool { return len(b.ended) > 0 })
	if got := b.Load(); got != (Load{}) {
		t.Errorf("a loop that waits uses %v", got)
	}
}

// What reads a file without end, or writes to one, ends with its program, and says nothing.
func TestProgramsEndBesideEndlessFiles(t *testing.T) {
	for _, line := range []string{
		"sha256sum /dev/urandom", "sha256sum < /dev/zero", "cat /dev/zero > /dev/null", "dd if=/dev/zero of=/dev/null", "cat /dev/zero | cat > /dev/null",
		"wc -l /dev/zero", "tail -c 10 /dev/zero", "sh -c 'while :; do :; done < /dev/zero'", "sh -c 'cat < /dev/zero > /dev/null'", "yes > /dev/null",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			b := run(t, "busybox", "sh", "-c", "timeout 1 "+line+"; echo $?")
			b.step(t, func() bool { return len(b.ended) > 0 })
			if got := b.output(); got != "124\n" && (!strings.Contains(line, "|") || got != "0\n") {
				t.Errorf("%q", got)
			}
		})
	}
}

func TestCapabilities(t *testing.T) {
	for _, test := range []struct {
		privileged bool
		add, drop  []string
		want       uint64
	}{
		{false, nil, nil, 0xa80425fb}, {false, []string{"NET_ADMIN", "SYS_TIME"}, nil, 0xaa0435fb}, {false, nil, []string{"ALL"}, 0},
		{false, []string{"CAP_NET_BIND_SERVICE"}, []string{"ALL"}, 0x400}, {false, []string{"ALL"}, []string{"CHOWN"}, 0x1fffffffffe}, {true, nil, nil, 0x1ffffffffff},
		{false, []string{"NONSENSE"}, []string{"CHOWN"}, 0xa80425fa},
	} {
		if got := Capabilities(test.privileged, test.add, test.drop); got != test.want {
			t.Errorf("%+v: %x", test, got)
		}
	}
}
