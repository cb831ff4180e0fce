package core

import (
	"net/http"
	"runtime"
	"slices"
	"sync"
	"time"
	_ "unsafe" // for go:linkname

	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/component-base/metrics/legacyregistry"
)

// queueMetricsProvider makes the metrics of every work queue in the process
// that has a name. Upstream lets it be set once, which component-base does
// before anybody else can. The link can go when a queue no longer looks at the
// clock twice a second for the sake of two gauges.
//
//go:linkname queueMetricsProvider k8s.io/client-go/util/workqueue.globalMetricsProvider
var queueMetricsProvider workqueue.MetricsProvider

// queues are the work queues of the process by their names, which is what
// upstream tells their metrics apart by.
var queues struct {
	once   sync.Once
	mu     sync.Mutex
	byName map[string]*queueWork
}

// QuietWorkQueues has work queues that are made from now on, anywhere in the process,
// do nothing while there is nothing to do. It is for programs whose process is an
// engine's: New leaves the process's queues as they are. Calling it twice is harmless;
// it must be called before anything else in the process makes a work queue, because
// upstream's provider of metrics is not guarded by a lock.
//
// Upstream's queues update the gauges unfinished_work_seconds and
// longest_running_processor_seconds every half second, each in a goroutine of
// its own: with all controllers that is 150 of the 250 times in a second that
// an idle engine woke. What the gauges are made of is remembered here, and /metrics
// of an engine sets them when it is read.
func QuietWorkQueues() {
	queues.once.Do(func() {
		queues.byName = map[string]*queueWork{}
		queueMetricsProvider = quietProvider{queueMetricsProvider}
	})
}

// installMetrics has /metrics set the gauges of quiet work queues first.
func installMetrics(server *genericapiserver.GenericAPIServer) {
	const path = "/metrics"
	upstream := legacyregistry.Handler() // what routes.DefaultMetrics has installed
	server.Handler.NonGoRestfulMux.Unregister(path)
	server.Handler.NonGoRestfulMux.Handle(path, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := time.Now()
		queues.mu.Lock()
		for _, work := range queues.byName {
			work.measure(now)
		}
		queues.mu.Unlock()
		upstream.ServeHTTP(w, r)
	}))
}

// queueWork is what the queues of one name have handed out and not got back.
type queueWork struct {
	mu         sync.Mutex
	began      []time.Time
	unfinished workqueue.SettableGaugeMetric // upstream's gauges
	longest    workqueue.SettableGaugeMetric
}

func (w *queueWork) begin(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.began = append(w.began, at)
}

// end forgets the item that began nearest to at: which one it is cannot be told
// from a metric, and how long it took is told in seconds.
func (w *queueWork) end(at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	nearest := -1
	for i, began := range w.began {
		if nearest < 0 || began.Sub(at).Abs() < w.began[nearest].Sub(at).Abs() {
			nearest = i
		}
	}
	if nearest >= 0 {
		w.began = slices.Delete(w.began, nearest, nearest+1)
	}
}

// measure sets the gauges as upstream's updateUnfinishedWork does.
func (w *queueWork) measure(now time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var total, oldest time.Duration
	for _, began := range w.began {
		age := now.Sub(began)
		total += age
		oldest = max(oldest, age)
	}
	if w.unfinished != nil && w.longest != nil {
		w.unfinished.Set(total.Seconds())
		w.longest.Set(oldest.Seconds())
	}
}

// quietProvider is upstream's provider for queues whose loop ends.
type quietProvider struct{ workqueue.MetricsProvider }

func (p quietProvider) work(name string) *queueWork {
	queues.mu.Lock()
	defer queues.mu.Unlock()
	if queues.byName[name] == nil {
		queues.byName[name] = &queueWork{}
	}
	return queues.byName[name]
}

func (p quietProvider) NewDepthMetric(name string) workqueue.GaugeMetric {
	return depthMetric{p.MetricsProvider.NewDepthMetric(name), p.work(name)}
}

func (p quietProvider) NewWorkDurationMetric(name string) workqueue.HistogramMetric {
	return workDurationMetric{p.MetricsProvider.NewWorkDurationMetric(name), p.work(name)}
}

func (p quietProvider) NewUnfinishedWorkSecondsMetric(name string) workqueue.SettableGaugeMetric {
	work := p.work(name)
	work.mu.Lock()
	defer work.mu.Unlock()
	work.unfinished = p.MetricsProvider.NewUnfinishedWorkSecondsMetric(name)
	return endOfLoop{}
}

func (p quietProvider) NewLongestRunningProcessorSecondsMetric(name string) workqueue.SettableGaugeMetric {
	work := p.work(name)
	work.mu.Lock()
	defer work.mu.Unlock()
	work.longest = p.MetricsProvider.NewLongestRunningProcessorSecondsMetric(name)
	return endOfLoop{}
}

// depthMetric goes down when a queue hands an item out.
type depthMetric struct {
	workqueue.GaugeMetric
	work *queueWork
}

func (m depthMetric) Dec() {
	m.GaugeMetric.Dec()
	m.work.begin(time.Now())
}

// workDurationMetric is told when a queue gets an item back.
type workDurationMetric struct {
	workqueue.HistogramMetric
	work *queueWork
}

func (m workDurationMetric) Observe(seconds float64) {
	m.HistogramMetric.Observe(seconds)
	m.work.end(time.Now().Add(-time.Duration(seconds * float64(time.Second))))
}

// endOfLoop is a gauge that only the queue's updateUnfinishedWorkLoop sets. It
// ends that goroutine: what the loop holds, it gives back by defer.
type endOfLoop struct{}

func (endOfLoop) Set(float64) { runtime.Goexit() }
