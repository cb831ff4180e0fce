package transcripts

import (
	"bytes"
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/yaml"
)

// What no two servers agree on, within any string of an answer. A captured value is shown by its name instead.
var (
	uuids      = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)
	timestamps = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)
	// Revisions in messages: "Too large resource version: 1, current: 2", "too old resource version: 1 (2)",
	// "ResourceVersion in precondition: 1, ResourceVersion in object meta: 2", "the ResourceVersion in the precondition
	// (1) does not match the ResourceVersion in record (2)".
	revisions = regexp.MustCompile(`(current: |too old resource version: |too old resource version: \S+ \(|ResourceVersion in [a-z ]+:? \(?)(\d+)`)
	// Revisions in objects that a message or a YAML answer quotes.
	quotedRevisions = regexp.MustCompile(`(resourceVersion\\?"?: ?\\?")(\d+)`)
	// Ages in the cells of a table.
	ages = regexp.MustCompile(`^(\d+[smhd])+$`)
	// The place in upstream's source where a scheme was made depends on how the program was built.
	schemes = regexp.MustCompile(`scheme "[^"]*"`)
	// Durations of things that took as long as they took.
	durations = regexp.MustCompile(`\b\d+(\.\d+)?(µs|ms)\b`)
)

// local are fields whose value is the server's own choice: shown as <key>.
var local = map[string]bool{
	"clusterIP": true, "nodePort": true, "healthCheckNodePort": true, "continue": true, "token": true,
	"expirationTimestamp": true, "ip": true, "hostIP": true,
}

// normal shows answers without what is local to a server or a run.
type normal struct {
	vars          *vars
	managedFields bool
	// rvMode and rvName are the arguments of @rv: what the revision of a collection is compared with.
	rvMode, rvName string
}

// value returns v in the form that a transcript shows, changing it in place. inList is true for the metadata of a
// collection or a bookmark: their revision is the store's, which everybody moves.
func (n *normal) value(v any) any { return n.walk(v, "", nil) }

func (n *normal) walk(v any, key string, parent map[string]any) any {
	switch v := v.(type) {
	case map[string]any:
		return n.object(v, key, parent)
	case []any:
		for i, e := range v {
			v[i] = n.walk(e, key, parent)
		}
		if key == "clusterIPs" {
			return "<clusterIPs>"
		}
		return v
	case string:
		if v == "" {
			return v
		}
		if key == "resourceVersion" || local[key] {
			return n.local(key, v)
		}
		if key == "cells" && ages.MatchString(v) {
			return "<age>"
		}
		return n.text(v)
	case json.Number:
		if local[key] {
			return "<" + key + ">"
		}
	}
	return v
}

func (n *normal) object(v map[string]any, key string, parent map[string]any) any {
	if key == "metadata" {
		if entries, ok := v["managedFields"].([]any); ok && n.managedFields {
			sortManagedFields(entries)
		} else {
			delete(v, "managedFields")
		}
		if prefix, _ := v["generateName"].(string); prefix != "" {
			if name, _ := v["name"].(string); len(name) == len(prefix)+5 && strings.HasPrefix(name, prefix) {
				v["name"] = prefix + "<random>"
			}
		}
		if rv, ok := v["resourceVersion"].(string); ok && rv != "" && collection(parent) {
			v["resourceVersion"] = n.collectionRevision(rv)
		}
	}
	bookmark := v["type"] == "BOOKMARK"
	for k, e := range maps.Clone(v) {
		if object, ok := e.(map[string]any); ok && bookmark && k == "object" {
			meta, _ := object["metadata"].(map[string]any)
			if rv, ok := meta["resourceVersion"].(string); ok {
				meta["resourceVersion"] = n.collectionRevision(rv)
			}
		}
		// Not an address but a choice of the client.
		if k == "clusterIP" && (e == "None" || e == "") {
			continue
		}
		v[k] = n.walk(e, k, v)
		if shown := n.vars.restore(k); shown != k {
			v[shown] = v[k]
			delete(v, k)
		}
	}
	return v
}

// sortManagedFields is upstream's order (sortEncodedManagedFields in k8s.io/apimachinery/pkg/util/managedfields/internal)
// without the time in it: whether two writes fall into one second is chance.
func sortManagedFields(entries []any) {
	slices.SortStableFunc(entries, func(a, b any) int {
		x, _ := a.(map[string]any)
		y, _ := b.(map[string]any)
		for _, field := range []string{"operation", "manager", "apiVersion", "subresource"} {
			p, _ := x[field].(string)
			q, _ := y[field].(string)
			if order := strings.Compare(p, q); order != 0 {
				return order
			}
		}
		return 0
	})
}

// collection tells lists and tables, whose revision is that of the store, from objects.
func collection(v map[string]any) bool {
	kind, _ := v["kind"].(string)
	return strings.HasSuffix(kind, "List") || kind == "Table"
}

func (n *normal) collectionRevision(rv string) string {
	want := n.vars.values[n.rvName]
	switch {
	case n.rvName == "":
		return "<rv>"
	case n.rvMode == "exact" && rv == want:
		return "${" + n.rvName + "}"
	case n.rvMode == "atleast" && compare(rv, want) >= 0:
		return "<not older than ${" + n.rvName + "}>"
	case compare(rv, want) < 0:
		return "<older than ${" + n.rvName + "}>"
	}
	return "<newer than ${" + n.rvName + "}>"
}

// compare orders two revisions: numbers without leading zeros, as KEP-5504 made official for every resource.
func compare(a, b string) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

func (n *normal) local(key, v string) string {
	if strings.HasPrefix(v, "<") || strings.HasPrefix(v, "${") {
		return v // already shown
	}
	if name, ok := n.vars.captured(v); ok {
		return name
	}
	if key == "resourceVersion" {
		key = "rv"
	}
	return "<" + key + ">"
}

// text shows a string: a header, a field, a message, a line.
func (n *normal) text(s string) string {
	s = n.vars.restore(s)
	if name, ok := n.vars.captured(s); ok && len(s) >= 8 {
		return name
	}
	s = uuids.ReplaceAllStringFunc(s, func(m string) string {
		if name, ok := n.vars.captured(m); ok {
			return name
		}
		return "<uid>"
	})
	s = timestamps.ReplaceAllStringFunc(s, func(m string) string {
		// A time that the transcript itself chose stays.
		if at, err := time.Parse(time.RFC3339Nano, m); err != nil || time.Since(at).Abs() > 48*time.Hour {
			return m
		}
		return "<time>"
	})
	for range 2 { // the second number of a pair comes to light when the first has its name
		s = revisions.ReplaceAllStringFunc(s, func(m string) string {
			part := revisions.FindStringSubmatch(m)
			// The current revision is a captured one only while nobody writes.
			if name, ok := n.vars.captured(part[2]); ok && part[1] != "current: " {
				return part[1] + name
			}
			return part[1] + "<rv>"
		})
	}
	s = quotedRevisions.ReplaceAllString(s, "${1}<rv>")
	s = schemes.ReplaceAllString(s, `scheme "<scheme>"`)
	return durations.ReplaceAllString(s, "<duration>")
}

func decodeJSON(data []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

// show prints a value as YAML with sorted keys.
func show(v any) (string, error) {
	if s, ok := v.(string); ok {
		return strings.TrimRight(s, "\n"), nil
	}
	data, err := yaml.Marshal(v)
	return strings.TrimRight(string(data), "\n"), err
}
