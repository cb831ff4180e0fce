package etcd

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// TestCompactionFreesSpace updates a few keys often. What compaction removes is
// gone from memory and from the file, and from the file's size.
func TestCompactionFreesSpace(t *testing.T) {
	for _, path := range []string{"", filepath.Join(t.TempDir(), "store")} {
		db := mustOpen(t, Options{Path: path})
		c, ctx := db.Client(), t.Context()
		value := strings.Repeat("x", 10_000)
		for i := range 1500 {
			if _, err := c.KV.Put(ctx, fmt.Sprint("k", i%10), value); err != nil {
				t.Fatal(err)
			}
		}
		before, _, err := db.Size()
		if err != nil || before < 15_000_000 {
			t.Fatalf("%d bytes, %v", before, err)
		}
		if err := db.Compact(ctx, db.Revision()); err != nil {
			t.Fatal(err)
		}
		after, inUse, err := db.Size()
		if err != nil || after > 110_000 || inUse > after || inUse < 100_000 {
			t.Errorf("%d bytes, %d in use, of %d; %v", after, inUse, before, err)
		}
		mustClose(t, db)
		if path == "" {
			continue
		}
		db = mustOpen(t, Options{Path: path})
		all, err := db.Client().KV.Get(ctx, "k", clientv3.WithPrefix())
		if err != nil || all.Count != 10 || all.Kvs[9].Version != 150 {
			t.Errorf("%v, %v", all, err)
		}
		if size, _, err := db.Size(); err != nil || size != after {
			t.Errorf("%d bytes, %v", size, err)
		}
		mustClose(t, db)
	}
}

// TestCompactionOfTransactions removes parts of records: a record stays as long as
// one of its keys does, without the others.
func TestCompactionOfTransactions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	db := mustOpen(t, Options{Path: path})
	c, ctx := db.Client(), t.Context()
	big := strings.Repeat("x", 50_000)
	if _, err := c.KV.Txn(ctx).Then(clientv3.OpPut("small", "1"), clientv3.OpPut("big", big), clientv3.OpPut("gone", big)).Commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.KV.Txn(ctx).Then(clientv3.OpPut("big", "2"), clientv3.OpDelete("gone")).Commit(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.KV.Put(ctx, "other", "3"); err != nil {
		t.Fatal(err)
	}
	if err := db.Compact(ctx, 4); err != nil {
		t.Fatal(err)
	}
	if _, inUse, err := db.Size(); err != nil || inUse > 1000 {
		t.Errorf("%d bytes in use, %v", inUse, err)
	}
	for range 2 {
		got := ""
		all, err := db.Client().KV.Get(ctx, "a", clientv3.WithFromKey())
		if err != nil {
			t.Fatal(err)
		}
		for _, kv := range all.Kvs {
			got += fmt.Sprintf("%s=%s@%d ", kv.Key, kv.Value, kv.ModRevision)
		}
		if got != "big=2@3 other=3@4 small=1@2 " {
			t.Error(got)
		}
		mustClose(t, db)
		db = mustOpen(t, Options{Path: path})
	}
	mustClose(t, db)
}

// TestInterruptedCompaction stops after each of its records, as a crash would, and
// starts again: nothing comes back to life.
func TestInterruptedCompaction(t *testing.T) {
	for stop := range 8 {
		path := filepath.Join(t.TempDir(), "store")
		db := mustOpen(t, Options{Path: path})
		c, ctx := db.Client(), t.Context()
		for _, op := range []clientv3.Op{
			clientv3.OpPut("a", "1"), clientv3.OpPut("a", "2"), clientv3.OpPut("b", "1"), clientv3.OpDelete("a"),
			clientv3.OpPut("b", "2"), clientv3.OpPut("a", "3"), clientv3.OpDelete("a"), clientv3.OpPut("c", "1"),
		} {
			if _, err := c.KV.Do(ctx, op); err != nil {
				t.Fatal(err)
			}
		}
		if err := db.setCompacted(ctx, db.Revision()); err != nil {
			t.Fatal(err)
		}
		touched := map[int64]struct{}{}
		db.dropVersions(db.Revision(), "", touched)
		// Revisions 2 to 8 are to go, but for 6.
		for rev := int64(2); rev < 2+int64(stop); rev++ {
			if err := db.shrinkRecord(rev); err != nil {
				t.Fatal(err)
			}
		}
		mustClose(t, db)
		db = mustOpen(t, Options{Path: path})
		all, err := db.Client().KV.Get(ctx, "a", clientv3.WithFromKey())
		if err != nil || all.Count != 2 || string(all.Kvs[0].Key) != "b" || string(all.Kvs[1].Key) != "c" {
			t.Errorf("stopped after %d records: %v, %v", stop, all, err)
		}
		// No record is left that should be gone.
		n := 0
		if err := db.journal.Load(func(name, _ string) error {
			if strings.HasPrefix(name, prefixRevision) {
				n++
			}
			return nil
		}); err != nil || n != 2 {
			t.Errorf("stopped after %d records: %d are left, %v", stop, n, err)
		}
		mustClose(t, db)
	}
}
