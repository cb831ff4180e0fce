package etcd

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"go.etcd.io/etcd/client/v3/kubernetes"
)

// TestValuesAreHeldOnce fills a store and measures the memory, also after a start
// from a file: index, log and journal must share the bytes of a value.
func TestValuesAreHeldOnce(t *testing.T) {
	const n, size = 2000, 10_000
	for _, path := range []string{"", filepath.Join(t.TempDir(), "store")} {
		empty := liveBytes()
		db := mustOpen(t, Options{Path: path})
		c := db.Client().Kubernetes
		value := make([]byte, size)
		for i := range n {
			if _, err := c.OptimisticPut(t.Context(), fmt.Sprint("k", i), value, 0, kubernetes.PutOptions{}); err != nil {
				t.Fatal(err)
			}
		}
		check := func(when string) {
			t.Helper()
			if used := liveBytes() - empty; used < n*size || used > n*size*5/4 {
				t.Errorf("path %q, %s: %d bytes for values of %d", path, when, used, n*size)
			}
			// The store must not be gone before it is measured.
			runtime.KeepAlive(db)
		}
		check("after writing")
		mustClose(t, db)
		if path != "" {
			db = mustOpen(t, Options{Path: path})
			check("after a restart")
			mustClose(t, db)
		}
	}
}

// TestReplayedBytesAreNotCopied: an engine in a tab whose store takes most of the
// memory that there is begins again with what was kept of it.
func TestReplayedBytesAreNotCopied(t *testing.T) {
	const n, size = 100, 1 << 20
	var kept []Entry
	db := mustOpen(t, Options{Tap: func(e Entry) { kept = append(kept, e) }})
	c := db.Client().Kubernetes
	value := make([]byte, size)
	for i := range n {
		if _, err := c.OptimisticPut(t.Context(), fmt.Sprint("k", i), value, 0, kubernetes.PutOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, db)
	again := mustOpen(t, Options{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	held := again.Hold()
	if err := held.Replay(nil, kept); err != nil {
		t.Fatal(err)
	}
	held.Release()
	runtime.ReadMemStats(&after)
	if taken := after.TotalAlloc - before.TotalAlloc; taken > size {
		t.Errorf("%d bytes for the %d of %d records", taken, n*size, n)
	}
	mustClose(t, again)
}

// TestAdoptedBytesAreHeldOnce: the same with what another build has kept, of which each
// record is written anew.
func TestAdoptedBytesAreHeldOnce(t *testing.T) {
	const n, size = 100, 1 << 20
	var kept []Entry
	db := mustOpen(t, Options{Tap: func(e Entry) { kept = append(kept, e) }})
	for i := range n {
		if _, err := db.Client().KV.Put(t.Context(), fmt.Sprint("k", i), strings.Repeat("v", size)); err != nil {
			t.Fatal(err)
		}
	}
	mustClose(t, db)
	most, told := int64(0), 0
	mine := mustOpen(t, Options{Tap: func(Entry) {
		if told++; told%10 == 0 {
			most = max(most, liveBytes())
		}
	}})
	empty := liveBytes() - n*size
	held := mine.Hold()
	if _, err := held.Adopt(nil, kept, Adoption{}); err != nil {
		t.Fatal(err)
	}
	held.Release()
	if used := most - empty; told != n || used < n*size || used > n*size*5/4 {
		t.Errorf("%d bytes for %d values of %d, of which %d were written", used, n, size, told)
	}
	mustClose(t, mine)
}

func liveBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
