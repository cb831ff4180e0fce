package node

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientset "k8s.io/client-go/kubernetes"
	clientrecord "k8s.io/client-go/tools/record"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/kubetab/kubetab/core/clock"
)

// eventSink writes events as client-go's recorder does, with its correlator for
// series and its limits, but with the times of the cluster's clock: recorders
// of client-go read the process's.
type eventSink struct {
	client     clientset.Interface
	clock      *clock.Clock
	correlator *clientrecord.EventCorrelator
	waiting    chan *v1.Event
	unwritten  atomic.Int32 // events that wait, or are being written
	limit      flowcontrol.RateLimiter
}

// A kubelet writes as many events in a second, and at once, and so do all of
// ours together: when a thousand Pods start in one process, they come
// before their events.
const (
	eventQPS   = 50
	eventBurst = 100
)

func newEventSink(client clientset.Interface, clock *clock.Clock) *eventSink {
	return &eventSink{client: client, clock: clock, waiting: make(chan *v1.Event, eventsWaiting),
		limit:      flowcontrol.NewTokenBucketRateLimiter(eventQPS, eventBurst),
		correlator: clientrecord.NewEventCorrelatorWithOptions(clientrecord.CorrelatorOptions{Clock: clock})}
}

// add queues an event, with annotations unless they are nil. It never blocks: when the API server does not keep up,
// events are dropped, as client-go does.
func (s *eventSink) add(ref *v1.ObjectReference, annotations map[string]string, kind, reason, message, host string) {
	now := metav1.NewTime(s.clock.Now())
	namespace := ref.Namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	event := &v1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: fmt.Sprintf("%v.%x", ref.Name, now.UnixNano()), Namespace: namespace, Annotations: annotations},
		InvolvedObject: *ref, Reason: reason, Message: message, Type: kind, Count: 1, FirstTimestamp: now, LastTimestamp: now,
		Source: v1.EventSource{Component: "kubelet", Host: host}, ReportingController: "kubelet", ReportingInstance: host,
	}
	s.unwritten.Add(1)
	select {
	case s.waiting <- event:
	default:
		s.unwritten.Add(-1)
	}
}

// run writes events until ctx ends.
func (s *eventSink) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-s.waiting:
			if s.limit.Wait(ctx) != nil {
				return
			}
			s.write(ctx, event)
			s.unwritten.Add(-1)
		}
	}
}

func (s *eventSink) write(ctx context.Context, event *v1.Event) {
	result, err := s.correlator.EventCorrelate(event)
	if err != nil || result.Skip {
		return
	}
	events := s.client.CoreV1().Events(event.Namespace)
	var written *v1.Event
	if result.Event.Count > 1 {
		written, err = events.Patch(ctx, result.Event.Name, types.StrategicMergePatchType, result.Patch, metav1.PatchOptions{})
	}
	if result.Event.Count == 1 || apierrors.IsNotFound(err) {
		result.Event.ResourceVersion = ""
		written, err = events.Create(ctx, result.Event, metav1.CreateOptions{})
		for try := 1; apierrors.IsAlreadyExists(err) && try < 100; try++ {
			// Two events of one object in one nanosecond of a clock that stands still.
			base, _, _ := strings.Cut(result.Event.Name, "-x")
			result.Event.Name = fmt.Sprintf("%s-x%d", base, try)
			written, err = events.Create(ctx, result.Event, metav1.CreateOptions{})
		}
	}
	if err == nil {
		s.correlator.UpdateState(written)
	} // otherwise it is lost: a namespace that is terminating takes no events
}
