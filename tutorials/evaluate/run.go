package evaluate

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubetab/kubetab/core/requestlog"
	"github.com/kubetab/kubetab/tutorials"
	"github.com/kubetab/kubetab/tutorials/checks"
)

const (
	// mostRequests is how many requests of the learner are kept, and as many of Pods; the oldest go first.
	mostRequests = 500
	// mostBytes is how much they may keep alive together. Of the oldest beyond it the heads are kept.
	mostBytes = 4 << 20
	// listing is how long the lists of a check may take, see catchUp.
	listing = 10 * time.Second
)

// run is a lesson that is being worked on. Below queue everything belongs to the goroutine of loop.
type run struct {
	e      *Evaluator
	begin  tutorials.Begin
	ctx    context.Context
	cancel context.CancelFunc
	ended  chan struct{}
	queue  *queue
	feeds  *feeds
	// list returns the objects of a variable as they are now; nil for none.
	list func(ctx context.Context, name string) (*unstructured.UnstructuredList, error)

	ready     bool
	checks    []*check
	hints     []*hint
	stepsDone []bool
	objects   map[string]*objects
	learner   []*exchange
	pods      []*exchange
	open      map[int64]*exchange // requests that go on, of both
	earlier   map[string]ref.Val
	lastID    int64 // of the learner's last request
	broken    string
	changed   bool
}

