package lifecycle

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
	statusutil "k8s.io/kubernetes/pkg/util/pod"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	"github.com/kubetab/kubetab/core/internal/node/container"
	"github.com/kubetab/kubetab/core/internal/node/locks"
)

// Pod is what a kubelet knows of one Pod.
type Pod struct {
	Node            *Node // that it runs on
	UID             types.UID
	Namespace, Name string

	cluster *Cluster // of the node

	// The inbox takes what happens elsewhere. It is the only lock that other
	// goroutines than the one in Sync need, and Sync holds it only to empty it.
	inbox          locks.Mutex[locks.Inbox]
	obj            *v1.Pod // as last seen or written
	gone           bool    // from the API
	sourcesChanged bool    // a ConfigMap, Secret or claim that it uses
	exits          []exit
	results        []probeResult
	evicting       *Eviction
	overgrown      bool // the eviction manager is to look at its storage
	timer          clock.Timer

	alive atomic.Pointer[[]*container.Container] // that run, for the network

	// The rest belongs to Sync; mu lets Container and State read it meanwhile.
	mu         locks.Mutex[locks.Pod]
	admitted   bool
	started    metav1.Time // status.startTime
	ip         string
	sandbox    bool                 // the Pod has a network
	sandboxAt  time.Time            // when it gets one
	mounts     *volumes             // nil until its volumes are mounted
	processes  *container.Namespace // that its containers share; nil if they share none
	mountTry   time.Duration        // back-off of mounting
	mountAt    time.Time
	containers map[string]*record // by name, of all kinds
	order      []*record
	ending     *ending       // set once its containers are to stop for good
	storageAt  time.Time     // when its storage is looked at; zero: when it has grown
	failed     *v1.PodStatus // phase, reason and message that it fails with
	finished   bool          // nothing runs any more and nothing will
	deleted    bool          // the final deletion has been asked for
	next       time.Time     // when Sync has something to do; zero: never
}

// retryAfter is how long a Pod waits whose step failed because the API server
// did not do what it was asked.
const retryAfter = time.Second

// exit is a process that has ended.
type exit struct {
	of   *instance
	code int
	at   time.Time
}

// New returns a Pod of a node, of which nothing runs yet.
func New(node *Node, obj *v1.Pod) *Pod {
	p := &Pod{Node: node, UID: obj.UID, Namespace: obj.Namespace, Name: obj.Name, cluster: node.Cluster, obj: obj, containers: map[string]*record{}}
	p.adopt(obj)
	return p
}

// adopt makes records of the containers in the spec that have none, with what
// the API says of earlier runs.
func (p *Pod) adopt(obj *v1.Pod) {
	add := func(kind kind, c *v1.Container, statuses []v1.ContainerStatus) {
		if have := p.containers[c.Name]; have != nil {
			have.spec = c
			return
		}
		r := &record{pod: p, kind: kind, spec: c}
		r.restore(podutil.GetExistingContainerStatus(statuses, c.Name), p.cluster.Clock.Now())
		p.containers[c.Name] = r
		p.order = append(p.order, r)
	}
	for i := range obj.Spec.InitContainers {
		c := &obj.Spec.InitContainers[i]
		k := initContainer
		if podutil.IsRestartableInitContainer(c) {
			k = sidecar
		}
		add(k, c, obj.Status.InitContainerStatuses)
	}
	for i := range obj.Spec.Containers {
		add(mainContainer, &obj.Spec.Containers[i], obj.Status.ContainerStatuses)
	}
	for i := range obj.Spec.EphemeralContainers {
		c := v1.Container(obj.Spec.EphemeralContainers[i].EphemeralContainerCommon)
		add(ephemeral, &c, obj.Status.EphemeralContainerStatuses)
	}
}

// See takes in a newer version of the Pod. It reports whether there may be something
// to do: then the Pod belongs into the queue.
func (p *Pod) See(obj *v1.Pod) bool {
	p.inbox.Lock()
	defer p.inbox.Unlock()
	if newer(p.obj, obj) {
		return false
	}
	was := p.obj
	p.obj = obj
	return was == obj || asksMore(was, obj) || !equality.Semantic.DeepEqual(was.Status, obj.Status)
}

