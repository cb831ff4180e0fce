package transcripts

import (
	"fmt"
	"strconv"
	"strings"
)

// splitPath turns "items[0].metadata.name" into its steps. A dot within a key is written as "\.".
func splitPath(path string) []string {
	path = strings.ReplaceAll(path, `\.`, "\x00")
	path = strings.ReplaceAll(path, "[", ".[")
	var steps []string
	for _, p := range strings.Split(path, ".") {
		if p != "" {
			steps = append(steps, strings.ReplaceAll(p, "\x00", "."))
		}
	}
	return steps
}

// lookup returns the value at path, and whether there is one. Values are those of encoding/json.
func lookup(v any, path string) (any, bool) {
	for _, key := range splitPath(path) {
		if i, ok := index(key); ok {
			list, isList := v.([]any)
			if !isList || i >= len(list) {
				return nil, false
			}
			v = list[i]
			continue
		}
		m, ok := v.(map[string]any)
		if !ok {
			return nil, false
		}
		if v, ok = m[key]; !ok {
			return nil, false
		}
	}
	return v, true
}

func index(key string) (int, bool) {
	if !strings.HasPrefix(key, "[") {
		return 0, false
	}
	i, err := strconv.Atoi(strings.Trim(key, "[]"))
	return i, err == nil
}

// only returns the part of v that lies on one of the paths. A path goes through every element of a list unless it
// names one.
func only(v any, paths []string) any {
	var out any
	for _, p := range paths {
		if part, ok := extract(v, splitPath(p)); ok {
			out = merge(out, part)
		}
	}
	if out == nil {
		return map[string]any{}
	}
	return out
}

func extract(v any, steps []string) (any, bool) {
	if len(steps) == 0 {
		return v, true
	}
	switch v := v.(type) {
	case map[string]any:
		sub, ok := v[steps[0]]
		if !ok {
			return nil, false
		}
		part, ok := extract(sub, steps[1:])
		return map[string]any{steps[0]: part}, ok
	case []any:
		if i, ok := index(steps[0]); ok {
			if i >= len(v) {
				return nil, false
			}
			part, ok := extract(v[i], steps[1:])
			return []any{part}, ok
		}
		list := make([]any, 0, len(v))
		for _, e := range v {
			part, ok := extract(e, steps)
			if !ok {
				part = map[string]any{}
			}
			list = append(list, part)
		}
		return list, true
	}
	return nil, false
}

func merge(a, b any) any {
	switch a := a.(type) {
	case nil:
		return b
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			for k, v := range b {
				a[k] = merge(a[k], v)
			}
		}
		return a
	case []any:
		if b, ok := b.([]any); ok && len(a) == len(b) {
			for i := range a {
				a[i] = merge(a[i], b[i])
			}
		}
		return a
	}
	return a
}

// drop removes what lies at path, in every element of the lists on the way.
func drop(v any, steps []string) {
	switch v := v.(type) {
	case map[string]any:
		if len(steps) == 1 {
			delete(v, steps[0])
		} else {
			drop(v[steps[0]], steps[1:])
		}
	case []any:
		for _, e := range v {
			drop(e, steps)
		}
	}
}

// shape replaces every scalar by the name of its type.
func shape(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = shape(e)
		}
		return v
	case []any:
		for i, e := range v {
			v[i] = shape(e)
		}
		return v
	case string:
		return "<string>"
	case bool:
		return "<bool>"
	case nil:
		return nil
	}
	return "<number>"
}

// scalar prints a value as @until and @capture see it.
func scalar(v any) string {
	if s, ok := v.(string); ok {
		return s
	}
	return fmt.Sprint(v)
}
