package lifecycle

import (
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubetab/kubetab/core/internal/node/container"
	"github.com/kubetab/kubetab/core/internal/node/kubeletapi"
)

// State is a Pod at one moment, as far as metrics tell of it.
type State struct {
	Started  metav1.Time // as in the Pod's status; zero before the first step
	Sandbox  bool        // the Pod has a network
	Finished bool        // nothing runs any more and nothing will
	Running  []Run       // in the order of the spec, init containers first
	Exited   int         // containers that have run and do not run now
}

// Run is a run of a container that goes on.
type Run struct {
	ID        string // of the container
	Name      string // of the container in the spec
	ImageID   string
	Resources v1.ResourceRequirements // in the spec; not to be changed
	StartedAt time.Time
	Container *container.Container
}

// State returns what is so at this moment.
func (p *Pod) State() State {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stateLocked()
}

func (p *Pod) stateLocked() State {
	s := State{Started: p.started, Sandbox: p.sandbox, Finished: p.finished}
	for _, r := range p.order {
		switch {
		case r.running():
			s.Running = append(s.Running, Run{ID: r.now.id, Name: r.spec.Name, ImageID: r.image.ID, Resources: r.spec.Resources, StartedAt: r.now.startedAt, Container: r.now.c})
		case r.now != nil:
			s.Exited++
		}
	}
	return s
}

// Container returns a container as it is at this moment, for the kubelets' API, and
// false if the Pod has none of that name.
func (p *Pod) Container(name string) (c kubeletapi.Container, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	rec := p.containers[name]
	if rec == nil {
		return c, false
	}
	c.Running, c.Waiting = rec.running(), rec.waiting
	if rec.now == nil && c.Waiting == nil {
		c.Waiting = unstarted(p.Latest())
	}
	if rec.now != nil {
		c.Current = rec.now.c
		if rec.now.ended != nil {
			c.Ended, c.EndedAt = true, rec.now.ended.FinishedAt.Time
		}
	}
	if rec.previous != nil {
		c.Previous = rec.previous.c
	}
	return c, true
}
