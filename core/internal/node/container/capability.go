package container

import "strings"

// capabilities are the kernel's, by their numbers (capability.h).
var capabilities = strings.Fields("CHOWN DAC_OVERRIDE DAC_READ_SEARCH FOWNER FSETID KILL SETGID SETUID SETPCAP LINUX_IMMUTABLE NET_BIND_SERVICE NET_BROADCAST NET_ADMIN NET_RAW IPC_LOCK IPC_OWNER SYS_MODULE SYS_RAWIO SYS_CHROOT SYS_PTRACE SYS_PACCT SYS_ADMIN SYS_BOOT SYS_NICE SYS_RESOURCE SYS_TIME SYS_TTY_CONFIG MKNOD LEASE AUDIT_WRITE AUDIT_CONTROL SETFCAP MAC_OVERRIDE MAC_ADMIN SYSLOG WAKE_ALARM BLOCK_SUSPEND AUDIT_READ PERFMON BPF CHECKPOINT_RESTORE")

// What containers have by default, as containerd and CRI-O have it, and what there is.
const (
	defaultCapabilities uint64 = 0xa80425fb
	allCapabilities     uint64 = 1<<41 - 1
)

// What root may do by capabilities: give files away, become another group and user, and set the clock.
const (
	capChown   uint64 = 1 << 0
	capSetgid  uint64 = 1 << 6
	capSetuid  uint64 = 1 << 7
	capSysTime uint64 = 1 << 25
)

// Capabilities returns what a container may do, a bit for each of the kernel's
// capabilities: those of the default, with some added and some dropped, which may be
// "ALL". A privileged container has them all. Names that the kernel does not know are
// ignored.
func Capabilities(privileged bool, add, drop []string) uint64 {
	if privileged {
		return allCapabilities
	}
	bits := func(names []string) (all uint64) {
		for _, name := range names {
			name = strings.TrimPrefix(strings.ToUpper(name), "CAP_")
			if name == "ALL" {
				return allCapabilities
			}
			for i, known := range capabilities {
				if known == name {
					all |= 1 << i
				}
			}
		}
		return all
	}
	added, dropped := bits(add), bits(drop)
	switch {
	case dropped == allCapabilities: // what is named is added afterwards
		return added
	case added == allCapabilities:
		return allCapabilities &^ dropped
	}
	return (defaultCapabilities | added) &^ dropped
}
