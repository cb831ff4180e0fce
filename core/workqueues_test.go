package core

import (
	"context"
	"fmt"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/util/workqueue"
)

// An engine leaves the work queues of the program that embeds it as they are.
func TestNewLeavesWorkQueuesAlone(t *testing.T) {
	closeSharedEngine(t) // whose controllers would read the provider meanwhile
	quiet := queueMetricsProvider
	upstreams, ok := quiet.(quietProvider)
	if !ok {
		t.Fatalf("TestMain asks for quiet work queues, and there is a %T", quiet)
	}
	queueMetricsProvider, queues.once = upstreams.MetricsProvider, sync.Once{}
	defer func() { queueMetricsProvider = quiet; queues.once.Do(func() {}) }()
	e, err := New(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	if queueMetricsProvider != upstreams.MetricsProvider {
		t.Errorf("New has replaced the provider of the process by a %T", queueMetricsProvider)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
}

// Quiet work queues have no goroutine that looks at the clock, and the gauges
// that it set are right when they are read.
func TestWorkQueuesAreQuiet(t *testing.T) {
	e := sharedEngine(t)
	const name = "quiet_test"
	queue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Name: name})
	eventually(t, "the queues' loops end", func(context.Context) (bool, error) {
		stacks := make([]byte, 16<<20)
		return !strings.Contains(string(stacks[:runtime.Stack(stacks, true)]), "updateUnfinishedWorkLoop"), nil
	})
	gauge := func(metric string) float64 {
		t.Helper()
		res, body := get(t, e, "/metrics")
		if res.StatusCode != http.StatusOK {
			t.Fatalf("/metrics: %s", res.Status)
		}
		prefix := fmt.Sprintf("workqueue_%s{name=%q} ", metric, name)
		for line := range strings.Lines(string(body)) {
			if value, ok := strings.CutPrefix(line, prefix); ok {
				number, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
				if err != nil {
					t.Fatal(err)
				}
				return number
			}
		}
		t.Fatalf("/metrics has no %s", prefix)
		return 0
	}

	for _, item := range []string{"a", "b", "c"} {
		queue.Add(item)
	}
	if depth, unfinished := gauge("depth"), gauge("unfinished_work_seconds"); depth != 3 || unfinished != 0 {
		t.Errorf("three items wait: depth %v, %v s unfinished", depth, unfinished)
	}
	first, _ := queue.Get()
	second, _ := queue.Get()
	total, longest := gauge("unfinished_work_seconds"), gauge("longest_running_processor_seconds")
	if total <= 0 || longest <= 0 {
		t.Errorf("two items are worked on: %v s unfinished, the longest %v s", total, longest)
	}
	if later := gauge("unfinished_work_seconds"); later <= total {
		t.Errorf("work goes on: %v s unfinished, and then %v s", total, later)
	}
	queue.Done(first)
	if total, longest := gauge("unfinished_work_seconds"), gauge("longest_running_processor_seconds"); total <= 0 || longest <= 0 {
		t.Errorf("one item is worked on: %v s unfinished, the longest %v s", total, longest)
	}
	queue.Done(second)
	if total, longest := gauge("unfinished_work_seconds"), gauge("longest_running_processor_seconds"); total != 0 || longest != 0 {
		t.Errorf("nothing is worked on: %v s unfinished, the longest %v s", total, longest)
	}
	if depth, adds := gauge("depth"), gauge("adds_total"); depth != 1 || adds != 3 {
		t.Errorf("one item of three waits: depth %v, adds %v", depth, adds)
	}
	queue.ShutDown() // waits for the loop
}
