package core_test

import (
	"context"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"

	"github.com/kubetab/kubetab/core"
)

// patience is how long something may take that should happen: for what hangs, on a machine that is busy with other things.
const patience = 5 * time.Minute

// living is an engine that is ready and ends with the test, and a client of it.
func living(t *testing.T, config core.Config) (*core.Engine, kubernetes.Interface) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	e, err := core.New(context.Background(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := e.Ready(ctx); err != nil {
		t.Fatal(err)
	}
	client, err := kubernetes.NewForConfig(e.RESTConfig())
	if err != nil {
		t.Fatal(err)
	}
	return e, client
}
