package server_test

import (
	"context"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubetab/kubetab/server/internal/process"
)

// startLimit is how long a start may take on a machine that is busy with other things.
const startLimit = 5 * time.Minute

// startKubetab runs bin/kubetab serve with args until the test ends.
func startKubetab(t *testing.T, args ...string) *process.Process {
	t.Helper()
	return startCommand(t, []string{"serve"}, args...)
}

// startCommand is startKubetab for another command that serves.
func startCommand(t *testing.T, command []string, args ...string) *process.Process {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	p, err := process.StartCommand(ctx, t.TempDir(), command, args...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if t.Failed() && p.Ended() {
			code, stderr := p.Wait(0)
			t.Logf("kubetab had ended by itself or by a kill, with code %d: %s", code, stderr)
		}
		p.Kill()
	})
	return p
}

// restConfig reads the kubeconfig that p wrote.
func restConfig(t *testing.T, p *process.Process) *rest.Config {
	t.Helper()
	c, err := clientcmd.BuildConfigFromFlags("", p.Kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	c.QPS = -1 // no limit of our own
	return c
}

func clientset(t *testing.T, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	c, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return c
}
