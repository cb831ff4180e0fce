package shell_test

import (
	"fmt"
	"testing"
)

// BenchmarkGetPods is a warm kubectl get pods, as a learner waits for it.
func BenchmarkGetPods(b *testing.B) {
	for b.Loop() {
		if r, err := shared.shell.Run(b.Context(), "kubectl get pods -n kube-system", "", ""); err != nil || r.ExitCode != 0 {
			b.Fatalf("%+v %v", r, err)
		}
	}
}

// BenchmarkApplyChanged applies a hundred ConfigMaps that exist and have changed.
func BenchmarkApplyChanged(b *testing.B) {
	const n = 100
	manyConfigMaps(b, "changed.yaml", "default", n)
	run := func(line string) {
		if r, err := shared.shell.Run(b.Context(), line, "", ""); err != nil || r.ExitCode != 0 {
			b.Fatalf("%+v %v", r, err)
		}
	}
	run("kubectl apply -f changed.yaml")
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		run(fmt.Sprintf("sed -i 's/key: .*}/key: value-%d}/' changed.yaml", i))
		b.StartTimer()
		run("kubectl apply -f changed.yaml")
	}
	b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N)/n, "ms/object")
}
