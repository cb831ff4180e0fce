package container

import (
	"fmt"
	"path"
	"strconv"
	"strings"
)

// fileSystem is one that df shows, with its size in kB.
type fileSystem struct {
	device, kind, at string
	size, used, free int64
}

// fileSystems returns those of a tree: the root first, and volumes in the order in which
// they were mounted. The node's disk has so many bytes.
func (t *Tree) fileSystems(nodeSize int64) []fileSystem {
	t.disk.mu.RLock()
	defer t.disk.mu.RUnlock()
	space := t.disk.spaceLocked(nodeSize)
	size, used, free := space.Size>>10, (space.Used+1023)>>10, space.Available>>10
	all := []fileSystem{{"overlay", "overlay", "/", size, used, free}, {"tmpfs", "tmpfs", "/dev", 65536, 0, 65536}}
	for _, m := range t.mounts {
		f := fileSystem{NodeDisk, "ext4", m.at, size, used, free}
		if size, ok := m.tmpfs(); ok {
			f.device, f.kind, f.used = "tmpfs", "tmpfs", (m.file.quota.Used()+1023)>>10
			if f.size = size >> 10; size == 0 {
				f.size = memoryTotal
			}
			f.free = max(f.size-f.used, 0)
		}
		all = append(all, f)
	}
	for _, file := range []string{"/etc/hosts", "/etc/hostname", "/etc/resolv.conf"} {
		all = append(all, fileSystem{NodeDisk, "ext4", file, size, used, free})
	}
	return append(all, fileSystem{"shm", "tmpfs", "/dev/shm", 65536, 0, 65536})
}

// fileSystemOf returns the file system that a path is on.
func fileSystemOf(all []fileSystem, p string) fileSystem {
	best := all[0]
	for _, f := range all {
		if len(f.at) > len(best.at) && (p == f.at || strings.HasPrefix(p, f.at+"/")) {
			best = f
		}
	}
	return best
}

// df shows how much room there is: of the volumes, which busybox and Debian do alike.
func df(k *call) int {
	f := k.Flags("t")
	all := k.session.c.tree().fileSystems(k.session.c.root().cfg.Disk)
	code := 0
	if len(f.Rest) > 0 {
		var some []fileSystem
		for _, name := range f.Rest {
			if _, err := k.Files.Stat(k.Path(name), true); err != nil {
				code = k.Fail("%s: No such file or directory", name)
				continue
			}
			some = append(some, fileSystemOf(all, path.Clean(k.Path(name))))
		}
		if all = some; len(all) == 0 {
			return code
		}
	}
	_, long := f.Long["human-readable"]
	show, header := func(kB int64) string { return strconv.FormatInt(kB, 10) }, "1K-blocks"
	switch {
	case f.On['h'] || long:
		show, header = human, "Size"
	case f.On['m']:
		show, header = func(kB int64) string { return strconv.FormatInt((kB+1023)/1024, 10) }, "1M-blocks"
	}
	kind := func(string) string { return "" }
	if f.On['T'] {
		kind = func(name string) string { return fmt.Sprintf("%-10s", name) }
	}
	fmt.Fprintf(k.Stdout, "%-20s %s%9s %9s %9s Use%% Mounted on\n", "Filesystem", kind("Type"), header, "Used", "Available")
	for _, s := range all {
		percent := int64(0)
		if total := s.used + s.free; total > 0 {
			percent = (s.used*100 + total - 1) / total // of what is used or free: the rest is nobody's
		}
		fmt.Fprintf(k.Stdout, "%-20s %s%9s %9s %9s %3d%% %s\n", s.device, kind(s.kind), show(s.size), show(s.used), show(s.free), percent, s.at)
	}
	return code
}

// human is a size in kB as -h shows it.
func human(kB int64) string {
	size := float64(kB)
	for _, unit := range "KMG" {
		if size < 1024 {
			if kB == 0 {
				return "0"
			}
			return fmt.Sprintf("%.1f%c", size, unit)
		}
		size /= 1024
	}
	return fmt.Sprintf("%.1fT", size)
}