// asksMore reports whether a newer version of a Pod asks for something that an
// older one did not: anything but its status.
func asksMore(was, now *v1.Pod) bool {
	return was.Generation != now.Generation || was.DeletionTimestamp.IsZero() != now.DeletionTimestamp.IsZero() ||
		!equality.Semantic.DeepEqual(was.DeletionGracePeriodSeconds, now.DeletionGracePeriodSeconds) ||
		!equality.Semantic.DeepEqual(was.Annotations, now.Annotations) || !equality.Semantic.DeepEqual(was.Labels, now.Labels) ||
		!equality.Semantic.DeepEqual(was.Spec, now.Spec)
}

// newer reports whether a's version is later than b's. Versions of one store
// are numbers that grow.
func newer(a, b *v1.Pod) bool {
	x, errX := strconv.ParseUint(a.ResourceVersion, 10, 64)
	y, errY := strconv.ParseUint(b.ResourceVersion, 10, 64)
	return errX == nil && errY == nil && x > y
}

// Gone tells the Pod that its object is gone from the API. Its next step ends all that
// still runs of it at once; the caller puts it into the queue for that step.
func (p *Pod) Gone() {
	p.inbox.Lock()
	p.gone = true
	p.inbox.Unlock()
}

// SourcesChanged says that a ConfigMap, a Secret or a claim that the Pod uses is
// there or has changed. The next step, for which the caller puts the Pod into the queue,
// takes that in.
func (p *Pod) SourcesChanged() {
	p.inbox.Lock()
	p.sourcesChanged = true
	p.inbox.Unlock()
}

// Latest returns the Pod as last seen or written. It is not to be changed.
func (p *Pod) Latest() *v1.Pod {
	p.inbox.Lock()
	defer p.inbox.Unlock()
	return p.obj
}

// Retry puts the Pod into the queue a while after a step that has failed.
func (p *Pod) Retry() { p.wakeIn(retryAfter) }

// wakeIn puts the Pod into the queue after a while.
func (p *Pod) wakeIn(d time.Duration) {
	p.inbox.Lock()
	defer p.inbox.Unlock()
	if p.timer != nil {
		p.timer.Stop()
	}
	p.timer = p.cluster.Clock.AfterFunc(d, func() { p.cluster.Queue.Add(p.UID) })
}

// at notes that Sync has something to do at t.
func (p *Pod) at(t time.Time) {
	if p.next.IsZero() || t.Before(p.next) {
		p.next = t
	}
}

// inboxed is what was in the inbox.
type inboxed struct {
	obj     *v1.Pod
	gone    bool
	sources bool
	exits   []exit
	results []probeResult
	grown   bool
	evict   *Eviction
}

func (p *Pod) open() inboxed {
	p.inbox.Lock()
	defer p.inbox.Unlock()
	in := inboxed{p.obj, p.gone, p.sourcesChanged, p.exits, p.results, p.overgrown, p.evicting}
	p.sourcesChanged, p.exits, p.results, p.overgrown, p.evicting = false, nil, nil, false, nil
	return in
}

// Sync takes the Pod one step forward: it takes in what has happened, does what
// is due, reports what has changed, and sets the timer for what comes next. The
// error is the API server's. With gone, nothing is left of the Pod, and it is to be
// forgotten. One goroutine may call Sync at a time.
func (p *Pod) Sync(ctx context.Context) (gone bool, err error) {
	p.mu.Lock()
	in := p.open()
	p.next = time.Time{}
	if in.gone {
		p.mu.Unlock()
		p.Abandon()
		p.release()
		return true, nil
	}
	now := p.cluster.Clock.Now()
	obj := in.obj
	p.adopt(obj)
	for _, e := range in.exits {
		p.exited(e)
	}
	if p.mounts != nil {
		p.mounts.refresh(obj, in.sources)
	}
	if terminal(obj) && !p.touched() {
		p.finished = true // it was so when we first saw it
	}
	p.advance(obj, now, in)
	p.refreshAlive()
	unseen := p.unseen(obj, now)
	status := p.status(obj)
	final := p.finished && obj.DeletionTimestamp != nil && !p.deleted
	next := p.next
	finished := p.finished
	p.mu.Unlock()

	if finished || status.Phase == v1.PodSucceeded || status.Phase == v1.PodFailed {
		p.Node.Kubelet.Release(p.UID) // before the scheduler reads that there is room again
	}
	if !unseen {
		if err := p.report(ctx, obj, status); err != nil {
			return false, err
		}
	}
	if finished {
		p.release()
	}
	if final {
		if err := p.delete(ctx, obj); err != nil {
			return false, err
		}
	}
	if !next.IsZero() {
		p.wakeIn(max(next.Sub(p.cluster.Clock.Now()), 0))
	}
	return false, nil
}

