package evaluate

import "github.com/kubetab/kubetab/tutorials/checks"

type hint struct {
	checks.Hint
	shown bool
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
