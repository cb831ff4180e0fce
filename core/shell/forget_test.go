package shell_test

import (
	"fmt"
	"runtime"
	"testing"
)

// TestCommandsAreForgotten: a command that has ended leaves nothing behind. kubectl is made for a process that ends with it, and
// keeps half a megabyte of each in its variables, or two and a half.
func TestCommandsAreForgotten(t *testing.T) {
	const times, most = 16, 4 << 20
	_, run := newSession(t)
	for name, line := range map[string]string{
		"alone":      "kubectl version --client",
		"get":        "kubectl get namespaces",
		"refused":    "kubectl get nothing --of=it",
		"apply":      "kubectl create configmap forgotten --from-literal=a=b -o yaml --dry-run=client | kubectl apply -f -",
		"explain":    "kubectl explain configmap",
		"convert":    "kubectl create configmap forgotten --from-literal=a=b -o yaml --dry-run=client | kubectl convert -f -",
		"completion": "kubectl __complete get po",
		"watch":      "timeout 0.05 kubectl get configmaps -w",
	} {
		loop := fmt.Sprintf("for i in $(seq %d); do %s; done > /dev/null 2>&1", times, line)
		run(loop) // what all share is made
		before := live()
		run(loop)
		if grown := live() - before; grown > most {
			t.Errorf("%s: %d times %s leave %d bytes", name, times, line, grown)
		}
	}
}

// live is what is in use of the heap.
func live() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first one found finalizers of
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
