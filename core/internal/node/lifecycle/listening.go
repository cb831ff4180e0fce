package lifecycle

import (
	"slices"

	"github.com/kubetab/kubetab/core/internal/node/container"
	"github.com/kubetab/kubetab/core/internal/node/network"
)

// seen is the cluster's network as the Pod sees it.
func (p *Pod) seen() network.View {
	obj := p.Latest()
	return p.cluster.Network.From(network.Pod{Pod: obj, Hostname: p.hostname(obj), IP: p.ip, Node: p.Node.IP, Resolver: resolver(obj), Listening: p.Listening, Ports: p.ports})
}

// Listening returns what listens on a port in any of the Pod's containers.
func (p *Pod) Listening(port container.Port) (container.Listener, bool) {
	for _, c := range p.live() {
		if l, ok := c.Listening(port); ok {
			return l, true
		}
	}
	return container.Listener{}, false
}

// Open has a container of which it is not known where it listens do so at a port. It reports whether there is one.
func (p *Pod) Open(port int) bool {
	return slices.ContainsFunc(p.live(), func(c *container.Container) bool { return c.Open(port) })
}

// ports returns the ports on which something in the Pod answers.
func (p *Pod) ports() []container.Port {
	var all []container.Port
	for _, c := range p.live() {
		all = append(all, c.Listens()...)
	}
	return all
}

// live returns the Pod's containers that run. It needs no lock of Sync's: the
// list is replaced, never changed.
func (p *Pod) live() []*container.Container {
	list := p.alive.Load()
	if list == nil {
		return nil
	}
	return *list
}
