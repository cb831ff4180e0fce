package lifecycle

import (
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
)

// hostsFile is a Pod's /etc/hosts, as the kubelet writes it (pkg/kubelet, managedHostsFileContent): with the name in
// full where the Pod has a subdomain. One on its node's network has the node's own.
func (p *Pod) hostsFile(obj *v1.Pod) string {
	var b strings.Builder
	name, ip := p.hostname(obj), p.ip
	if obj.Spec.HostNetwork {
		fmt.Fprintf(&b, "# Kubernetes-managed hosts file (host network).\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n%s\t%s\n", ip, p.Node.Name)
	} else {
		b.WriteString("# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\nfe00::0\tip6-localnet\nfe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n")
		if obj.Spec.Subdomain != "" && obj.Spec.HostnameOverride == nil {
			fmt.Fprintf(&b, "%s\t%s.%s.%s.svc.cluster.local\t%s\n", ip, name, obj.Spec.Subdomain, obj.Namespace, name)
		} else {
			fmt.Fprintf(&b, "%s\t%s\n", ip, name)
		}
	}
	if len(obj.Spec.HostAliases) > 0 {
		b.WriteString("\n# Entries added by HostAliases.\n")
	}
	for _, alias := range obj.Spec.HostAliases {
		fmt.Fprintf(&b, "%s\t%s\n", alias.IP, strings.Join(alias.Hostnames, "\t"))
	}
	return b.String()
}
