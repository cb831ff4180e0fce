package lifecycle

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	"k8s.io/kubernetes/pkg/kubelet/events"
	"k8s.io/utils/clock"

	"github.com/kubetab/kubetab/core/internal/node/container"
)

// kind is which of a Pod's containers one is.
type kind int

const (
	initContainer kind = iota
	sidecar            // an init container that is restarted and keeps running
	mainContainer
	ephemeral
)

// record is one container of a Pod's spec, through all its runs.
type record struct {
	pod  *Pod
	kind kind
	spec *v1.Container

	now      *instance                    // the run that goes on, or the last one
	previous *instance                    // the one before
	last     *v1.ContainerStateTerminated // of the run before
	restarts int32
	waiting  *v1.ContainerStateWaiting    // why it does not run; nil: it has not been its turn
	cleared  bool                         // the back-off before the next run is over
	blocked  bool                         // by a ConfigMap or Secret that is missing
	doneBy   *v1.ContainerStateTerminated // restored from the API: it ended before we knew it

	image     container.Image
	wanted    string    // the image in the spec when it was last looked at
	hasImage  bool      // image is there for the next run
	pulling   time.Time // when the pull that goes on began
	pullUntil time.Time
	pullError string
	retry     time.Time // when to try again
	failedAt  time.Time // when the last pull failed
	probes    probes
}

// instance is one run of a container.
type instance struct {
	of           *record
	id           string
	c            *container.Container
	startedAt    time.Time
	ended        *v1.ContainerStateTerminated
	oom          bool
	exitCode     *int          // that an annotation asks for
	killed       string        // why it is being stopped; empty while it is not
	since        time.Time     // when that began
	grace        time.Duration // that it has
	asked        string        // the image in the spec when it started
	termed       bool          // SIGTERM has been sent
	killAt       time.Time     // when SIGKILL is due
	postStart    atomic.Bool   // its hook is running
	preStop      bool          // so is this; guarded by Pod.inbox
	timers       []clock.Timer
	resources    v1.ResourceRequirements
	podResources *v1.ResourceRequirements            // of the Pod as a whole, if it has any
	outdated     bool                                // it is being stopped because the spec has changed
	void         bool                                // all containers of the Pod are started anew: its end decides nothing
	given        atomic.Pointer[container.Resources] // what they come to, for the container
}

func (r *record) running() bool { return r.now != nil && r.now.ended == nil }

// seenAt is when the kubelet sees that the container runs; zero if it does not.
func (r *record) seenAt() time.Time {
	switch {
	case !r.running():
		return time.Time{}
	case r.now.c.Brief():
		return r.now.startedAt.Add(seenTime)
	}
	return r.now.startedAt
}

// hooked reports whether the container runs and its postStart hook does: until that has ended, the kubelet goes no further with
// the Pod.
func (r *record) hooked() bool { return r.running() && r.now.postStart.Load() }

// restore takes over what the API says of a container that ran before this
// kubelet did. What was running is gone, as after a reboot.
func (r *record) restore(s v1.ContainerStatus, now time.Time) {
	r.restarts = s.RestartCount
	r.last = s.LastTerminationState.Terminated
	switch {
	case s.State.Terminated != nil:
		r.doneBy = s.State.Terminated
	case s.State.Running != nil:
		r.doneBy = &v1.ContainerStateTerminated{ExitCode: 255, Reason: "Unknown", StartedAt: s.State.Running.StartedAt, FinishedAt: metav1.NewTime(now), ContainerID: s.ContainerID}
	}
	if r.doneBy != nil {
		r.now = &instance{of: r, id: s.ContainerID, startedAt: r.doneBy.StartedAt.Time, ended: r.doneBy}
		r.image.Name, r.image.ID = s.Image, s.ImageID
	}
}

// begun reports whether there has been a run since all containers of the Pod began.
func (r *record) begun() bool { return r.now != nil && !r.now.void }

