package container

import (
	"fmt"
	"strings"
)

// mounted is a file system that hangs in a tree.
type mounted struct {
	at       string
	file     *File
	readOnly bool
}

// systemMounts are those that every container has, as /proc/mounts shows them.
var systemMounts = [][4]string{
	{"proc", "/proc", "proc", "rw,nosuid,nodev,noexec,relatime"}, {"tmpfs", "/dev", "tmpfs", "rw,nosuid,size=65536k,mode=755"},
	{"devpts", "/dev/pts", "devpts", "rw,nosuid,noexec,relatime,gid=5,mode=620,ptmxmode=666"}, {"mqueue", "/dev/mqueue", "mqueue", "rw,nosuid,nodev,noexec,relatime"},
	{"sysfs", "/sys", "sysfs", "ro,nosuid,nodev,noexec,relatime"}, {"cgroup", "/sys/fs/cgroup", "cgroup2", "ro,nosuid,nodev,noexec,relatime"},
}

// NodeDisk is the device of a node's disk.
const NodeDisk = "/dev/vda1"

// mountTable is /proc/mounts, for those who hold the disk's lock.
func (t *Tree) mountTable() string {
	var b strings.Builder
	way := "rw"
	if t.frozen {
		way = "ro"
	}
	fmt.Fprintf(&b, "overlay / overlay %s,relatime,lowerdir=/var/lib/containerd/snapshots/1/fs,upperdir=/var/lib/containerd/snapshots/2/fs,workdir=/var/lib/containerd/snapshots/2/work 0 0\n", way)
	for _, m := range systemMounts {
		fmt.Fprintf(&b, "%s %s %s %s 0 0\n", m[0], m[1], m[2], m[3])
	}
	for _, m := range t.mounts {
		way := "rw"
		if m.readOnly {
			way = "ro"
		}
		device, kind, more := NodeDisk, "ext4", ""
		if size, ok := m.tmpfs(); ok {
			device, kind = "tmpfs", "tmpfs"
			if size > 0 {
				more = fmt.Sprintf(",size=%dk", size>>10)
			}
		}
		fmt.Fprintf(&b, "%s %s %s %s,relatime%s 0 0\n", device, m.at, kind, way, more)
	}
	for _, file := range []string{"/etc/hosts", "/etc/hostname", "/etc/resolv.conf"} {
		fmt.Fprintf(&b, "%s %s ext4 rw,relatime 0 0\n", NodeDisk, file)
	}
	fmt.Fprintln(&b, "shm /dev/shm tmpfs rw,nosuid,nodev,noexec,relatime,size=65536k 0 0")
	return b.String()
}

// tmpfs reports whether the mount is in memory, and its size; 0 is none that is known.
func (m mounted) tmpfs() (size int64, ok bool) {
	if q := m.file.quota; q != nil && q.inMemory {
		return q.limit, true
	}
	return 0, false
}

// mount lists the mounts.
func mount(k *call) int {
	if len(k.Args) > 0 && !strings.HasPrefix(k.Args[0], "-t") && !strings.HasPrefix(k.Args[0], "-l") {
		return k.Fail("permission denied (are you root?)")
	}
	text, err := k.Files.ReadFile("/proc/mounts")
	if err != nil {
		return k.Fail("no /proc/mounts")
	}
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 3 {
			fmt.Fprintf(k.Stdout, "%s on %s type %s (%s)\n", f[0], f[1], f[2], f[3])
		}
	}
	return 0
}
