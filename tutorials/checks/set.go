package checks

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/kubetab/kubetab/tutorials"
)

// Check is a check that can be evaluated.
type Check struct {
	tutorials.Check
	Step int    // its index
	Kind string // once, now, none, never or answer
	Is   *Expression
	Seen *Expression // nil without
	For  time.Duration
	// IsEarlier says that an expression of the lesson looks at the request that made the check true.
	IsEarlier bool
}

// Hint is a hint that can be evaluated. Exactly one of When and State is not nil.
type Hint struct {
	tutorials.Hint
	Step               int
	When, State, Until *Expression
}

// Fault is something wrong with a lesson, at a path such as steps[0].checks[1].once.
type Fault struct {
	Path    string
	Message string
}

func (f *Fault) Error() string { return f.Path + ": " + f.Message }

// Compile compiles everything in a lesson. The error joins a *Fault for each thing that is wrong.
func Compile(l *tutorials.Lesson) (checks []Check, hints []Hint, err error) {
	c, err := New(l)
	if err != nil {
		return nil, nil, &Fault{"objects", err.Error()}
	}
	var faults []error
	fault := func(path, format string, args ...any) {
		faults = append(faults, &Fault{path, fmt.Sprintf(format, args...)})
	}
	compile := func(path, text string, as func(string) (*Expression, error), uses, without string) *Expression {
		if text == "" {
			return nil
		}
		e, err := as(text)
		switch {
		case err != nil:
			fault(path, "%v", err)
			return nil
		case without != "" && e.Uses(without):
			fault(path, "looks at %s, which only once, never, when and until have", without)
		case uses != "" && !e.Uses(uses):
			fault(path, "does not look at %s", uses)
		}
		return e
	}
	ids := map[string]bool{}
	for i, step := range l.All() {
		at := fmt.Sprintf("steps[%d]", i)
		if i == len(l.Steps) {
			at = "challenge"
		}
		for j, one := range step.Checks {
			path := fmt.Sprintf("%s.checks[%d]", at, j)
			check := Check{Check: one, Step: i}
			var text string
			if check.Kind, text, err = one.Condition(); err != nil {
				fault(path, "%v", err)
				continue
			}
			without := ""
			if check.Kind == "now" || check.Kind == "none" || check.Kind == "answer" {
				without = Request
			}
			check.Is = compile(path+"."+check.Kind, text, c.Bool, "", without)
			check.Seen = compile(path+".seen", one.Seen, c.String, "", "")
			if check.Seen != nil && check.Is != nil && check.Seen.Uses(Request) && !check.Is.Uses(Request) {
				fault(path+".seen", "looks at request, which the check does not")
			}
			if one.For != "" {
				if check.For, err = time.ParseDuration(one.For); err != nil || check.Kind != "now" {
					fault(path+".for", "is for a now, and a duration such as 10s")
				}
			}
			checks = append(checks, check)
			if ids[one.ID] {
				fault(path+".id", "the lesson has two checks %q", one.ID)
			}
			ids[one.ID] = true
		}
		for j, one := range step.Hints {
			path := fmt.Sprintf("%s.hints[%d]", at, j)
			if (one.When == "") == (one.State == "") {
				fault(path, "hint %s needs one of when and state", one.ID)
			}
			hints = append(hints, Hint{
				Hint: one, Step: i,
				When:  compile(path+".when", one.When, c.Bool, Request, ""),
				State: compile(path+".state", one.State, c.Bool, "", Request),
				Until: compile(path+".until", one.Until, c.Bool, "", ""),
			})
			if one.Until != "" && one.When == "" {
				fault(path+".until", "is for a hint with when: one with state goes with its state")
			}
		}
	}
	checkOrder(l, ids, fault)
	markEarlier(checks, hints)
	return checks, hints, errors.Join(faults...)
}

// checkOrder finds fault with an after that names no other check of the lesson.
func checkOrder(l *tutorials.Lesson, ids map[string]bool, fault func(path, format string, args ...any)) {
	for i, step := range l.All() {
		for j, one := range step.Checks {
			if one.After != "" && (!ids[one.After] || one.After == one.ID) {
				at := fmt.Sprintf("steps[%d]", i)
				if i == len(l.Steps) {
					at = "challenge"
				}
				fault(fmt.Sprintf("%s.checks[%d].after", at, j), "there is no other check %q", one.After)
			}
		}
	}
}

// markEarlier says of each check whether an expression looks at its earlier outcome.
func markEarlier(checks []Check, hints []Hint) {
	for i := range checks {
		uses := func(e *Expression) bool { return e.UsesEarlier(checks[i].ID) }
		checks[i].IsEarlier = slices.ContainsFunc(checks, func(c Check) bool { return uses(c.Is) || uses(c.Seen) }) ||
			slices.ContainsFunc(hints, func(h Hint) bool { return uses(h.When) || uses(h.State) || uses(h.Until) })
	}
}
