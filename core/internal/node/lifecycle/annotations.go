package lifecycle

import (
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Annotations of Pods ask for what a container cannot do by itself here. They
// may be set when a Pod is created or later; one that names a container
// (AnnotationExit + "." + name) counts for that container alone.
const (
	// AnnotationExit ends a container with an exit code after a while:
	// "1", "3 after=5s", "1 after=2s times=2" (only the first two runs). One
	// that ends by itself before that has that exit code, too.
	AnnotationExit = "kubetab.dev/exit"
	// AnnotationOOM kills a container as the kernel does when memory is short,
	// a while after it has started: "now", "30s", "5s times=1".
	AnnotationOOM = "kubetab.dev/oom"
	// AnnotationEvict evicts the Pod as a node under pressure does; the value
	// is the resource: "memory", "ephemeral-storage".
	AnnotationEvict = "kubetab.dev/evict"
	// AnnotationImagePull says how pulling goes: "fail", or how long it takes.
	AnnotationImagePull = "kubetab.dev/image-pull"
	// AnnotationProbe decides the outcome of probes: "fail" or "succeed" for
	// kubetab.dev/readiness, kubetab.dev/liveness and kubetab.dev/startup.
	AnnotationReadiness = "kubetab.dev/readiness"
	AnnotationLiveness  = "kubetab.dev/liveness"
	AnnotationStartup   = "kubetab.dev/startup"
	// AnnotationUsage is what metrics report for a container:
	// "cpu=250m,memory=64Mi".
	AnnotationUsage = "kubetab.dev/usage"
)

// Annotation returns what a Pod asks for a container, by name or for all.
func Annotation(pod *v1.Pod, name, container string) string {
	if value, ok := pod.Annotations[name+"."+container]; ok {
		return value
	}
	return pod.Annotations[name]
}

// wish is a parsed AnnotationExit or AnnotationOOM.
type wish struct {
	code  int
	after time.Duration
	times int // runs that it is for; 0: all
}

// holds reports whether it is for a run after so many others.
func (w wish) holds(restarts int32) bool { return w.times == 0 || int(restarts) < w.times }

// exitWish reads AnnotationExit. What cannot be read asks for nothing.
func exitWish(text string) (wish, bool) {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return wish{}, false
	}
	code, err := strconv.Atoi(fields[0])
	if err != nil || code < 0 || code > 255 {
		return wish{}, false
	}
	w := wish{code: code}
	return w, w.options(fields[1:])
}

// oomWish reads AnnotationOOM.
func oomWish(text string) (wish, bool) {
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return wish{}, false
	}
	w := wish{code: 137}
	if fields[0] != "now" && fields[0] != "true" {
		after, err := time.ParseDuration(fields[0])
		if err != nil {
			return wish{}, false
		}
		w.after = after
	}
	return w, w.options(fields[1:])
}

func (w *wish) options(fields []string) bool {
	for _, field := range fields {
		name, value, _ := strings.Cut(field, "=")
		var err error
		switch name {
		case "after":
			w.after, err = time.ParseDuration(value)
		case "times":
			w.times, err = strconv.Atoi(value)
		default:
			return false
		}
		if err != nil {
			return false
		}
	}
	return true
}
