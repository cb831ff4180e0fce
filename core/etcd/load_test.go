package etcd

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kubetab/kubetab/core/etcd/internal/journal"
)

// TestRecordsThatContradict each other are an error that says what is wrong, and
// never a store that has lost something.
func TestRecordsThatContradict(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(*journal.Journal) error
		want  string
	}{
		"a revision is missing": {
			func(j *journal.Journal) error { return j.Delete(revisionKey(4)) }, "revision 4 is missing",
		},
		"the revision of the compaction is missing": {
			func(j *journal.Journal) error {
				return j.Set(keyCompact, uvarintRecord(keyCompact, 9))
			}, "revision 9 is missing",
		},
		"a record is of something else": {
			func(j *journal.Journal) error { return j.Set("x", journal.Seal("x", nil)) }, `unknown record "x"`,
		},
		"a record cannot be read": {
			func(j *journal.Journal) error {
				return j.Set(revisionKey(4), journal.Seal(revisionKey(4), []byte{1}))
			}, "revision 4: record ends early",
		},
		"a lease cannot be read": {
			func(j *journal.Journal) error { return j.Set(leaseKey(1), journal.Seal(leaseKey(1), nil)) }, "record ends early",
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store")
			db := mustOpen(t, Options{Path: path})
			for i := range 5 {
				if _, err := db.Client().KV.Put(t.Context(), fmt.Sprint("k", i), "v"); err != nil {
					t.Fatal(err)
				}
			}
			mustClose(t, db)
			j, err := journal.Open(journal.Options{Path: path})
			if err != nil {
				t.Fatal(err)
			}
			if err := c.spoil(j); err != nil {
				t.Fatal(err)
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(Options{Path: path}); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want it to say %q", err, c.want)
			}
		})
	}
}
