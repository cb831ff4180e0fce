package container

import (
	"strconv"
	"strings"
)

// Resolver is what /etc/resolv.conf says.
type Resolver struct {
	Servers, Searches, Options []string
}

// String is the file, as container runtimes write it.
func (r Resolver) String() string {
	var b strings.Builder
	if len(r.Searches) > 0 {
		b.WriteString("search " + strings.Join(r.Searches, " ") + "\n")
	}
	for _, s := range r.Servers {
		b.WriteString("nameserver " + s + "\n")
	}
	if len(r.Options) > 0 {
		b.WriteString("options " + strings.Join(r.Options, " ") + "\n")
	}
	return b.String()
}

// Candidates returns the names in full that a name may stand for, in the order in which they are asked for: with fewer dots
// than the option ndots says, those of the search path come first.
func (r Resolver) Candidates(name string) []string {
	if full, ok := strings.CutSuffix(name, "."); ok {
		return []string{full}
	}
	dots := 1
	for _, o := range r.Options {
		if n, err := strconv.Atoi(strings.TrimPrefix(o, "ndots:")); err == nil && strings.HasPrefix(o, "ndots:") {
			dots = n
		}
	}
	var all []string
	if strings.Count(name, ".") >= dots {
		all = append(all, name)
	}
	for _, s := range r.Searches {
		all = append(all, name+"."+strings.TrimSuffix(s, "."))
	}
	if strings.Count(name, ".") < dots {
		all = append(all, name)
	}
	return all
}