// redefined reports whether the last run has ended because what the spec says of the container has changed, and another is on
// its way: whatever the restart policy, and in the same step of upstream's kubelet (pkg/kubelet/kuberuntime, computePodActions).
func (r *record) redefined() bool {
	return r.now != nil && r.now.ended != nil && r.now.outdated && r.waiting == nil && r.pod.ending == nil
}

// exitCode is that of the last run; ok is false while there is none.
func (r *record) exitCode() (int32, bool) {
	if !r.begun() || r.now.ended == nil {
		return 0, false
	}
	return r.now.ended.ExitCode, true
}

// restartable reports whether a run that has ended is to be followed by another.
func (r *record) restartable(obj *v1.Pod) bool {
	code, ended := r.exitCode()
	switch {
	case !ended:
		return true
	case r.redefined():
		return true
	case r.kind == ephemeral:
		return false
	case r.kind == sidecar:
		return true
	case r.kind == initContainer && code == 0:
		return false
	}
	return podutil.ContainerShouldRestart(*r.spec, obj.Spec, code)
}

func (r *record) backOffKey() string {
	return string(r.pod.UID) + "_" + r.spec.Name + "_" + r.spec.Image
}

// wait says why the container does not run, and when to look again.
func (r *record) wait(reason, message string, until time.Time) {
	r.waiting = &v1.ContainerStateWaiting{Reason: reason, Message: message}
	if !until.IsZero() {
		r.retry = until
		r.pod.at(until)
	}
}

// start brings the container as far towards running as it goes now. It reports
// whether it runs.
func (r *record) start(obj *v1.Pod, now time.Time) bool {
	p := r.pod
	if r.running() {
		return true
	}
	if r.wanted != r.spec.Image { // the image has been changed: what was tried with the old one is void
		r.wanted, r.hasImage = r.spec.Image, false
		r.retry, r.pulling, r.pullUntil = time.Time{}, time.Time{}, time.Time{}
	}
	if now.Before(r.retry) && !r.blocked {
		p.at(r.retry)
		return false
	}
	if _, ended := r.exitCode(); ended && !r.cleared {
		if r.backOff(obj, now) {
			return false
		}
		r.cleared = true
	}
	if !r.hasImage {
		if !r.pull(obj, now) {
			return false
		}
		r.hasImage = true
	}
	env, err := p.environment(obj, r.spec)
	if err == nil {
		err = runAsRoot(obj, r.spec, r.image)
	}
	var paths []string
	if err == nil {
		paths, err = subPaths(r.spec, env)
	}
	if err != nil {
		if r.waiting == nil || r.waiting.Message != err.Error() {
			p.event(obj, r.spec, v1.EventTypeWarning, events.FailedToCreateContainer, "Error: "+err.Error())
		}
		r.blocked = true
		r.wait("CreateContainerConfigError", err.Error(), time.Time{})
		return false
	}
	r.blocked = false
	return r.run(obj, now, env, paths)
}

// backOff delays the next run of a container that has ended, as upstream's
// doBackOff does. It reports whether the container has to wait.
func (r *record) backOff(obj *v1.Pod, now time.Time) bool {
	p := r.pod
	finished := r.now.ended.FinishedAt.Time
	key := r.backOffKey()
	if p.cluster.Restarts.IsInBackOffSince(key, finished) {
		d := p.cluster.Restarts.Get(key)
		full := fmt.Sprintf("%s_%s(%s)", p.Name, p.Namespace, p.UID)
		if r.waiting == nil || r.waiting.Reason != "CrashLoopBackOff" {
			p.event(obj, r.spec, v1.EventTypeWarning, events.BackOffStartContainer, fmt.Sprintf("Back-off restarting failed container %s in pod %s", r.spec.Name, full))
		}
		r.wait("CrashLoopBackOff", fmt.Sprintf("back-off %s restarting failed container=%s pod=%s", d, r.spec.Name, full), finished.Add(d))
		return true
	}
	p.cluster.Restarts.Next(key, finished)
	return false
}

