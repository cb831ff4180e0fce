//go:build unix

// Not for js: there is no process to kill.

package etcd

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
)

// crashPath, when it is set, makes the test binary a process to be killed.
const crashPath = "KUBETAB_ETCD_CRASH_PATH"

func TestMain(m *testing.M) {
	if path := os.Getenv(crashPath); path != "" {
		writeUntilKilled(path)
	}
	if path := os.Getenv(fullPath); path != "" {
		os.Exit(writeUntilFull(path))
	}
	os.Exit(m.Run())
}

// fullPath, when it is set, makes it a process whose disk is full.
const fullPath = "KUBETAB_ETCD_FULL_PATH"

// ack is what the process to be killed says when a write was acknowledged.
const ack = "%d %s %s\n"

// writeUntilKilled writes with several clients, compacts and rewrites the file
// meanwhile, and says on standard output what was acknowledged.
func writeUntilKilled(path string) {
	die := func(err error) {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	db, err := Open(Options{Path: path, SyncDelay: time.Millisecond})
	die(err)
	ctx := context.Background()
	var mu sync.Mutex // of standard output: a line is written whole
	said := func(rev int64, key, value string) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Printf(ack, rev, key, value)
	}
	for w := range 4 {
		go func() {
			c := db.Client()
			rng := rand.New(rand.NewPCG(uint64(os.Getpid()), uint64(w)))
			for i := 0; ; i++ {
				key := fmt.Sprintf("w%d/%d", w, rng.IntN(20))
				value := fmt.Sprintf("%d-%d-%0*d", os.Getpid(), i, 1+rng.IntN(3000), 0)
				switch i % 4 {
				case 0:
					resp, err := c.KV.Put(ctx, key, value)
					die(err)
					said(resp.Header.Revision, key, value)
				case 1:
					now, err := c.Kubernetes.Get(ctx, key, kubernetes.GetOptions{})
					die(err)
					var at int64
					if now.KV != nil {
						at = now.KV.ModRevision
					}
					resp, err := c.Kubernetes.OptimisticPut(ctx, key, []byte(value), at, kubernetes.PutOptions{})
					die(err)
					said(resp.Revision, key, value)
				case 2:
					// Both or none.
					resp, err := c.KV.Txn(ctx).Then(
						clientv3.OpPut(key+"/left", value), clientv3.OpPut(key+"/right", value)).Commit()
					die(err)
					said(resp.Header.Revision, key+"/left", value)
					said(resp.Header.Revision, key+"/right", value)
				case 3:
					lease, err := c.Grant(ctx, 1000)
					die(err)
					_, err = c.KV.Put(ctx, key+"/leased", value, clientv3.WithLease(lease.ID))
					die(err)
					if rng.IntN(2) == 0 {
						_, err = c.Revoke(ctx, lease.ID)
						die(err)
						said(db.Revision(), key+"/leased", "-")
					}
				}
			}
		}()
	}
	for range time.Tick(time.Millisecond) {
		if rev := db.Revision(); rev > db.CompactRevision()+300 {
			die(db.Compact(ctx, rev-100))
			die(db.journal.Rewrite())
		}
	}
}

// TestKilled kills a process that writes, again and again, at a random moment. What
// it had acknowledged must be there.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	repaired := 0
	for round := range 8 {
		acks := kill(t, path, 100+rand.IntN(900))
		db := mustOpen(t, Options{Path: path})
		if db.Repaired() > 0 {
			repaired++
		}
		checkAcks(t, db, acks)
		checkPairs(t, db)
		t.Logf("round %d: %d acknowledged, revision %d, compacted at %d, %d bytes cut off",
			round, len(acks), db.Revision(), db.CompactRevision(), db.Repaired())
		mustClose(t, db)
	}
	t.Logf("%d of the files had a torn tail", repaired)
}

type acked struct {
	rev        int64
	key, value string
}

// kill starts a process that writes and kills it after n acknowledgements.
func kill(t *testing.T, path string, n int) (acks []acked) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashPath+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			break // what was in the pipe when it died has been read
		}
		var a acked
		if _, err := fmt.Sscanf(line, ack, &a.rev, &a.key, &a.value); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		acks = append(acks, a)
		if len(acks) == n {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || len(acks) < n {
		t.Fatalf("the process ended by itself after %d writes: %v", len(acks), err)
	}
	return acks
}

func checkAcks(t *testing.T, db *DB, acks []acked) {
	t.Helper()
	c := db.Client()
	checked := 0
	for _, a := range acks {
		if a.rev > db.Revision() {
			t.Fatalf("revision %d of %s was acknowledged, the store is at %d", a.rev, a.key, db.Revision())
		}
		got, err := c.Kubernetes.Get(t.Context(), a.key, kubernetes.GetOptions{Revision: a.rev})
		if err == rpctypes.ErrCompacted {
			continue // then a later value was acknowledged, or it is below
		}
		if err != nil {
			t.Fatal(err)
		}
		checked++
		switch {
		case a.value == "-":
			if got.KV != nil && got.KV.Lease == 0 {
				t.Fatalf("%s outlives its lease", a.key)
			}
		case got.KV == nil || string(got.KV.Value) != a.value || got.KV.ModRevision != a.rev:
			t.Fatalf("revision %d of %s was acknowledged, there is %v", a.rev, a.key, got.KV)
		}
	}
	if checked == 0 {
		t.Fatal("nothing was checked")
	}
}

