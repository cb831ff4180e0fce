package evaluate

import (
	"context"
	"maps"
	"slices"
	"time"

	"k8s.io/utils/clock"

	"github.com/kubetab/kubetab/tutorials"
	"github.com/kubetab/kubetab/tutorials/checks"
)

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
	} else {
		c.since = r.cause(c)
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

// cause is the id of the learner's last request that may have brought about the objects that have made a check true: of those
// that changed something, the last but for what was written after all that the watch has brought. Without one it is the last
// request before that.
func (r *run) cause(c *check) int64 {
	var newest *objects
	for name, o := range r.objects {
		if c.Is.Uses(name) && (newest == nil || o.has(newest.revision)) {
			newest = o
		}
	}
	cause, last := int64(0), r.lastID
	for _, x := range r.learner {
		switch {
		case !x.writes():
		case newest != nil && newest.revision != "" && !newest.has(x.revision()):
			last = min(last, x.id-1)
		default:
			cause = max(cause, x.id)
		}
	}
	if cause == 0 {
		return last
	}
	return cause
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
