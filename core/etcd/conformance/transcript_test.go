package conformance

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/kubetab/kubetab/core/etcd/internal/transcript"
)

// TestTranscripts holds the sessions of core/etcd/testdata/etcd with a real etcd:
// what is written there must be what it answers. With -rewrite it is.
func TestTranscripts(t *testing.T) {
	datadriven.Walk(t, "../testdata/etcd", func(t *testing.T, path string) {
		r := &transcript.Runner{Client: realEtcd(t)}
		defer r.Close()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			return r.Block(t.Context(), d)
		})
	})
}
