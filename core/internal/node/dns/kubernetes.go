package dns

import (
	"slices"
	"strconv"
	"strings"

	"github.com/coredns/caddy/caddyfile"
)

// kubernetes is the plugin of that name.
type kubernetes struct {
	zones, next []string
	ttl         int
	pods        bool
	namespaces  []string // empty: all
}

func (s *site) setupKubernetes(c *caddyfile.Dispenser) error {
	k := &kubernetes{ttl: 5}
	for c.Next() {
		k.zones = s.zones(c.RemainingArgs())
		for c.NextBlock() {
			switch c.Val() {
			case "pods":
				args := c.RemainingArgs()
				if len(args) != 1 {
					return c.ArgErr()
				}
				switch args[0] {
				case "insecure", "verified":
					k.pods = true
				case "disabled":
				default:
					return c.Errf("wrong value for pods: %s,  must be one of: disabled, verified, insecure", args[0])
				}
			case "ttl":
				args := c.RemainingArgs()
				if len(args) != 1 {
					return c.ArgErr()
				}
				n, err := strconv.Atoi(args[0])
				if err != nil {
					return err
				}
				if n < 0 || n > 3600 {
					return c.Errf("ttl must be in range [0, 3600]: %d", n)
				}
				k.ttl = n
			case "namespaces":
				k.namespaces = append(k.namespaces, c.RemainingArgs()...)
			case "fallthrough":
				k.next = fallthroughTo(c)
			case "endpoint_pod_names", "noendpoints", "ignore", "namespace_labels", "labels", "transfer", "endpoint", "tls", "kubeconfig", "startup_timeout", "apiserver_qps", "apiserver_burst", "apiserver_max_inflight", "multicluster":
				c.RemainingArgs()
			default:
				return c.Errf("unknown property '%s'", c.Val())
			}
		}
	}
	s.kubernetes = k
	return nil
}

// answer returns false for what the next plugin answers.
func (k *kubernetes) answer(cluster func(Question) ([]Record, bool), q Question) (Answer, bool) {
	if !among(q.Name, k.zones) {
		return Answer{}, false
	}
	hidden := k.hides(q.Name)
	records, ok := cluster(q)
	switch {
	case ok && !hidden || slices.Contains(k.zones, q.Name):
		for i := range records {
			records[i].TTL = k.ttl
		}
		return Answer{Records: records, Authoritative: true}, true
	case among(q.Name, k.next):
		return Answer{}, false
	}
	return Answer{Code: NameError, Authoritative: true}, true
}

// hides reports whether a name of a Service or of a Pod, as NAMESPACE.svc.cluster.local ends, is one that the plugin is not to
// know.
func (k *kubernetes) hides(name string) bool {
	for _, zone := range k.zones {
		inside, ok := strings.CutSuffix(name, "."+zone)
		labels := strings.Split(inside, ".")
		if n := len(labels); ok && n > 1 && (labels[n-1] == "svc" || labels[n-1] == "pod") {
			return labels[n-1] == "pod" && !k.pods || len(k.namespaces) > 0 && !slices.Contains(k.namespaces, labels[n-2])
		}
	}
	return false
}
