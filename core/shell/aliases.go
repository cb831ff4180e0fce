package shell

import (
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/kubetab/kubetab/internal/unix/completion"
)

// aliases are those of a shell, for Tab: the interpreter does not tell its own. The zero value has none.
type aliases struct {
	mu   sync.Mutex
	text map[string]string // by name
}

// note takes a command line of alias or unalias.
func (a *aliases) note(args []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, arg := range args[1:] {
		name, text, sets := strings.Cut(arg, "=")
		switch {
		case args[0] == "unalias" && arg == "-a":
			a.text = nil
		case args[0] == "unalias":
			delete(a.text, arg)
		case sets:
			if a.text == nil {
				a.text = map[string]string{}
			}
			a.text[name] = text
		}
	}
}

func (a *aliases) names() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Collect(maps.Keys(a.text))
}

// resolve puts the words of an alias in its place, if the first of words is one.
func (a *aliases) resolve(words []string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	seen := map[string]bool{}
	for len(words) > 0 && !seen[words[0]] {
		seen[words[0]] = true
		if text, ok := a.text[words[0]]; ok {
			first, _ := completion.Split(text + " ")
			words = slices.Concat(first, words[1:])
		}
	}
	return words
}
