package container

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// sysctls are parameters of a container's kernel with what they are unless its Pod says otherwise.
var sysctls = map[string]string{
	"kernel.ostype": "Linux", "kernel.osrelease": coreutils.KernelVersion, "kernel.pid_max": "4194304", "kernel.shm_rmid_forced": "0", "kernel.msgmax": "8192",
	"net.core.somaxconn": "4096", "net.ipv4.ip_forward": "1", "net.ipv4.ip_local_port_range": "32768\t60999", "net.ipv4.ip_unprivileged_port_start": "0",
	"net.ipv4.ping_group_range": "0\t2147483647", "net.ipv4.tcp_syncookies": "1", "net.ipv4.tcp_keepalive_time": "7200", "net.ipv4.tcp_keepalive_intvl": "75",
	"net.ipv4.tcp_keepalive_probes": "9", "net.ipv4.tcp_fin_timeout": "60", "net.ipv4.tcp_slow_start_after_idle": "1",
	"vm.max_map_count": "1048576", "vm.swappiness": "60", "fs.file-max": "9223372036854775807",
}

// sysctl shows parameters of the kernel. To change one, a Pod has to ask for it.
func sysctl(k *call) int {
	f := k.Flags("")
	all := maps.Clone(sysctls)
	maps.Copy(all, k.session.c.cfg.Sysctls)
	names := f.Rest
	if f.On['a'] {
		names = slices.Sorted(maps.Keys(all))
	}
	code := 0
	for _, name := range names {
		name, value, set := strings.Cut(name, "=")
		have, ok := all[strings.ReplaceAll(name, "/", ".")]
		switch {
		case !ok:
			code = k.Fail("cannot stat /proc/sys/%s: No such file or directory", strings.ReplaceAll(name, ".", "/"))
		case set && value != have:
			code = k.Fail("error setting key '%s': Read-only file system", name)
		case f.On['n']:
			fmt.Fprintln(k.Stdout, have)
		default:
			fmt.Fprintln(k.Stdout, name, "=", have)
		}
	}
	return code
}