// refreshAlive tells the network which containers run.
func (p *Pod) refreshAlive() {
	var alive []*container.Container
	for _, r := range p.order {
		if r.running() {
			alive = append(alive, r.now.c)
		}
	}
	p.alive.Store(&alive)
}

func terminal(obj *v1.Pod) bool {
	return obj.Status.Phase == v1.PodSucceeded || obj.Status.Phase == v1.PodFailed
}

// advance does what is due. It is upstream's SyncPod, SyncTerminatingPod and
// SyncTerminatedPod in one, taken as far as it goes at this moment.
func (p *Pod) advance(obj *v1.Pod, now time.Time, in inboxed) {
	if p.finished {
		return
	}
	if p.started.IsZero() {
		if p.started = metav1.NewTime(now); obj.Status.StartTime != nil {
			p.started = *obj.Status.StartTime
		}
	}
	if p.ending == nil {
		switch {
		case obj.DeletionTimestamp != nil, terminal(obj):
			p.end(obj, now, "", nil)
		case !p.admitted:
			if reason, message, ok := p.Node.Kubelet.Admit(obj); !ok {
				p.event(obj, nil, v1.EventTypeWarning, reason, message)
				p.failed = &v1.PodStatus{Phase: v1.PodFailed, Reason: reason, Message: "Pod was rejected: " + message}
				p.finished = true
				return
			}
			p.admitted = true
		}
	}
	if p.ending == nil {
		p.deadline(obj, now)
		p.evicted(obj, now, in.evict)
	}
	if p.ending == nil {
		p.outgrown(obj, now, in)
	}
	if p.ending != nil {
		if in.obj.DeletionTimestamp != nil {
			p.hasten(obj)
		}
		p.terminate(obj, now)
		return
	}
	p.start(obj, now, in)
	if p.ending != nil {
		p.terminate(obj, now)
	}
}

// deadline ends a Pod that has been active for too long.
func (p *Pod) deadline(obj *v1.Pod, now time.Time) {
	limit := obj.Spec.ActiveDeadlineSeconds
	if limit == nil {
		return
	}
	until := p.started.Add(time.Duration(*limit) * time.Second)
	if now.Before(until) {
		p.at(until)
		return
	}
	const reason, message = "DeadlineExceeded", "Pod was active on the node longer than the specified deadline"
	p.event(obj, nil, v1.EventTypeNormal, reason, message)
	p.end(obj, now, "", &v1.PodStatus{Phase: v1.PodFailed, Reason: reason, Message: message})
}

// Evict says that the kubelet evicts the Pod because its node is low on something. The
// next step, for which the caller puts the Pod into the queue, does so.
func (p *Pod) Evict(e Eviction) {
	p.inbox.Lock()
	p.evicting = &e
	p.inbox.Unlock()
}

// evicted ends a Pod that is asked to be evicted, by Evict or by an annotation, as a
// kubelet under pressure does.
func (p *Pod) evicted(obj *v1.Pod, now time.Time, e *Eviction) {
	if resource := obj.Annotations[AnnotationEvict]; e == nil && resource != "" {
		pressed := p.Node.Kubelet.Pressed(obj, p.stateLocked(), p.storageLocked(), v1.ResourceName(resource))
		e = &pressed
	}
	if e == nil || p.ending != nil {
		return
	}
	p.evict(obj, now, *e, v1.PodCondition{
		Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: v1.PodReasonTerminationByKubelet, Message: e.Message, LastTransitionTime: metav1.NewTime(now)})
}

// Eviction is why a kubelet evicts a Pod.
type Eviction struct {
	Signal      string            // of the eviction manager, for which it is counted; empty for none
	Message     string            // of the event and of the Pod's status
	Annotations map[string]string // of the event; may be nil
}

