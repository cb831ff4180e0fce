package dns

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/coredns/caddy/caddyfile"
)

// rewrite is a rule of the plugin of that name.
type rewrite struct {
	goesOn bool // the next rule is tried, too
	kind   string
	types  [2]string // of a rule for types: from, to
	from   string
	to     string
	regex  *regexp.Regexp
	auto   bool // answers are for the name that was asked for
	names  []replacement
	values []replacement
}

// replacement is a pattern with what its matches become, in which {1} is the first group.
type replacement struct {
	pattern *regexp.Regexp
	to      string
}

func (r replacement) of(text string) string {
	groups := r.pattern.FindStringSubmatch(text)
	if groups == nil {
		return text
	}
	to := r.to
	for i, g := range groups {
		to = strings.ReplaceAll(to, "{"+strconv.Itoa(i)+"}", g)
	}
	return to
}

func (s *site) setupRewrite(c *caddyfile.Dispenser) error {
	for c.Next() {
		args := c.RemainingArgs()
		for c.NextBlock() {
			args = append(args, c.Val())
			args = append(args, c.RemainingArgs()...)
		}
		r, known, err := newRewrite(args)
		if err != nil {
			return err
		}
		if known {
			s.rewrites = append(s.rewrites, r)
		}
	}
	return nil
}

// newRewrite reads a rule. Those of what has no effect here are not known.
func newRewrite(args []string) (r rewrite, known bool, err error) {
	if len(args) > 0 && (args[0] == "continue" || args[0] == "stop") {
		r.goesOn, args = args[0] == "continue", args[1:]
	}
	if len(args) < 2 {
		return r, false, fmt.Errorf("no rule type specified for rewrite")
	}
	field, args := args[0], args[1:]
	switch field {
	case "name":
	case "type":
		if len(args) != 2 {
			return r, false, fmt.Errorf("type rules must have exactly two arguments")
		}
		r.types = [2]string{strings.ToUpper(args[0]), strings.ToUpper(args[1])}
		return r, true, nil
	case "answer", "class", "edns0", "ttl", "cname", "rcode":
		return r, false, nil
	default:
		return r, false, fmt.Errorf("invalid rule type %q", field)
	}
	r.kind = "exact"
	if len(args) > 2 {
		r.kind, args = strings.ToLower(args[0]), args[1:]
	}
	if len(args) < 2 {
		return r, false, errors.New("too few arguments for a name rule")
	}
	r.from, r.to = bare(args[0]), bare(args[1])
	r.auto = r.kind == "exact"
	switch r.kind {
	case "exact", "prefix", "suffix", "substring":
	case "regex":
		if r.regex, err = regexp.Compile(args[0]); err != nil {
			return r, false, fmt.Errorf("invalid regex pattern in a name rule: %s", args[0])
		}
		r.to = args[1]
	default:
		return r, false, fmt.Errorf("name rule supports only exact, prefix, suffix, substring, and regex name matching, received: %s", r.kind)
	}
	return r, true, r.options(args[2:])
}

// options reads answer (auto | (name|value FROM TO)) ...
func (r *rewrite) options(args []string) error {
	for len(args) > 0 {
		if args[0] == "answer" {
			args = args[1:]
		}
		switch {
		case len(args) > 0 && args[0] == "auto":
			r.auto, args = true, args[1:]
		case len(args) > 1 && args[0] == "name" && args[1] == "auto":
			r.auto, args = true, args[2:]
		case len(args) > 2 && (args[0] == "name" || args[0] == "value"):
			pattern, err := regexp.Compile(args[1])
			if err != nil {
				return fmt.Errorf("invalid regex pattern in a name rule: %s", args[1])
			}
			if one := (replacement{pattern, args[2]}); args[0] == "name" {
				r.names = append(r.names, one)
			} else {
				r.values = append(r.values, one)
			}
			args = args[3:]
		default:
			return fmt.Errorf("invalid arguments for %s", r.kind+" rule")
		}
	}
	return nil
}

func bare(name string) string { return strings.ToLower(strings.TrimSuffix(name, ".")) }

// apply returns the name that a rule makes of a name, false if it is not for it.
func (r rewrite) apply(name string) (string, bool) {
	switch r.kind {
	case "exact":
		return r.to, name == r.from
	case "prefix":
		rest, ok := strings.CutPrefix(name, r.from)
		return r.to + rest, ok
	case "suffix":
		before, ok := strings.CutSuffix(name, r.from)
		return before + r.to, ok
	case "substring":
		return strings.ReplaceAll(name, r.from, r.to), strings.Contains(name, r.from)
	}
	full := name + "."
	if !r.regex.MatchString(full) {
		return "", false
	}
	return bare(replacement{r.regex, r.to}.of(full)), true
}

// rewritten returns what is asked in the place of q, and what makes the answer one to q.
func (s *site) rewritten(q Question) (Question, func(Answer) Answer) {
	var undo []func(*Record)
	for _, r := range s.rewrites {
		if r.kind == "" {
			if q.Type != r.types[0] {
				continue
			}
			q.Type = r.types[1]
		} else {
			from := q.Name
			to, ok := r.apply(from)
			if !ok {
				continue
			}
			q.Name = to
			if r.auto {
				undo = append(undo, func(rr *Record) {
					if rr.Name == to+"." {
						rr.Name = from + "."
					}
				})
			}
			undo = append(undo, func(rr *Record) {
				for _, n := range r.names {
					rr.Name = strings.TrimSuffix(n.of(rr.Name), ".") + "."
				}
				for _, v := range r.values {
					rr.Data = v.of(rr.Data)
				}
			})
		}
		if !r.goesOn {
			break
		}
	}
	return q, func(a Answer) Answer {
		for i := range a.Records {
			for n := len(undo) - 1; n >= 0; n-- {
				undo[n](&a.Records[i])
			}
		}
		return a
	}
}