// run creates and starts the container, with what subPaths has returned. It reports whether it did.
func (r *record) run(obj *v1.Pod, now time.Time, env []v1.EnvVar, paths []string) bool {
	p := r.pod
	command, args := expandCommand(r.spec, env)
	i := &instance{of: r, id: containerID(), startedAt: now, asked: r.spec.Image, resources: *r.spec.Resources.DeepCopy(), podResources: obj.Spec.Resources.DeepCopy()}
	i.give()
	var plain []string
	for _, e := range env {
		plain = append(plain, e.Name+"="+e.Value)
	}
	var ports []int32
	for _, port := range r.spec.Ports {
		ports = append(ports, port.ContainerPort)
	}
	image := r.image
	spec := r.spec
	c, err := container.Start(p.cluster.Context, container.Config{
		Clock: p.cluster.Clock, Image: image, Argv: image.CommandLine(command, args), Env: plain, Dir: spec.WorkingDir,
		Hostname: p.kernelName(obj), IP: p.ip, User: userOf(obj, spec, image), Sysctls: sysctls(obj), Ports: ports,
		Files:   func() *container.Tree { return p.mounts.tree(spec, image, paths) },
		Network: p.seen(), Stdin: spec.Stdin, TTY: spec.TTY, Go: p.cluster.Go,
		OnExit:    func(code int) { p.exit(i, code) },
		OnOOM:     func() { p.oomed(i) },
		Disk:      p.Node.Capacity.StorageEphemeral().Value(),
		Storage:   p.mounts.counted(r),
		Memory:    p.mounts.inMemory(obj, r),
		Resources: func() container.Resources { return *i.given.Load() }, Capabilities: capabilitiesOf(spec), Processes: p.namespaceOf(obj, r),
		Place: 1 + slices.IndexFunc(obj.Spec.Containers, func(c v1.Container) bool { return c.Name == spec.Name }),
	})
	p.event(obj, r.spec, v1.EventTypeNormal, events.CreatedContainer, "Container created")
	if r.previous != nil && r.previous.c != nil {
		r.previous.c.Log.Discard() // a kubelet keeps the logs of two runs
	}
	if r.now != nil {
		r.last, r.previous = r.now.ended, r.now
		r.restarts++
	}
	r.now, r.doneBy, r.waiting, r.cleared, r.hasImage = i, nil, nil, false, false
	r.probes.reset()
	if err != nil {
		var missing container.NotFoundError
		message := err.Error()
		if errors.As(err, &missing) {
			message = "failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: " + message
		}
		p.event(obj, r.spec, v1.EventTypeWarning, events.FailedToStartContainer, "Error: "+message)
		i.ended = &v1.ContainerStateTerminated{ExitCode: 128, Reason: "StartError", Message: message, StartedAt: metav1.Unix(0, 0), FinishedAt: metav1.NewTime(now), ContainerID: "containerd://" + i.id}
		if r.restartable(obj) {
			r.wait("RunContainerError", message, time.Time{})
		}
		p.at(now.Add(retryAfter)) // the back-off, or the Pod's end, is a step of its own
		return false
	}
	i.c = c
	p.refreshAlive()
	p.event(obj, r.spec, v1.EventTypeNormal, events.StartedContainer, "Container started")
	r.wishes(obj, i)
	if r.spec.Lifecycle != nil && r.spec.Lifecycle.PostStart != nil {
		hook := r.spec.Lifecycle.PostStart
		i.postStart.Store(true)
		p.cluster.Go(func() {
			if err := p.hook(p.cluster.Context, i, hook); err != nil && c.Running() {
				p.event(obj, spec, v1.EventTypeWarning, events.FailedPostStartHook, "PostStartHook failed")
				p.event(obj, spec, v1.EventTypeNormal, events.KillingContainer, "FailedPostStartHook")
				c.Kill()
			}
			i.postStart.Store(false)
			p.cluster.Queue.Add(p.UID)
		})
	}
	return true
}

