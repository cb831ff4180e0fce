package lifecycle

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/kubelet/events"

	"github.com/kubetab/kubetab/core/clock"
)

// minGrace is what a container gets at least, after its preStop hook.
const minGrace = 2 * time.Second

// ending is how a Pod comes to its end.
type ending struct {
	since time.Time
	grace time.Duration
}

// end makes all containers stop for good. With failed, that becomes the Pod's
// phase; otherwise the exit codes decide.
func (p *Pod) end(obj *v1.Pod, now time.Time, message string, failed *v1.PodStatus) {
	grace := 30 * time.Second
	if s := obj.Spec.TerminationGracePeriodSeconds; s != nil {
		grace = time.Duration(*s) * time.Second
	}
	if s := obj.DeletionGracePeriodSeconds; s != nil && obj.DeletionTimestamp != nil {
		grace = time.Duration(*s) * time.Second
	}
	p.ending = &ending{since: now, grace: grace}
	p.failed = failed
	for _, r := range p.order {
		if !r.running() && r.now != nil {
			r.waiting = nil
		}
	}
}

// hasten shortens the grace period when a Pod that is ending is deleted, or
// deleted again with a shorter one.
func (p *Pod) hasten(obj *v1.Pod) {
	if s := obj.DeletionGracePeriodSeconds; s != nil {
		p.ending.grace = min(p.ending.grace, time.Duration(*s)*time.Second)
	}
}

// terminate stops what runs: main containers at once, then the sidecars, the
// last first. When nothing runs any more the Pod is finished.
func (p *Pod) terminate(obj *v1.Pod, now time.Time) {
	busy := false
	for _, r := range p.order {
		if r.kind != sidecar && r.running() {
			r.stop(obj, now, p.ending.since, p.ending.grace, "Stopping container "+r.spec.Name)
			busy = true
		}
	}
	for i := len(p.order) - 1; i >= 0 && !busy; i-- {
		if r := p.order[i]; r.kind == sidecar && r.running() {
			r.stop(obj, now, p.ending.since, p.ending.grace, "Stopping container "+r.spec.Name)
			busy = true
		}
	}
	if !busy {
		p.finished = true
		p.sandbox = false
	}
}

// stop takes a running container one step towards its end: preStop, SIGTERM,
// and SIGKILL when the grace period is over.
func (r *record) stop(obj *v1.Pod, now, since time.Time, grace time.Duration, message string) {
	i := r.now
	p := r.pod
	deadline := since.Add(max(grace, minGrace))
	if grace <= 0 {
		deadline = since
	}
	if i.killed == "" {
		i.killed, i.since, i.grace = message, since, grace
		p.event(obj, r.spec, v1.EventTypeNormal, events.KillingContainer, message)
		if hook := r.spec.Lifecycle; hook != nil && hook.PreStop != nil && grace > 0 {
			i.preStop = true
			i.killAt = deadline
			spec := r.spec
			p.cluster.Go(func() {
				err := p.hook(p.cluster.Context, i, hook.PreStop)
				if err != nil && i.c.Running() {
					p.event(obj, spec, v1.EventTypeWarning, events.FailedPreStopHook, "PreStopHook failed")
				}
				p.inbox.Lock()
				i.preStop = false
				p.inbox.Unlock()
				p.cluster.Queue.Add(p.UID)
			})
		}
	}
	p.inbox.Lock()
	hooked := i.preStop
	p.inbox.Unlock()
	if hooked && now.Before(deadline) {
		p.at(deadline)
		return
	}
	if !i.termed {
		i.termed = true
		if left := now.Add(minGrace); deadline.Before(left) && grace > 0 {
			deadline = left // always a moment to shut down, also after a long hook
		}
		i.killAt = deadline
		i.c.Signal(signalName(r.spec))
	}
	if deadline.Before(i.killAt) {
		i.killAt = deadline // the grace period has been shortened
	}
	if !now.Before(i.killAt) {
		i.c.Kill()
		return
	}
	p.at(i.killAt)
}

func signalName(c *v1.Container) string {
	if c.Lifecycle != nil && c.Lifecycle.StopSignal != nil {
		return strings.TrimPrefix(string(*c.Lifecycle.StopSignal), "SIG")
	}
	return "TERM"
}

// hook runs a postStart or preStop hook.
func (p *Pod) hook(ctx context.Context, i *instance, h *v1.LifecycleHandler) error {
	switch {
	case h.Exec != nil:
		code, err := i.c.Exec(ctx, h.Exec.Command, nil, nil, nil, nil)
		if err == nil && code != 0 {
			err = fmt.Errorf("command exited with %d", code)
		}
		return err
	case h.Sleep != nil:
		return sleep(ctx, p.cluster.Clock, time.Duration(h.Sleep.Seconds)*time.Second)
	case h.HTTPGet != nil:
		port, err := portOf(h.HTTPGet.Port, i.of.spec)
		if err != nil {
			return err
		}
		host := h.HTTPGet.Host
		if host == "" {
			host = p.ip
		}
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+net.JoinHostPort(host, strconv.Itoa(port))+"/"+strings.TrimPrefix(h.HTTPGet.Path, "/"), nil)
		if err != nil {
			return err
		}
		response, err := p.seen().RoundTrip(r)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		_, err = io.Copy(io.Discard, response.Body)
		return err
	}
	return nil
}

func sleep(ctx context.Context, c *clock.Clock, d time.Duration) error {
	timer := c.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C():
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// portOf resolves a port by number or by the name that the container gives it.
func portOf(port intstr.IntOrString, c *v1.Container) (int, error) {
	if port.Type == intstr.Int {
		return port.IntValue(), nil
	}
	for _, have := range c.Ports {
		if have.Name == port.StrVal {
			return int(have.ContainerPort), nil
		}
	}
	if n, err := strconv.Atoi(port.StrVal); err == nil {
		return n, nil
	}
	return 0, fmt.Errorf("couldn't find port: %s in %s", port.StrVal, c.Name)
}
