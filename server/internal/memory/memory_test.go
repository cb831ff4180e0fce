package memory

import (
	"math"
	"runtime/debug"
	"testing"
	"testing/fstest"
)

func TestLimitOf(t *testing.T) {
	const machine = "MemTotal:       24000000 kB\nMemFree:        15000000 kB\n" // 24,576,000,000 bytes
	for name, c := range map[string]struct {
		files map[string]string
		want  uint64
	}{
		"a machine without groups": {map[string]string{"proc/meminfo": machine}, 12_288_000_000},
		"version 2": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "0::/system.slice/a.service\n",
			"sys/fs/cgroup/system.slice/a.service/memory.max": "536870912\n", "sys/fs/cgroup/system.slice/memory.max": "max\n",
		}, 512 << 20},
		"version 2, of the group around it": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "1073741824\n",
		}, 1 << 30},
		"version 2, in a container's own file system of groups": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "0::/../../docker/abc\n", "sys/fs/cgroup/memory.max": "268435456\n",
		}, 256 << 20},
		"version 2 without a limit": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n",
		}, 12_288_000_000},
		"version 1": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "9:name=systemd:/\n4:memory:/docker/abc\n1:cpu,cpuacct:/docker/abc\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n", "sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "734003200\n",
		}, 700 << 20},
		"version 1 without a limit": {map[string]string{
			"proc/meminfo": machine, "proc/self/cgroup": "4:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 12_288_000_000},
		"another system": {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			root := fstest.MapFS{}
			for path, text := range c.files {
				root[path] = &fstest.MapFile{Data: []byte(text)}
			}
			if got := limitOf(root); got != c.want {
				t.Errorf("%d bytes, want %d", got, c.want)
			}
		})
	}
}

// GOMEMLIMIT counts before what the machine has.
func TestLimitThatIsSet(t *testing.T) {
	before := debug.SetMemoryLimit(700 << 20)
	defer debug.SetMemoryLimit(before)
	if got := Limit(); got != 700<<20 {
		t.Errorf("%d bytes", got)
	}
	debug.SetMemoryLimit(math.MaxInt64)
	if got := Limit(); got == math.MaxInt64 {
		t.Error("no limit was taken for one")
	}
}
