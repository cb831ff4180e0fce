package etcd

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"
	testingclock "k8s.io/utils/clock/testing"

	"github.com/kubetab/kubetab/core/etcd/internal/transcript"
)

// TestTranscripts plays the sessions in testdata; see the package transcript for
// their language. Those in testdata/etcd are also held with a real etcd (package
// conformance). Those in testdata/store have two verbs more:
//
//	advance 5s    move the clock, and wait until what is due has happened
//	reopen        close the store and open its file again
//
// Write the answers anew with: go test ./core/etcd -run TestTranscripts -rewrite
func TestTranscripts(t *testing.T) {
	for _, dir := range []string{"etcd", "store"} {
		datadriven.Walk(t, filepath.Join("testdata", dir), func(t *testing.T, path string) {
			clock := testingclock.NewFakeClock(time.Unix(1_700_000_000, 0))
			opts := Options{Clock: clock, Path: filepath.Join(t.TempDir(), "store")}
			db := mustOpen(t, opts)
			r := &transcript.Runner{Client: db.Client()}
			defer func() {
				r.Close()
				mustClose(t, db)
			}()
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				switch d.Cmd {
				case "advance":
					by, err := time.ParseDuration(d.CmdArgs[0].Key)
					if err != nil {
						return err.Error()
					}
					clock.Step(by)
					eventually(t, "what is due has not expired", func() bool {
						db.mu.RLock()
						defer db.mu.RUnlock()
						return len(db.leases.queue.due(clock.Now())) == 0
					})
					return fmt.Sprintf("rev=%d\n", db.Revision())
				case "reopen":
					mustClose(t, db)
					db = mustOpen(t, opts)
					r.Client = db.Client()
					return fmt.Sprintf("rev=%d compacted=%d\n", db.Revision(), db.CompactRevision())
				}
				return r.Block(t.Context(), d)
			})
		})
	}
}

func mustOpen(t testing.TB, opts Options) *DB {
	t.Helper()
	db, err := Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	return db
}

func mustClose(t testing.TB, db *DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// patience is for what hangs, not for what is slow.
const patience = 4 * time.Minute

// eventually waits until ok, looking often.
func eventually(t testing.TB, complaint string, ok func() bool) {
	t.Helper()
	deadline := time.After(patience)
	for !ok() {
		select {
		case <-deadline:
			t.Fatal(complaint)
		case <-time.After(time.Millisecond):
		}
	}
}
