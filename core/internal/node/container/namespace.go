package container

import (
	"slices"
	"sync"

	"github.com/kubetab/kubetab/internal/unix/bash"
	"github.com/kubetab/kubetab/internal/unix/coreutils"
)

// Namespace is a process namespace that containers of a Pod share: they see each
// other's processes. It is safe for concurrent use.
type Namespace struct {
	processes *bash.Processes
	pause     bool // its first process is /pause, not that of a container

	mu       sync.Mutex
	members  []*Container // in the order of their starts
	reserved []int        // numbers of first processes, by their containers' places; 0 once it is taken
}

// NewNamespace returns a namespace for all containers of a Pod, whose first process is /pause. No container is in it yet. As
// many as given have the first numbers, in the order of their places: a kubelet starts one after the other.
func NewNamespace(containers int) *Namespace {
	n := &Namespace{processes: bash.NewProcesses(shownProcess), pause: true}
	for range containers {
		n.reserved = append(n.reserved, n.processes.Number())
	}
	return n
}

// Namespace returns the container's process namespace, for another one that is to be in it.
func (c *Container) Namespace() *Namespace {
	if n := c.namespace(); n != nil {
		return n
	}
	c.joined.CompareAndSwap(nil, &Namespace{processes: c.processes, members: []*Container{c}})
	return c.joined.Load()
}

// namespace is the one that the container shares; nil while it is its alone.
func (c *Container) namespace() *Namespace {
	if c.cfg.Processes != nil {
		return c.cfg.Processes
	}
	return c.root().joined.Load()
}

// join makes a container one of the namespace's until leave is called.
func (n *Namespace) join(c *Container) (leave func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	c.processes = n.processes
	if place := c.cfg.Place - 1; place >= 0 && place < len(n.reserved) && n.reserved[place] != 0 {
		c.first, n.reserved[place] = n.reserved[place], 0
	} else {
		c.first = n.processes.Number()
	}
	n.members = append(n.members, c)
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.members = slices.DeleteFunc(n.members, func(m *Container) bool { return m == c })
	}
}

// all returns the containers whose processes c sees.
func (c *Container) all() []*Container {
	n := c.namespace()
	if n == nil {
		return []*Container{c}
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.members)
}

// delivered sends a signal to the container's first process where that is not the first
// one of its namespace: what it has no handler for ends it.
func (c *Container) delivered(name string) {
	number, ok := coreutils.SignalNumber(name)
	if !ok || bash.IsHarmless(name) {
		return
	}
	c.mu.Lock()
	main := c.main
	c.mu.Unlock()
	reloads := slices.Contains([]string{"HUP", "USR1", "USR2", "WINCH"}, name)
	switch program := c.firstName(); {
	case name == "KILL":
		c.Kill()
	case reloads && handles[program]:
		if program == "nginx" {
			c.tellSignal(name)
		}
	case main != nil && main.signal(name):
	case main == nil && slices.Contains(ending, name):
		c.Signal(name)
	default:
		c.exit(128 + number)
	}
}

// firstName is the name of the container's first process.
func (c *Container) firstName() string { return c.firstShown().name() }
