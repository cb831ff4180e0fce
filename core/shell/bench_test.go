package shell_test

import "testing"

// BenchmarkGetPods is a warm kubectl get pods, as a learner waits for it.
func BenchmarkGetPods(b *testing.B) {
	for b.Loop() {
		if r, err := shared.shell.Run(b.Context(), "kubectl get pods -n kube-system", "", ""); err != nil || r.ExitCode != 0 {
			b.Fatalf("%+v %v", r, err)
		}
	}
}