// namespace is the process namespace that the Pod's containers share; nil if each has its own.
func (p *Pod) namespace(obj *v1.Pod) *container.Namespace {
	if !optional(obj.Spec.ShareProcessNamespace) {
		return nil
	}
	if p.processes == nil {
		p.processes = container.NewNamespace(len(obj.Spec.Containers))
	}
	return p.processes
}

// namespaceOf is the process namespace that a container is to be in: that of its target for an ephemeral one.
func (p *Pod) namespaceOf(obj *v1.Pod, r *record) *container.Namespace {
	if n := p.namespace(obj); n != nil {
		return n
	}
	for _, e := range obj.Spec.EphemeralContainers {
		if e.Name != r.spec.Name || e.TargetContainerName == "" {
			continue
		}
		for _, target := range p.order {
			if target.spec.Name == e.TargetContainerName && target.now != nil && target.now.c != nil {
				return target.now.c.Namespace()
			}
		}
	}
	return nil
}

// wishes sets the timers for what annotations ask of a run.
func (r *record) wishes(obj *v1.Pod, i *instance) {
	set := func(w wish, f func()) {
		if !w.holds(r.restarts) {
			return
		}
		i.timers = append(i.timers, r.pod.cluster.Clock.AfterFunc(w.after, f))
	}
	if w, ok := oomWish(Annotation(obj, AnnotationOOM, r.spec.Name)); ok {
		set(w, func() { r.pod.oom(i) })
	}
	if w, ok := exitWish(Annotation(obj, AnnotationExit, r.spec.Name)); ok {
		if w.holds(r.restarts) {
			i.exitCode = &w.code
		}
		set(w, func() { i.c.Exit(w.code) })
	}
}

// oom kills a run as the kernel does.
func (p *Pod) oom(i *instance) {
	p.oomed(i)
	i.c.Kill()
}

// oomed notes that a run ends because it takes too much memory.
func (p *Pod) oomed(i *instance) {
	p.inbox.Lock()
	defer p.inbox.Unlock()
	i.oom = true
}

// exit is called by the container, from any goroutine, when its process ends.
func (p *Pod) exit(i *instance, code int) {
	e := exit{i, code, p.cluster.Clock.Now()}
	notice := func() {
		p.inbox.Lock()
		p.exits = append(p.exits, e)
		p.inbox.Unlock()
		p.cluster.Queue.Add(p.UID)
	}
	if left := i.startedAt.Add(goneTime).Sub(e.at); left > 0 {
		p.cluster.Clock.AfterFunc(left, notice)
	} else {
		notice()
	}
}

// exited takes in that a run has ended.
func (p *Pod) exited(e exit) {
	i := e.of
	if i.ended != nil {
		return
	}
	for _, t := range i.timers {
		t.Stop()
	}
	p.inbox.Lock()
	oom := i.oom
	p.inbox.Unlock()
	if i.exitCode != nil && i.killed == "" && !oom {
		e.code = *i.exitCode
	}
	reason := "Completed"
	switch {
	case oom:
		reason = "OOMKilled"
	case e.code != 0:
		reason = "Error"
	}
	i.ended = &v1.ContainerStateTerminated{
		ExitCode: int32(e.code), Reason: reason, Message: p.terminationMessage(i, e.code),
		StartedAt: metav1.NewTime(i.startedAt), FinishedAt: metav1.NewTime(e.at), ContainerID: "containerd://" + i.id,
	}
	i.of.retry = time.Time{}
}

// terminationMessage is what the container left at its terminationMessagePath,
// or the end of its log, if the Pod asks for that and the run failed.
func (p *Pod) terminationMessage(i *instance, code int) string {
	const most = 4096
	spec := i.of.spec
	if p.mounts != nil {
		if text := p.mounts.message(i); text != "" {
			return text[:min(len(text), most)]
		}
	}
	if spec.TerminationMessagePolicy == v1.TerminationMessageFallbackToLogsOnError && code != 0 && i.c != nil {
		return strings.TrimSuffix(i.c.Log.Tail(80, 2048), "\n")
	}
	return ""
}

// containerID is a new random id.
func containerID() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
