package transcripts

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"regexp"
	"sort"
	"strconv"
	"strings"
)

// vars are the values that ${name} stands for in one run of one transcript.
type vars struct {
	values map[string]string
	// names are variables that the runner made: their values are random enough to be put back into any answer.
	names []string
}

// newVars makes ${id} and the names of the namespaces. The letters are those that Kubernetes allows everywhere,
// without vowels so that no word comes out.
func newVars(file string, namespaces int) *vars {
	const letters = "bcdfghjkmnpqrstvwxz"
	raw := make([]byte, 9)
	rand.Read(raw) // never fails, see crypto/rand
	for i := range raw {
		raw[i] = letters[int(raw[i])%len(letters)]
	}
	id := string(raw)
	v := &vars{values: map[string]string{"id": id}, names: []string{"id"}}
	base := strings.ReplaceAll(file, "/", "-")
	if len(base) > 40 {
		base = base[:40]
	}
	for i := range namespaces {
		name := "ns"
		if i > 0 {
			name += strconv.Itoa(i + 1)
		}
		// The random part comes last but for the number, and the number is not part of ${ns}: no name of one
		// namespace is a prefix of another.
		v.values[name] = fmt.Sprintf("%s-%d-%s", base, i+1, id)
		v.names = append(v.names, name)
	}
	sort.Slice(v.names, func(i, j int) bool { return len(v.values[v.names[i]]) > len(v.values[v.names[j]]) })
	return v
}

var (
	variable = regexp.MustCompile(`\$\{([^}]+)\}`)
	repeat   = regexp.MustCompile(`\$\{repeat (\d+) <<(.*?)>>\}`)
)

// expand replaces ${name}, ${repeat N <<text>>} and ${continue RV START}. The last forges a continue token of the form
// that upstream's storage makes (k8s.io/apiserver/pkg/storage/continue.go): the only way to hold one that is older
// than a compaction without waiting for it. Errors: a name that has no value.
func (v *vars) expand(text string) (string, error) {
	var err error
	text = repeat.ReplaceAllStringFunc(text, func(m string) string {
		part := repeat.FindStringSubmatch(m)
		n, convErr := strconv.Atoi(part[1])
		if convErr != nil {
			err = convErr
		}
		return strings.Repeat(part[2], n)
	})
	out := variable.ReplaceAllStringFunc(text, func(m string) string {
		expr := m[2 : len(m)-1]
		words := strings.SplitN(expr, " ", 3)
		if words[0] == "continue" && len(words) == 3 {
			rv, convErr := strconv.ParseInt(v.values[words[1]], 10, 64)
			if convErr != nil {
				err = fmt.Errorf("${continue %s}: %w", words[1], convErr)
			}
			token, _ := json.Marshal(map[string]any{"v": "meta.k8s.io/v1", "rv": rv, "start": words[2] + "\x00"})
			return base64.RawURLEncoding.EncodeToString(token)
		}
		value, ok := v.values[expr]
		if !ok {
			err = fmt.Errorf("no value for ${%s}", expr)
		}
		return value
	})
	return out, err
}

// restore puts ${ns} and ${id} back where their values stand in an answer.
func (v *vars) restore(text string) string {
	for _, name := range v.names {
		text = strings.ReplaceAll(text, v.values[name], "${"+name+"}")
	}
	return text
}

// captured returns the name of a captured variable with that value. Of several the first in the alphabet.
func (v *vars) captured(value string) (string, bool) {
	found := ""
	for name, val := range v.values {
		if val == value && (found == "" || name < found) {
			found = name
		}
	}
	return "${" + found + "}", found != "" && value != ""
}
