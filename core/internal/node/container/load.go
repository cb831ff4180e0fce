package container

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// Resources are what a container is given. 0 is no limit.
type Resources struct {
	CPURequest, CPULimit int64 // in thousandths of a processor
	Memory               int64 // that it may take at most, in bytes
}

// Load is what programs of a container use that are there to use something. 0 is
// nothing worth a word.
type Load struct {
	CPU    int64 // in thousandths of a processor
	Memory int64 // in bytes
}

// loads are those of a container's programs.
type loads struct {
	mu  sync.Mutex
	all map[*Load]bool
	// spent is what was taken of processors in the current window, which began at since, and older in the one before it.
	since        time.Time
	spent, older time.Duration
}

// Resources returns what the container is given at the moment.
func (c *Container) Resources() Resources {
	if of := c.root().cfg.Resources; of != nil {
		return of()
	}
	return Resources{}
}

// Load returns what the container's programs use, not more than it is given.
func (c *Container) Load() Load {
	c = c.root()
	c.loads.mu.Lock()
	defer c.loads.mu.Unlock()
	sum := Load{CPU: c.loads.spentLocked(c.cfg.Clock.Now())}
	for l := range c.loads.all {
		sum.CPU += l.CPU
		sum.Memory += l.Memory
	}
	most := int64(processors * 1000)
	if limit := c.Resources().CPULimit; limit > 0 {
		most = min(most, limit)
	}
	sum.CPU = min(sum.CPU, most)
	return sum
}

// use notes what a program uses until release is called. A container that takes more
// memory than it may is ended by that, as by the kernel.
func (c *Container) use(l *Load) (release func()) {
	c = c.root()
	c.loads.mu.Lock()
	if c.loads.all == nil {
		c.loads.all = map[*Load]bool{}
	}
	c.loads.all[l] = true
	c.loads.mu.Unlock()
	c.weigh()
	return func() {
		c.loads.mu.Lock()
		defer c.loads.mu.Unlock()
		delete(c.loads.all, l)
	}
}

// ownMemory is what a container takes beside its Load and its files in memory, in bytes.
const ownMemory = 1 << 20

// Tmpfs returns how many bytes of memory the files take that the container has written to
// file systems in memory, in this run or an earlier one.
func (c *Container) Tmpfs() int64 {
	if of := c.root().cfg.Memory; of != nil {
		return of.Used()
	}
	return 0
}

// weigh ends the container if it takes too much memory. What its programs use is theirs
// to the last byte, but beside files in memory there is the program that writes them.
func (c *Container) weigh() {
	limit, used := c.Resources().Memory, c.Load().Memory
	if files := c.Tmpfs(); files > 0 {
		used += files + ownMemory
	}
	if limit > 0 && used > limit {
		c.outOfMemory()
	}
}

// outOfMemory ends the container as the kernel does when it takes more memory than it
// may.
func (c *Container) outOfMemory() {
	c = c.root()
	if c.cfg.OnOOM != nil {
		c.cfg.OnOOM()
	}
	c.Kill()
}

// window is how long what was taken of processors is counted together, and requestCost what a request takes of one in an
// image that is there to use one.
const (
	window      = 15 * time.Second
	requestCost = 50 * time.Millisecond
)

// spend notes that a program has taken some time of a processor.
func (c *Container) spend(d time.Duration) {
	c = c.root()
	c.loads.mu.Lock()
	defer c.loads.mu.Unlock()
	c.loads.turnLocked(c.cfg.Clock.Now())
	c.loads.spent += d
}

// turnLocked begins a new window if it is time for one.
func (l *loads) turnLocked(now time.Time) {
	switch age := now.Sub(l.since); {
	case age >= 2*window:
		l.since, l.older, l.spent = now, 0, 0
	case age >= window:
		l.since, l.older, l.spent = l.since.Add(window), l.spent, 0
	}
}

// spentLocked is what was taken lately, in thousandths of a processor.
func (l *loads) spentLocked(now time.Time) int64 {
	l.turnLocked(now)
	took := now.Sub(l.since)
	if l.older > 0 {
		took += window
	}
	return int64((l.older + l.spent) * 1000 / max(took, time.Second))
}

