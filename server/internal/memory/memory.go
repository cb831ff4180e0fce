// Package memory says how much memory the process may take. It links nothing of Kubernetes.
package memory

import (
	"bufio"
	"bytes"
	"io/fs"
	"math"
	"os"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

// Limit returns how many bytes of memory this process may take, and 0 where nobody knows, as on other systems than Linux:
// GOMEMLIMIT if it is set, else the smallest limit of the process's control groups (memory.max of version 2,
// memory.limit_in_bytes of version 1), else half of the machine's memory, which others need, too.
func Limit() uint64 {
	if set := debug.SetMemoryLimit(-1); set != math.MaxInt64 { // a negative limit only asks
		return uint64(set)
	}
	return limitOf(os.DirFS("/"))
}

// limitOf is Limit of a process without GOMEMLIMIT on a machine whose files are those of root.
func limitOf(root fs.FS) uint64 {
	of := machine(root)
	if group := controlGroup(root); group > 0 && group < of || of == 0 { // one that is larger than the machine limits nothing
		return group
	}
	return of / 2
}

// machine returns the bytes of memory that the machine has, 0 where nobody knows. See proc_meminfo(5).
func machine(root fs.FS) uint64 {
	info, err := fs.ReadFile(root, "proc/meminfo")
	if err != nil {
		return 0
	}
	for line := range bytes.Lines(info) {
		if total, is := bytes.CutPrefix(line, []byte("MemTotal:")); is {
			return number(strings.TrimSuffix(strings.TrimSpace(string(total)), " kB")) << 10
		}
	}
	return 0
}

// controlGroup returns the smallest limit of this process's control groups and of those that they are in, 0 for none. In a
// container the file system of groups may begin with the container's group, and /proc still name it by its path outside, of
// which nothing is found then. See cgroups(7).
func controlGroup(root fs.FS) uint64 {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	least := uint64(0)
	for lines := bufio.NewScanner(bytes.NewReader(groups)); lines.Scan(); {
		// hierarchy:controllers:path, and version 2 has the hierarchy 0 without controllers.
		parts := strings.SplitN(lines.Text(), ":", 3)
		if len(parts) < 3 {
			continue
		}
		var top, file string
		switch {
		case parts[0] == "0" && parts[1] == "":
			top, file = "sys/fs/cgroup", "memory.max"
		case parts[1] == "memory":
			top, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		default:
			continue
		}
		for group := path.Join("/", parts[2]); ; group = path.Dir(group) {
			text, err := fs.ReadFile(root, path.Join(top, group, file))
			if limit := number(strings.TrimSpace(string(text))); err == nil && limit > 0 && (least == 0 || limit < least) {
				least = limit
			}
			if group == "/" {
				break
			}
		}
	}
	return least
}

// number returns what text says, 0 for what is no number, as "max" of version 2.
func number(text string) uint64 {
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0
	}
	return n
}
