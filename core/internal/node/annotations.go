package node

// Annotations of Nodes. Those of Pods are in core/internal/node/lifecycle.
const (
	// AnnotationKubelet on a Node stops its kubelet: "stopped". Heartbeats end,
	// and its Pods stay as they are.
	AnnotationKubelet = "kubetab.dev/kubelet"
	// AnnotationPressure on a Node sets a condition: "memory", "disk" or "pid".
	AnnotationPressure = "kubetab.dev/pressure"
)
