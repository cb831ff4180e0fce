package container

import (
	"fmt"
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// kernel shows a container what the kernel would in /proc and /sys/fs/cgroup. The texts
// are made when they are read.
func (c *Container) kernel(t *Tree) {
	proc, cgroup := t.disk.Sub(t.root, "proc"), t.disk.Sub(t.root, "sys/fs/cgroup")
	t.disk.mu.Lock()
	defer t.disk.mu.Unlock()
	delete(proc.entries, "1") // it may be that of another container
	proc.layer, cgroup.layer = procLayer{c, t}, cgroupLayer{c, t}
	t.readOnly[proc], t.readOnly[cgroup] = true, true
}

// textFile is a file that shows what the kernel tells.
func (c *Container) textFile(mode fs.FileMode, text func() string) *File {
	return &File{mode: mode, changed: c.Started, lazy: func() []byte { return []byte(text()) }}
}

// procLayer is /proc.
type procLayer struct {
	c *Container
	t *Tree
}

var procTexts = map[string]func(procLayer) string{
	"cpuinfo": func(procLayer) string {
		var b strings.Builder
		for i := range processors {
			fmt.Fprintf(&b, "processor\t: %d\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Kubetab simulated processor\ncpu MHz\t\t: 2200.000\ncache size\t: 39424 KB\nphysical id\t: 0\nsiblings\t: %d\ncore id\t\t: %d\ncpu cores\t: %d\nflags\t\t: fpu vme de pse tsc msr\nbogomips\t: 4400.00\n\n", i, processors, i, processors)
		}
		return b.String()
	},
	"meminfo": func(procLayer) string {
		var b strings.Builder
		for _, line := range []struct {
			name string
			kB   int
		}{{"MemTotal", memoryTotal}, {"MemFree", 5943860}, {"MemAvailable", 6700000}, {"Buffers", 50000}, {"Cached", 950000}, {"SwapCached", 0}, {"Shmem", 1000}, {"SwapTotal", 0}, {"SwapFree", 0}} {
			fmt.Fprintf(&b, "%-15s %8d kB\n", line.name+":", line.kB)
		}
		return b.String()
	},
	"version": func(procLayer) string {
		return "Linux version " + coreutils.KernelVersion + " (kubetab@simulated) (gcc (GCC) 14.2.0, GNU ld (GNU Binutils) 2.44) #1 SMP PREEMPT_DYNAMIC\n"
	},
	"uptime": func(l procLayer) string {
		up := l.c.cfg.Clock.Since(l.c.Started).Seconds()
		return fmt.Sprintf("%.2f %.2f\n", up, up*processors)
	},
	"loadavg":     func(l procLayer) string { return l.c.loadAverage() + "\n" },
	"mounts":      func(l procLayer) string { return l.t.mountTable() },
	"filesystems": func(procLayer) string { return "nodev\tproc\nnodev\ttmpfs\nnodev\toverlay\n\text4\n" },
	"stat": func(l procLayer) string {
		return fmt.Sprintf("cpu  0 0 0 0 0 0 0 0 0 0\nbtime %d\nprocesses 100\nprocs_running 1\nprocs_blocked 0\n", l.c.Started.Unix())
	},
	"cmdline": func(procLayer) string { return "BOOT_IMAGE=/boot/vmlinuz quiet\n" },
}

const memoryTotal = 8143860 // kB, as free says it

func (c *Container) loadAverage() string {
	busy := float64(c.Load().CPU) / 1000
	all := c.shows(nil)
	return fmt.Sprintf("%.2f %.2f %.2f 1/%d %d", busy, busy, busy, len(all), all[len(all)-1].number)
}

func (l procLayer) names() []string {
	names := []string{"self"}
	for name := range procTexts {
		names = append(names, name)
	}
	for _, p := range l.c.shows(nil) {
		names = append(names, strconv.Itoa(p.number))
	}
	return names
}

func (l procLayer) file(name string) *File {
	if text := procTexts[name]; text != nil {
		return l.c.textFile(0o444, func() string { return text(l) })
	}
	if name == "self" {
		return &File{mode: fs.ModeSymlink | 0o777, changed: l.c.Started, target: strconv.Itoa(l.c.first)}
	}
	number, err := strconv.Atoi(name)
	if err != nil {
		return nil
	}
	p, ok := l.c.process(number)
	if !ok {
		return nil
	}
	return &File{mode: fs.ModeDir | 0o555, changed: p.began, entries: map[string]*File{}, layer: processLayer{p.of, l.t, number}}
}

// process returns the process of a number.
func (c *Container) process(number int) (shown, bool) {
	for _, p := range c.shows(nil) {
		if p.number == number {
			return p, true
		}
	}
	return shown{}, false
}

// processLayer is /proc/NUMBER.
type processLayer struct {
	c      *Container
	t      *Tree
	number int
}

var processTexts = map[string]func(processLayer, shown) string{
	"cmdline": func(_ processLayer, p shown) string { return strings.Join(p.argv, "\x00") + "\x00" },
	"comm":    func(_ processLayer, p shown) string { return p.name() + "\n" },
	"status":  func(l processLayer, p shown) string { return l.c.statusOf(p) },
	"environ": func(l processLayer, _ shown) string { return strings.Join(l.c.env, "\x00") + "\x00" },
	"uid_map": func(processLayer, shown) string { return "         0          0 4294967295\n" },
	"gid_map": func(processLayer, shown) string { return "         0          0 4294967295\n" },
	"mounts":  func(l processLayer, _ shown) string { return l.t.mountTable() },
	"cgroup":  func(processLayer, shown) string { return "0::/\n" },
	"stat": func(_ processLayer, p shown) string {
		return fmt.Sprintf("%d (%s) S %d %d %d 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 1 0 0 0 %d\n", p.number, p.name(), p.parent, p.number, p.number, p.resident()/4)
	},
	"limits": func(processLayer, shown) string {
		return "Limit                     Soft Limit           Hard Limit           Units     \nMax open files            1048576              1048576              files     \n"
	},
	"oom_score_adj": func(processLayer, shown) string { return "0\n" },
}

// names leaves out the links root and cwd: who goes through all files and follows links
// would come to no end.
func (l processLayer) names() []string {
	names := []string{"exe", "fd"}
	for name := range processTexts {
		names = append(names, name)
	}
	return names
}

func (l processLayer) file(name string) *File {
	link := func(target string) *File {
		return &File{mode: fs.ModeSymlink | 0o777, changed: l.c.Started, target: target}
	}
	switch name {
	case "fd":
		if l.number == l.c.first && l.c.made.Load() == l.t {
			return l.t.outputs
		}
		return nil
	case "root":
		if of := l.c.made.Load(); of != nil && of != l.t {
			return of.root // of another container of the Pod
		}
		return link("/")
	case "cwd":
		return link("/")
	case "exe":
		if p, ok := l.c.process(l.number); ok {
			return link("/bin/" + path.Base(p.name()))
		}
		return nil
	}
	text := processTexts[name]
	if text == nil {
		return nil
	}
	mode := fs.FileMode(0o444)
	if name == "environ" {
		mode = 0o400
	}
	file := l.c.textFile(mode, func() string {
		p, ok := l.c.process(l.number)
		if !ok {
			return ""
		}
		return text(l, p)
	})
	file.uid, file.gid = l.c.cfg.User.UID, l.c.cfg.User.GID
	return file
}

// statusOf is /proc/NUMBER/status.
func (c *Container) statusOf(p shown) string {
	var groups strings.Builder
	for _, g := range p.user.kernelGroups() {
		fmt.Fprintf(&groups, "%d ", g)
	}
	held := c.cfg.Capabilities
	if !p.user.isRoot() {
		held = 0
	}
	four := func(n int64) string { return fmt.Sprintf("%d\t%d\t%d\t%d", n, n, n, n) }
	name := p.name()
	return fmt.Sprintf("Name:\t%s\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t%d\nNgid:\t0\nPid:\t%d\nPPid:\t%d\nTracerPid:\t0\nUid:\t%s\nGid:\t%s\nFDSize:\t64\nGroups:\t%s\nNStgid:\t%d\nNSpid:\t%d\nVmPeak:\t%8d kB\nVmSize:\t%8d kB\nVmRSS:\t%8d kB\nThreads:\t1\nSigQ:\t0/31711\nSigPnd:\t0000000000000000\nSigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nSigCgt:\t0000000000000000\nCapInh:\t0000000000000000\nCapPrm:\t%016x\nCapEff:\t%016x\nCapBnd:\t%016x\nCapAmb:\t0000000000000000\nNoNewPrivs:\t0\nSeccomp:\t0\nCpus_allowed:\t%x\nCpus_allowed_list:\t0-%d\n",
		name[:min(len(name), 15)], p.number, p.number, p.parent, four(p.user.UID), four(p.user.GID), groups.String(), p.number, p.number,
		p.resident()+1024, p.resident()+1024, p.resident(), held, held, c.cfg.Capabilities, 1<<processors-1, processors-1)
}

// cgroupLayer is /sys/fs/cgroup, which is the container's own.
type cgroupLayer struct {
	c *Container
	t *Tree
}

// cpuPeriod is that of quotas, in microseconds, and leastQuota the smallest of them
// (k8s.io/kubernetes/pkg/kubelet/cm, MilliCPUToQuota).
const (
	cpuPeriod  = 100000
	leastQuota = 1000
)

var cgroupTexts = map[string]func(*Container) string{
	"cgroup.controllers": func(*Container) string { return "cpuset cpu io memory hugetlb pids rdma misc" },
	"cgroup.procs": func(c *Container) string {
		var numbers []string
		for _, p := range c.shows(nil) {
			numbers = append(numbers, strconv.Itoa(p.number))
		}
		return strings.Join(numbers, "\n")
	},
	"cpu.max": func(c *Container) string {
		limit := c.Resources().CPULimit
		if limit <= 0 {
			return fmt.Sprintf("max %d", cpuPeriod)
		}
		return fmt.Sprintf("%d %d", max(limit*cpuPeriod/1000, leastQuota), cpuPeriod)
	},
	"cpu.weight": func(c *Container) string { return strconv.FormatUint(cpuWeight(c.Resources().CPURequest), 10) },
	"cpu.stat": func(c *Container) string {
		used := time.Duration(c.Load().CPU) * c.cfg.Clock.Since(c.Started) / 1000
		return fmt.Sprintf("usage_usec %d\nuser_usec %d\nsystem_usec 0\nnr_periods 0\nnr_throttled 0\nthrottled_usec 0", used.Microseconds(), used.Microseconds())
	},
	"memory.max": func(c *Container) string {
		const page = 4096
		if limit := c.Resources().Memory; limit > 0 {
			return strconv.FormatInt(limit/page*page, 10)
		}
		return "max"
	},
	"memory.min": func(*Container) string { return "0" }, "memory.high": func(*Container) string { return "max" },
	"memory.swap.max": func(*Container) string { return "0" }, "memory.swap.current": func(*Container) string { return "0" },
	"memory.current": func(c *Container) string { return strconv.FormatInt(c.Load().Memory+c.Tmpfs()+ownMemory, 10) },
	"pids.max":       func(*Container) string { return "max" },
	"pids.current":   func(c *Container) string { return strconv.Itoa(len(c.shows(nil))) },
}

// cpuWeight is the weight of a request, by way of shares: see MilliCPUToShares of the
// kubelet and ConvertCPUSharesToCgroupV2Value of github.com/opencontainers/cgroups.
func cpuWeight(milli int64) uint64 {
	shares := min(max(milli*1024/1000, 2), 262144)
	switch shares {
	case 2:
		return 1
	case 262144:
		return 10000
	}
	l := math.Log2(float64(shares))
	return uint64(math.Ceil(math.Pow(10, (l*l+125*l)/612-7.0/34)))
}

func (l cgroupLayer) names() []string {
	var names []string
	for name := range cgroupTexts {
		names = append(names, name)
	}
	return names
}

func (l cgroupLayer) file(name string) *File {
	text := cgroupTexts[name]
	if text == nil {
		return nil
	}
	return l.c.textFile(0o644, func() string { return text(l.c) + "\n" })
}
