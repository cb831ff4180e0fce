package evaluate

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/clock"

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
	lastWrite int64 // id of the learner's last request that has changed something
	lastID    int64 // of the learner's last request
	broken    string
	changed   bool
}

// check is a check with how it stands.
type check struct {
	checks.Check
	state  tutorials.CheckState
	sticky bool // it was true, and does not become false again
	was    bool // of none: it has been there
	// since is the id of the request after which others count that come after this check.
	since int64
	// listed are objects of which the watch has not brought all that had happened when the check began to count, by variable.
	listed  map[string]*objects
	holds   bool // of now: its expression is true
	timer   clock.Timer
	pending int // counts timers, so that one that was stopped too late is known
}

type hint struct {
	checks.Hint
	shown bool
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
		for _, file := range r.begin.Start {
			if err := r.feeds.apply(ctx, file); err != nil {
				return fmt.Errorf("start/%s: %w", file.Name, err)
			}
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
		if x.writes(p) {
			r.lastWrite = max(r.lastWrite, p.ID)
		}
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

// try evaluates a check.
func (r *run) try(c *check, x *exchange, variables map[string]any) {
	if c.sticky || c.state.Failed {
		return
	}
	if c.After != "" && !r.comesAfter(c, x) {
		return
	}
	variables = r.upToDate(c, variables)
	is, err := c.Is.Bool(variables)
	r.note(c, err)
	if err != nil {
		return
	}
	switch c.Kind {
	case "once":
		if is {
			c.sticky = true
			r.becomes(c, x, variables)
		}
	case "none":
		if is {
			c.was = true
		} else if c.was {
			c.sticky = true
			r.becomes(c, x, variables)
		}
	case "never":
		if is {
			c.state.Failed, c.state.Done, r.changed = true, false, true
		}
	default: // now, answer
		r.holds(c, is, variables)
	}
}

// holds notes whether what a now says is so.
func (r *run) holds(c *check, is bool, variables map[string]any) {
	was := c.holds
	c.holds = is
	switch {
	case !is:
		c.stopTimer()
		if c.state.Done {
			c.state.Done, c.state.Seen, c.state.At, r.changed = false, "", "", true
		}
	case c.For == 0:
		if !c.state.Done {
			r.becomes(c, nil, variables)
		}
	case !was && !c.state.Done:
		c.pending++
		mine := c.pending
		c.timer = r.e.config.Clock.AfterFunc(c.For, func() {
			r.queue.put(0, func() {
				if c.pending == mine && c.holds && !c.state.Done {
					r.becomes(c, nil, r.variables(nil))
					r.finish()
				}
			})
		})
	}
}

func (c *check) stopTimer() {
	c.pending++
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
}

// comesAfter reports whether x, or what is now, comes after the check that c names.
func (r *run) comesAfter(c *check, x *exchange) bool {
	first := r.check(c.After)
	if !first.state.Done && !first.sticky {
		return false
	}
	if x == nil || !c.Is.Uses(checks.Request) {
		return true
	}
	return x.id > first.since || x.watch && len(x.events) > 0 && !x.done
}

func (r *run) check(id string) *check {
	return r.checks[slices.IndexFunc(r.checks, func(c *check) bool { return c.ID == id })]
}

// becomes notes that a check is true, by a request or by the state of objects.
func (r *run) becomes(c *check, x *exchange, variables map[string]any) {
	c.state.Done, r.changed = true, true
	c.state.At = r.e.config.Clock.Now().UTC().Format(time.RFC3339)
	if c.Seen != nil {
		if x != nil || !c.Seen.Uses(checks.Request) {
			seen, err := c.Seen.String(variables)
			r.note(c, err)
			c.state.Seen = seen
		}
	}
	if x != nil && c.Is.Uses(checks.Request) {
		c.since = x.id
		r.earlier[c.ID] = x.val()
		if c.IsEarlier {
			c.state.Request = x.remember()
		}
	} else if c.since = r.lastWrite; c.since == 0 {
		c.since = r.lastID
	}
	for _, next := range r.checks {
		if next.After != c.ID || next.sticky || next.state.Done {
			continue
		}
		if !next.Is.Uses(checks.Request) {
			if x != nil && c.Is.Uses(checks.Request) {
				r.catchUp(next)
			}
			r.try(next, x, r.variables(x))
			continue
		}
		// Requests that began after this one and were quicker.
		for _, list := range [][]*exchange{r.learner, r.pods} {
			for _, later := range list {
				if later.id > c.since && later != x && r.isFor(later, next.Who) && (later.done || later.watch) {
					r.try(next, later, r.variables(later))
				}
			}
		}
	}
}

// catchUp has a check that comes after a request look at no objects from before it. The request has been answered, and what
// it did, or found, may still be on its way through the watch: until all of that has come, the check is given a list from
// now. Changes wait in the queue meanwhile, so that none is passed over.
func (r *run) catchUp(c *check) {
	c.listed = map[string]*objects{}
	ctx, cancel := context.WithTimeout(r.ctx, listing)
	defer cancel()
	for name := range r.objects {
		if !c.Is.Uses(name) {
			continue
		}
		list, err := r.list(ctx, name)
		if err != nil {
			r.e.config.Log("lesson %s: check %s: list %s: %v", r.begin.Lesson.ID, c.ID, name, err)
			continue // then what the watch has brought must do
		}
		if list == nil {
			continue
		}
		now := &objects{byKey: map[string]map[string]any{}}
		for i := range list.Items {
			now.put(&list.Items[i], false)
		}
		now.revision = list.GetResourceVersion()
		c.listed[name] = now
	}
}

// upToDate is variables with the lists that a check has been given, where the watch is still behind them.
func (r *run) upToDate(c *check, variables map[string]any) map[string]any {
	for name, now := range c.listed {
		if r.objects[name].has(now.revision) {
			delete(c.listed, name)
		}
	}
	if len(c.listed) == 0 {
		return variables
	}
	variables = maps.Clone(variables)
	for name, now := range c.listed {
		variables[name] = func() any { return now.list() }
	}
	return variables
}

// note tells what is wrong with a check.
func (r *run) note(c *check, err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if c.state.Error != text {
		c.state.Error, r.changed = text, true
		if text != "" {
			r.e.config.Log("lesson %s: check %s: %s", r.begin.Lesson.ID, c.ID, text)
		}
	}
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

func (r *run) tryHint(h *hint, x *exchange, variables map[string]any, concerns func(*checks.Expression) bool) {
	shown := h.shown
	isOpen := r.isOpen(h.Step)
	is := func(e *checks.Expression) bool {
		is, err := e.Bool(variables)
		if err != nil {
			r.fail("hint %s: %v", h.ID, err)
		}
		return is
	}
	switch {
	case !isOpen:
		shown = false
	case h.State != nil:
		shown = is(h.State)
	default:
		if x != nil && r.isFor(x, h.Who) && is(h.When) {
			shown = true
		} else if shown && h.Until != nil && concerns(h.Until) && is(h.Until) {
			shown = false
		}
	}
	if shown != h.shown {
		h.shown, r.changed = shown, true
	}
}