// evict ends a Pod as upstream's evictPod does.
func (p *Pod) evict(obj *v1.Pod, now time.Time, e Eviction, conditions ...v1.PodCondition) {
	p.annotatedEvent(obj, nil, e.Annotations, v1.EventTypeWarning, evictedReason, e.Message)
	p.Node.Kubelet.Evicted(e.Signal)
	p.end(obj, now, "", &v1.PodStatus{Phase: v1.PodFailed, Reason: evictedReason, Message: e.Message, Conditions: conditions})
	p.ending.grace = evictionGrace
}

// report writes the status if it differs from what the API has.
func (p *Pod) report(ctx context.Context, obj *v1.Pod, status v1.PodStatus) error {
	if equality.Semantic.DeepEqual(obj.Status, status) {
		return nil
	}
	written, _, unchanged, err := statusutil.PatchPodStatus(ctx, p.cluster.Client, p.Namespace, p.Name, p.UID, obj.Status, status)
	if err != nil {
		if apierrors.IsNotFound(err) {
			return nil // its deletion is on the way
		}
		return err
	}
	if unchanged {
		return nil
	}
	p.inbox.Lock()
	defer p.inbox.Unlock()
	if newer(p.obj, written) {
		return nil
	}
	// What was written comes back with all that others have written meanwhile,
	// such as a deletion, and by then is nothing new to see.
	if asksMore(p.obj, written) {
		p.cluster.Queue.Add(p.UID)
	}
	p.obj = written
	return nil
}

// delete removes the Pod from the API once nothing of it is left.
func (p *Pod) delete(ctx context.Context, obj *v1.Pod) error {
	err := p.cluster.Client.CoreV1().Pods(p.Namespace).Delete(ctx, p.Name, metav1.DeleteOptions{GracePeriodSeconds: ptr.To(int64(0)), Preconditions: metav1.NewUIDPreconditions(string(p.UID))})
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.deleted = true
	return nil
}

// release gives back all that the Pod has of its node.
func (p *Pod) release() {
	p.Node.Kubelet.Release(p.UID)
	p.mu.Lock()
	ip, host := p.ip, p.latestHostNetwork()
	p.sandbox = false
	if p.mounts != nil {
		p.mounts.discard()
	}
	p.mu.Unlock()
	if ip != "" && !host {
		p.Node.Kubelet.Leave(p, ip)
	}
}

func (p *Pod) latestHostNetwork() bool { return p.Latest().Spec.HostNetwork }

// Abandon ends what runs at once and reports nothing.
func (p *Pod) Abandon() {
	p.inbox.Lock()
	if p.timer != nil {
		p.timer.Stop()
	}
	p.inbox.Unlock()
	p.mu.Lock()
	var running []*container.Container
	for _, r := range p.order {
		if r.running() {
			running = append(running, r.now.c)
		}
	}
	p.mu.Unlock()
	for _, c := range running {
		c.Kill()
	}
}

func (p *Pod) anyRunning() bool {
	for _, r := range p.order {
		if r.running() {
			return true
		}
	}
	return false
}

// event records an event of the Pod, or of one of its containers.
func (p *Pod) event(obj *v1.Pod, c *v1.Container, kind, reason, message string) {
	p.annotatedEvent(obj, c, nil, kind, reason, message)
}

func (p *Pod) annotatedEvent(obj *v1.Pod, c *v1.Container, annotations map[string]string, kind, reason, message string) {
	ref := &v1.ObjectReference{APIVersion: "v1", Kind: "Pod", Namespace: p.Namespace, Name: p.Name, UID: p.UID, ResourceVersion: obj.ResourceVersion}
	if c != nil {
		ref.FieldPath = fieldPath(obj, c.Name)
	}
	p.cluster.Event(ref, annotations, kind, reason, message, p.Node.Name)
}

func fieldPath(obj *v1.Pod, name string) string {
	for _, c := range obj.Spec.InitContainers {
		if c.Name == name {
			return "spec.initContainers{" + name + "}"
		}
	}
	for _, c := range obj.Spec.EphemeralContainers {
		if c.Name == name {
			return "spec.ephemeralContainers{" + name + "}"
		}
	}
	return "spec.containers{" + name + "}"
}