// checkPairs looks for transactions, and ends of leases, that happened in part.
func checkPairs(t *testing.T, db *DB) {
	t.Helper()
	c := db.Client()
	all, err := c.KV.Get(t.Context(), "w", clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	for _, kv := range all.Kvs {
		key := string(kv.Key)
		if kv.Lease != 0 {
			ttl, err := c.TimeToLive(t.Context(), clientv3.LeaseID(kv.Lease))
			if err != nil || ttl.TTL < 0 {
				t.Fatalf("%s has a lease that is gone: %v, %v", key, ttl, err)
			}
		}
		if filepath.Base(key) != "left" {
			continue
		}
		right, err := c.Kubernetes.Get(t.Context(), filepath.Dir(key)+"/right", kubernetes.GetOptions{})
		if err != nil || right.KV == nil || right.KV.ModRevision != kv.ModRevision || string(right.KV.Value) != string(kv.Value) {
			t.Fatalf("%s is at %d, its other half %v, %v", key, kv.ModRevision, right.KV, err)
		}
	}
}

// TestTornTransaction cuts the file at every byte of its last record, which is a
// transaction of several keys: all of them are there, or none.
func TestTornTransaction(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	db := mustOpen(t, Options{Path: path})
	c := db.Client()
	lease, err := c.Grant(t.Context(), 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"a", "b", "c"} {
		if _, err := c.KV.Put(t.Context(), key, "1", clientv3.WithLease(lease.ID)); err != nil {
			t.Fatal(err)
		}
	}
	before, _, err := db.Size()
	if err != nil {
		t.Fatal(err)
	}
	// Two records: the deletes with the end of the lease, then the lease.
	if _, err := c.Revoke(t.Context(), lease.ID); err != nil {
		t.Fatal(err)
	}
	mustClose(t, db)
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for cut := before; cut <= int64(len(data)); cut++ {
		if err := os.WriteFile(path, data[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		db := mustOpen(t, Options{Path: path})
		c := db.Client()
		keys, err := c.KV.Get(t.Context(), "a", clientv3.WithFromKey())
		if err != nil {
			t.Fatal(err)
		}
		ttl, err := c.TimeToLive(t.Context(), lease.ID, clientv3.WithAttachedKeys())
		if err != nil {
			t.Fatal(err)
		}
		alive := keys.Count == 3 && ttl.TTL >= 0 && len(ttl.Keys) == 3 && db.Revision() == 4
		gone := keys.Count == 0 && ttl.TTL < 0 && db.Revision() == 5
		if !alive && !gone {
			t.Fatalf("cut at %d of %d: %d keys, a lease of %v, revision %d", cut, len(data), keys.Count, ttl, db.Revision())
		}
		mustClose(t, db)
	}
}

// writeUntilFull writes until the file may not grow any more, which a limit of the
// process sees to: the last write is cut short by it, as on a full disk. It then
// goes on with room again. It returns the exit status.
func writeUntilFull(path string) int {
	fail := func(format string, args ...any) int {
		fmt.Fprintf(os.Stderr, format+"\n", args...)
		return 1
	}
	db, err := Open(Options{Path: path})
	if err != nil {
		return fail("%v", err)
	}
	ctx, c := context.Background(), db.Client()
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return fail("%v", err)
	}
	little := syscall.Rlimit{Cur: 50_000, Max: limit.Max}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &little); err != nil {
		return fail("%v", err)
	}
	n, value := 0, strings.Repeat("x", 3000)
	var full error
	for ; full == nil; n++ {
		_, full = c.KV.Put(ctx, fmt.Sprint("key", n), value)
	}
	rev := db.Revision()
	// Nothing of it happened: no revision, no key, no lease that nobody recorded.
	last := fmt.Sprint("key", n-1)
	if got, err := c.KV.Get(ctx, last); err != nil || got.Count != 0 || rev != int64(n) {
		return fail("after a write that failed: %v, %v, revision %d of %d", got, err, rev, n)
	}
	if _, err := c.Grant(ctx, 1<<30); err == nil {
		if _, err := c.KV.Put(ctx, last, value); err == nil {
			return fail("the file grew beyond its limit")
		}
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return fail("%v", err)
	}
	if _, err := c.KV.Put(ctx, last, value); err != nil {
		return fail("with room again: %v", err)
	}
	if err := db.Close(); err != nil {
		return fail("%v", err)
	}
	fmt.Println(n, full)
	return 0
}

// TestDiskFull: a write that does not fit fails, changes nothing, and leaves a file
// that can be read.
func TestDiskFull(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fullPath+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var n int64
	if _, err := fmt.Sscan(string(out), &n); err != nil {
		t.Fatalf("%q: %v", out, err)
	}
	db := mustOpen(t, Options{Path: path})
	defer mustClose(t, db)
	all, err := db.Client().KV.Get(t.Context(), "key", clientv3.WithPrefix())
	if err != nil || all.Count != n || db.Revision() != n+1 || db.Repaired() != 0 {
		t.Errorf("%d keys of %d, revision %d, %d bytes cut off, %v", all.Count, n, db.Revision(), db.Repaired(), err)
	}
	if !strings.Contains(string(out), "file too large") {
		t.Errorf("the error was %q", out)
	}
}
