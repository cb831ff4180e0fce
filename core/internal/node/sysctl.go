package node

import (
	"fmt"
	"slices"

	v1 "k8s.io/api/core/v1"
	utilsysctl "k8s.io/component-helpers/node/util/sysctl"
)

// safeSysctls are those that a kubelet lets Pods set (pkg/kubelet/sysctl, which asks the machine's kernel whether it has
// them).
var safeSysctls = []string{
	"kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies", "net.ipv4.ping_group_range",
	"net.ipv4.ip_unprivileged_port_start", "net.ipv4.ip_local_reserved_ports", "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout",
	"net.ipv4.tcp_keepalive_intvl", "net.ipv4.tcp_keepalive_probes", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem",
	"net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_notsent_lowat",
}

// forbiddenSysctl says why a Pod must not set a sysctl that it sets, "" if it may.
func forbiddenSysctl(obj *v1.Pod) string {
	if obj.Spec.SecurityContext == nil {
		return ""
	}
	for _, s := range obj.Spec.SecurityContext.Sysctls {
		if !slices.Contains(safeSysctls, utilsysctl.NormalizeName(s.Name)) {
			return fmt.Sprintf("forbidden sysctl: %q not allowlisted", s.Name)
		}
	}
	return ""
}