func newRun(e *Evaluator, b tutorials.Begin, all []checks.Check, hints []checks.Hint) *run {
	r := &run{
		e: e, begin: b, ended: make(chan struct{}), queue: newQueue(),
		stepsDone: make([]bool, len(b.Lesson.All())),
		objects:   map[string]*objects{}, open: map[int64]*exchange{}, earlier: map[string]ref.Val{},
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	for _, c := range all {
		r.checks = append(r.checks, &check{Check: c, state: tutorials.CheckState{ID: c.ID}})
	}
	for _, h := range hints {
		r.hints = append(r.hints, &hint{Hint: h})
	}
	r.restore(b.Progress)
	return r
}

// restore takes over how the lesson stood when another run of it ended. A now that was true is looked at again, and so is
// whether the objects of a none are there: the engine may have other settings.
func (r *run) restore(progress []tutorials.StepState) {
	steps := r.begin.Lesson.All()
	for _, s := range progress {
		if i := slices.IndexFunc(steps, func(one tutorials.Step) bool { return one.ID == s.ID }); i >= 0 {
			r.stepsDone[i] = s.Done
		}
		for _, was := range s.Checks {
			i := slices.IndexFunc(r.checks, func(c *check) bool { return c.ID == was.ID })
			if i < 0 {
				continue
			}
			c := r.checks[i]
			if c.Kind == "never" {
				c.state.Failed = was.Failed
				continue
			}
			if !was.Done {
				continue
			}
			c.state = tutorials.CheckState{ID: c.ID, Done: true, Seen: was.Seen, At: was.At}
			c.sticky = c.Kind != "now" && c.Kind != "answer"
			if earlier := remembered(was.Request); c.IsEarlier && earlier != nil {
				c.state.Request, r.earlier[c.ID] = was.Request, earlier
			}
		}
	}
}

// start applies what the lesson begins with and arms its checks.
func (r *run) start(ctx context.Context, keep bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.ctx, cancel)()
	r.e.publish(r.state())
	go r.loop()
	unsubscribe := r.e.config.Requests.Subscribe(requestlog.Subscriber{Want: r.wants, Deliver: r.deliver})
	context.AfterFunc(r.ctx, unsubscribe)

	var err error
	if r.feeds, err = newFeeds(r); err != nil {
		return err
	}
	r.list = r.feeds.list
	if err := r.feeds.namespace(ctx, r.begin.Lesson.Namespace); err != nil {
		return err
	}
	if name := r.e.config.Namespace; name != nil && r.begin.Lesson.Namespace != "" {
		if err := name(r.begin.Lesson.Namespace); err != nil {
			return err
		}
	}
	if !keep {
		if err := r.feeds.applyAll(ctx, r.begin.Start); err != nil {
			return err
		}
	}
	if err := r.feeds.watch(ctx); err != nil {
		return err
	}
	begun := make(chan struct{})
	r.queue.put(0, func() {
		r.ready, r.changed = true, true
		r.look(nil, "")
		for _, list := range [][]*exchange{r.learner, r.pods} {
			for _, x := range list { // of a learner who did not wait
				r.look(x, "")
			}
		}
		r.publish()
		close(begun)
	})
	select {
	case <-begun:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (r *run) stop() {
	r.cancel()
	r.queue.close()
	<-r.ended
	if r.feeds != nil {
		r.feeds.wait()
	}
}

func (r *run) loop() {
	defer close(r.ended)
	for {
		if r.step() {
			continue
		}
		select {
		case <-r.queue.wake:
		case <-r.ctx.Done():
			return
		}
	}
}

// step looks at all that waits. It is false when nothing did.
func (r *run) step() bool {
	items, lost := r.queue.take()
	if lost > 0 {
		r.fail("%d requests or changes came too quickly and were not looked at: begin the lesson again if a check stays grey", lost)
	}
	for _, one := range items {
		if r.ctx.Err() != nil {
			return false
		}
		one.run()
		r.publish()
	}
	return len(items) > 0
}

func (r *run) fail(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if r.broken != text {
		r.broken, r.changed = text, true
		r.e.config.Log("lesson %s: %s", r.begin.Lesson.ID, text)
	}
}

// publish tells what has changed.
func (r *run) publish() {
	if r.changed && r.ctx.Err() == nil {
		r.e.publish(r.state())
	}
	r.changed = false
}

func (r *run) state() tutorials.State {
	s := tutorials.State{ID: r.begin.Lesson.ID, Ready: r.ready, Error: r.broken, Steps: []tutorials.StepState{}}
	for i, step := range r.begin.Lesson.All() {
		one := tutorials.StepState{ID: step.ID, Done: r.stepsDone[i], Checks: []tutorials.CheckState{}, Hints: []string{}}
		for _, c := range r.checks {
			if c.Step == i {
				one.Checks = append(one.Checks, c.state)
			}
		}
		for _, h := range r.hints {
			if h.Step == i && h.shown {
				one.Hints = append(one.Hints, h.ID)
			}
		}
		s.Steps = append(s.Steps, one)
	}
	return s
}

// wants is asked at the beginning of every request, on its goroutine.
func (r *run) wants(_ *http.Request, from string, internal bool) bool {
	if from == requestlog.FromPod {
		return true // whose it is is known later
	}
	return !internal && !notLearners.Has(from)
}

// deliver is told of requests as they pass, on their goroutines.
func (r *run) deliver(p requestlog.Passing) {
	r.queue.put(len(p.RequestBody.Data)+len(p.ResponseBody.Data)+len(p.WatchEvent), func() { r.request(p) })
}

// request takes in how far a request has come and looks at the checks.
func (r *run) request(p requestlog.Passing) {
	x := r.open[p.ID]
	if x == nil {
		if x = r.newExchange(p); x == nil {
			return
		}
	}
	if p.Part == requestlog.PartEvent {
		x.event(p)
	} else {
		x.update(p)
	}
	if x.done {
		delete(r.open, p.ID)
	}
	r.bound()
	// An answer that goes on without end is complete enough at its head.
	if p.Part == requestlog.PartHead && !p.Watch && p.Status != http.StatusSwitchingProtocols && p.Subresource != "log" {
		return
	}
	r.look(x, "")
}

// newExchange begins to remember a request; it returns nil for one that is nobody's.
func (r *run) newExchange(p requestlog.Passing) *exchange {
	isPods := p.From == requestlog.FromPod
	if isPods {
		// At the head its user is known, unless it was refused before anybody asked.
		if r.foreign(accountOf(p.User)) {
			return nil
		}
	} else if !isLearners(p.Record, p.RequestHeader) {
		return nil
	}
	x := newExchange(p)
	r.open[p.ID] = x
	list := &r.learner
	if isPods {
		list = &r.pods
	} else {
		r.lastID = max(r.lastID, p.ID)
	}
	*list = append(*list, x)
	if len(*list) > mostRequests {
		delete(r.open, (*list)[0].id)
		*list = (*list)[1:]
	}
	return x
}

// foreign reports whether Pods of a namespace are none of this lesson's: it owns its namespace and those whose names begin
// with its name.
func (r *run) foreign(namespace string) bool {
	own := r.begin.Lesson.Namespace
	return namespace != own && !strings.HasPrefix(namespace, own+"-")
}

// bound gives up bodies of old requests when all together are too large.
func (r *run) bound() {
	for _, list := range [][]*exchange{r.learner, r.pods} {
		total := 0
		for i := len(list) - 1; i >= 0; i-- {
			if total += list[i].size; total > mostBytes && i < len(list)-1 {
				total -= list[i].size
				list[i].forget()
			}
		}
	}
}

// variables are what expressions look at.
func (r *run) variables(x *exchange) map[string]any {
	v := map[string]any{
		checks.Namespace: r.begin.Lesson.Namespace, checks.Now: r.e.config.Clock.Now().UTC(),
		checks.Earlier:     r.earlier,
		checks.Requests:    func() ref.Val { return listOf(r.learner) }, // made when it is asked for
		checks.PodRequests: func() ref.Val { return listOf(r.pods) },
	}
	for name, o := range r.objects {
		v[name] = func() any { return o.list() }
	}
	if x != nil {
		v[checks.Request] = x.val()
	}
	return v
}

func listOf(list []*exchange) ref.Val {
	values := make([]ref.Val, len(list))
	for i, x := range list {
		values[i] = x.val()
	}
	return types.NewRefValList(types.DefaultTypeAdapter, values)
}

// look evaluates what may have changed: by a request, or by the objects of a name; all when there is neither.
func (r *run) look(x *exchange, objects string) {
	if !r.ready {
		return
	}
	variables := r.variables(x)
	concerns := func(e *checks.Expression) bool {
		if e.Uses(checks.Request) {
			return x != nil
		}
		return x == nil && objects == "" || objects != "" && e.Uses(objects) || x != nil && (e.Uses(checks.Requests) || e.Uses(checks.PodRequests) || e.Uses(checks.Earlier))
	}
	for _, c := range r.checks {
		if concerns(c.Is) && (!c.Is.Uses(checks.Request) || r.isFor(x, c.Who)) {
			r.try(c, x, variables)
		}
	}
	// A check that others come after may make true what was seen already: of two requests, the first may end last.
	r.finish()
	for _, h := range r.hints {
		r.tryHint(h, x, variables, concerns)
	}
}

func (r *run) isFor(x *exchange, who tutorials.Who) bool {
	return who == tutorials.Anybody || x.pod == (who == tutorials.Pods)
}

// finish says which steps are done.
func (r *run) finish() {
	for i := range r.stepsDone {
		complete, failed := true, false
		for _, c := range r.checks {
			if c.Step != i {
				continue
			}
			if c.Kind == "never" {
				failed = failed || c.state.Failed
			} else {
				complete = complete && c.state.Done
			}
		}
		for _, c := range r.checks {
			if c.Step == i && c.Kind == "never" {
				if done := !c.state.Failed && (complete || r.stepsDone[i]); done != c.state.Done {
					c.state.Done, r.changed = done, true
				}
			}
		}
		if complete && !failed && !r.stepsDone[i] {
			r.stepsDone[i], r.changed = true, true
		}
	}
}

// isOpen reports whether the learner may be working on a step: the step is not done, and it is at most one behind the
// last step of which anything is done.
func (r *run) isOpen(step int) bool {
	last := -1
	for _, c := range r.checks {
		if c.state.Done && c.Kind != "never" {
			last = max(last, c.Step)
		}
	}
	for i, done := range r.stepsDone {
		if done {
			last = max(last, i)
		}
	}
	return !r.stepsDone[step] && step <= last+1
}