// stress uses processors and memory, as it is told: stress of Debian and Alpine, or that
// of vish/stress, whose options are long with one dash.
func stress(k *call) int {
	for _, arg := range k.Args {
		if name := strings.TrimLeft(arg, "-"); strings.HasPrefix(arg, "-") && (strings.HasPrefix(name, "cpus") || strings.HasPrefix(name, "mem-")) {
			return vishStress(k)
		}
	}
	if len(k.Args) == 0 {
		fmt.Fprintln(k.Stdout, "Usage: stress [OPTION [ARG]] ...")
		return 0
	}
	number := func(short, long string) int64 {
		n, _ := strconv.ParseInt(longValue(k.Args, short, long), 10, 32) // stress takes what is no number for 0
		return max(n, 0)
	}
	cpu, disks, vm, hdd := number("-c", "--cpu"), number("-i", "--io"), number("-m", "--vm"), number("-d", "--hdd")
	size := int64(256 << 20)
	if text := longValue(k.Args, "", "--vm-bytes"); text != "" {
		size = bytesOf(text)
	}
	load := &Load{CPU: cpu * 1000, Memory: multiplied(vm, size)}
	if longValue(k.Args, "", "--vm-hang") == "" && !containsWord(k.Args, "--vm-keep") {
		load.CPU += vm * 1000
	} else {
		load.CPU += vm * 50
	}
	self := k.session.c.number(k.process)
	fmt.Fprintf(k.Stdout, "stress: info: [%d] dispatching hogs: %d cpu, %d io, %d vm, %d hdd\n", self, cpu, disks, vm, hdd)
	defer k.session.c.use(load)()
	timeout := longValue(k.Args, "-t", "--timeout")
	d, ok := coreutils.ParseDuration(timeout)
	if !ok || timeout == "" {
		d = time.Duration(math.MaxInt64)
	}
	code := k.session.Pause(k.Call, d)
	if code == 0 {
		fmt.Fprintf(k.Stdout, "stress: info: [%d] successful run completed in %ds\n", self, int(d.Seconds()))
	}
	return code
}

func containsWord(args []string, word string) bool {
	for _, arg := range args {
		if arg == word {
			return true
		}
	}
	return false
}

// multiplied is n times size, or as much as there can be.
func multiplied(n, size int64) int64 {
	if n > 0 && size > math.MaxInt64/4/n {
		return math.MaxInt64 / 4
	}
	return n * size
}

// bytesOf reads a size with a unit: k, M, G, and Ki, Mi, Gi.
func bytesOf(text string) int64 {
	digits := strings.TrimRight(text, "bBkKmMgGtTi")
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	unit := int64(1)
	switch strings.ToLower(strings.TrimSuffix(text[len(digits):]+" ", " ")) {
	case "k", "ki", "kb", "kib":
		unit = 1 << 10
	case "m", "mi", "mb", "mib":
		unit = 1 << 20
	case "g", "gi", "gb", "gib":
		unit = 1 << 30
	case "t", "ti":
		unit = 1 << 40
	}
	return multiplied(n, unit)
}

// allocations is how many steps the memory of vish/stress takes at most.
const allocations = 32

// vishStress takes memory little by little, and processors.
func vishStress(k *call) int {
	option := func(name, otherwise string) string {
		if value := longValue(k.Args, "-"+name, "--"+name); value != "" {
			return strings.TrimPrefix(value, "=")
		}
		return otherwise
	}
	total, chunk, pause := option("mem-total", "0"), option("mem-alloc-size", "4Ki"), option("mem-alloc-sleep", "1ms")
	sleep, err := time.ParseDuration(pause)
	if err != nil || sleep < 0 {
		return k.Fail("invalid value %q for flag -mem-alloc-sleep", pause)
	}
	say := func(line int, format string, args ...any) {
		fmt.Fprintf(k.Stderr, "I%s       1 main.go:%d] %s\n", k.session.c.stamp("0102 15:04:05.000000"), line, fmt.Sprintf(format, args...))
	}
	say(26, "Allocating %q memory, in %q chunks, with a %v sleep between allocations", total, chunk, sleep)
	cpus, _ := strconv.ParseInt(option("cpus", "0"), 10, 16) // a flag that is no number is 0 here
	for range min(max(cpus, 0), 64) {
		say(39, "Spawning a thread to consume CPU")
	}
	load := &Load{CPU: max(cpus, 0) * 1000}
	release := k.session.c.use(load)
	defer func() { release() }()
	want := bytesOf(total)
	chunks := want / max(bytesOf(chunk), 1)
	for step := range min(chunks, allocations) {
		took := time.Duration(float64(sleep) * float64(chunks) / float64(min(chunks, allocations)))
		if code := k.session.Pause(k.Call, took); code != 0 {
			return code
		}
		grown := &Load{CPU: load.CPU, Memory: want / min(chunks, allocations) * (step + 1)}
		release()
		load, release = grown, k.session.c.use(grown)
	}
	if want > 0 {
		release()
		release = k.session.c.use(&Load{CPU: load.CPU, Memory: want})
	}
	say(29, "Allocated %q memory", total)
	return k.session.Pause(k.Call, time.Duration(math.MaxInt64))
}
