package etcd

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
)

var seed = flag.Uint64("seed", 0, "the seed of random operations; 0 is a random one")

// TestRandomOperations compares the store with the model after each of many random
// operations, at random revisions, across restarts, and lets watches of every
// speed look on.
func TestRandomOperations(t *testing.T) {
	for _, where := range []string{"memory", "file"} {
		t.Run(where, func(t *testing.T) {
			s := *seed
			if s == 0 {
				s = rand.Uint64N(1_000_000)
			}
			t.Logf("repeat with: go test ./core/etcd -run TestRandomOperations/%s -seed=%d", where, s)
			path := ""
			if where == "file" {
				path = filepath.Join(t.TempDir(), "store")
			}
			r := &randomRun{t: t, rng: rand.New(rand.NewPCG(s, 1)), m: newModel(), opts: Options{Path: path}}
			r.run(randomOperations)
		})
	}
}

type randomRun struct {
	t    *testing.T
	rng  *rand.Rand
	m    *model
	opts Options

	db          *DB
	c           *kubernetes.Client
	leases      []clientv3.LeaseID
	watches     []*modelWatch
	compactions []int64
}

func (r *randomRun) run(n int) {
	r.db = mustOpen(r.t, r.opts)
	r.c = r.db.Client()
	ctx := context.Background()
	for i := range n {
		switch p := r.rng.IntN(1000); {
		case p < 450:
			r.put(ctx)
		case p < 550:
			r.delete(ctx)
		case p < 650:
			r.txn(ctx)
		case p < 850:
			r.read(ctx)
		case p < 880:
			r.lease(ctx)
		case p < 900:
			r.compact(ctx)
		case p < 960:
			r.watch(ctx)
		case p < 990:
			// Somebody reads on.
			if len(r.watches) > 0 {
				if w := r.watches[r.rng.IntN(len(r.watches))]; !w.free {
					select {
					case w.pace <- struct{}{}:
					default:
					}
				}
			}
		case p < 993 && r.opts.Path != "":
			r.endWatches(ctx)
			mustClose(r.t, r.db)
			r.db = mustOpen(r.t, r.opts)
			r.c = r.db.Client()
		}
		if got := r.db.Revision(); got != r.m.rev() {
			r.t.Fatalf("step %d: revision %d, want %d", i, got, r.m.rev())
		}
	}
	r.endWatches(ctx)
	mustClose(r.t, r.db)
}

func (r *randomRun) ok(err error) {
	if err != nil {
		r.t.Helper()
		r.t.Fatal(err)
	}
}

func (r *randomRun) key() string {
	return strings.Repeat(string(rune('a'+r.rng.IntN(3))), 1+r.rng.IntN(3))
}

// keys returns a range that is one key, a few, or all of them.
func (r *randomRun) keys() (key, end string) {
	switch r.rng.IntN(4) {
	case 0:
		return r.key(), "\x00"
	case 1:
		return r.key(), r.key()
	case 2:
		key = r.key()
		return key, clientv3.GetPrefixRangeEnd(key)
	}
	return r.key(), ""
}

func (r *randomRun) value() string {
	return strings.Repeat("x", r.rng.IntN(3)*r.rng.IntN(500)) + fmt.Sprint(r.m.rev())
}

func (r *randomRun) put(ctx context.Context) {
	key, value := r.key(), r.value()
	var lease clientv3.LeaseID
	if len(r.leases) > 0 && r.rng.IntN(4) == 0 {
		lease = r.leases[r.rng.IntN(len(r.leases))]
	}
	current, exists := r.m.now()[key]
	if r.rng.IntN(2) == 0 {
		resp, err := r.c.KV.Put(ctx, key, value, clientv3.WithLease(lease), clientv3.WithPrevKV())
		r.ok(err)
		if exists && !current.is(resp.PrevKv) || !exists && resp.PrevKv != nil {
			r.t.Fatalf("put %q: previous %v, want %+v", key, resp.PrevKv, current)
		}
	} else {
		expected := current.mod
		if r.rng.IntN(4) == 0 {
			expected++
		}
		resp, err := r.c.Kubernetes.OptimisticPut(ctx, key, []byte(value), expected, kubernetes.PutOptions{LeaseID: lease, GetOnFailure: true})
		r.ok(err)
		if resp.Succeeded != (expected == current.mod) {
			r.t.Fatalf("put %q at %d succeeded: %v, it is at %d", key, expected, resp.Succeeded, current.mod)
		}
		if !resp.Succeeded {
			if exists != (resp.KV != nil) || exists && !current.is(resp.KV) {
				r.t.Fatalf("put %q: conflict with %v, want %+v", key, resp.KV, current)
			}
			return
		}
	}
	r.m.commit(func(put func(string, string, int64), _ func(string)) { put(key, value, int64(lease)) })
}

func (r *randomRun) delete(ctx context.Context) {
	key, end := r.keys()
	if r.rng.IntN(3) == 0 {
		key, end = r.key(), ""
	}
	gone := within(r.m.now(), key, end)
	resp, err := r.c.KV.Delete(ctx, key, clientv3.WithRange(end), clientv3.WithPrevKV())
	r.ok(err)
	if int(resp.Deleted) != len(gone) || len(resp.PrevKvs) != len(gone) {
		r.t.Fatalf("delete [%q, %q): %d keys, want %q", key, end, resp.Deleted, gone)
	}
	for i, k := range gone {
		if !r.m.now()[k].is(resp.PrevKvs[i]) {
			r.t.Fatalf("delete %q: was %v, want %+v", k, resp.PrevKvs[i], r.m.now()[k])
		}
	}
	r.m.commit(func(_ func(string, string, int64), del func(string)) {
		for _, k := range gone {
			del(k)
		}
	})
}

// txn puts some keys and deletes others, and reads what it has done.
func (r *randomRun) txn(ctx context.Context) {
	value := r.value()
	r.m.commit(func(put func(string, string, int64), del func(string)) {
		var ops []clientv3.Op
		used := map[string]bool{}
		for range 1 + r.rng.IntN(5) {
			key := r.key()
			if used[key] {
				continue
			}
			used[key] = true
			if r.rng.IntN(3) == 0 {
				ops = append(ops, clientv3.OpDelete(key))
				del(key)
			} else {
				ops = append(ops, clientv3.OpPut(key, value))
				put(key, value, 0)
			}
		}
		_, err := r.c.KV.Txn(ctx).Then(ops...).Commit()
		r.ok(err)
	})
}

func (r *randomRun) read(ctx context.Context) {
	key, end := r.keys()
	rev := 1 + r.rng.Int64N(r.m.rev()+1)
	limit := int64(r.rng.IntN(4))
	resp, err := r.c.KV.Get(ctx, key, clientv3.WithRange(end), clientv3.WithRev(rev), clientv3.WithLimit(limit))
	switch {
	case rev > r.m.rev():
		if !errors.Is(err, rpctypes.ErrFutureRev) {
			r.t.Fatalf("read at %d of %d: %v", rev, r.m.rev(), err)
		}
		return
	case rev < r.m.compacted:
		if !errors.Is(err, rpctypes.ErrCompacted) {
			r.t.Fatalf("read at %d, compacted at %d: %v", rev, r.m.compacted, err)
		}
		return
	}
	r.ok(err)
	want := within(r.m.states[rev], key, end)
	if int(resp.Count) != len(want) || resp.Header.Revision != r.m.rev() {
		r.t.Fatalf("[%q, %q) at %d: %d keys of %d, want %q of %d", key, end, rev, resp.Count, resp.Header.Revision, want, r.m.rev())
	}
	if limit > 0 && int(limit) < len(want) {
		if !resp.More {
			r.t.Fatal("more is not set")
		}
		want = want[:limit]
	}
	if len(resp.Kvs) != len(want) {
		r.t.Fatalf("[%q, %q) at %d limit %d: %d keys, want %q", key, end, rev, limit, len(resp.Kvs), want)
	}
	for i, k := range want {
		if string(resp.Kvs[i].Key) != k || !r.m.states[rev][k].is(resp.Kvs[i]) {
			r.t.Fatalf("%q at %d: %v, want %+v", k, rev, resp.Kvs[i], r.m.states[rev][k])
		}
	}
}

func (r *randomRun) lease(ctx context.Context) {
	if len(r.leases) < 3 || r.rng.IntN(3) > 0 {
		resp, err := r.c.Grant(ctx, 1000)
		r.ok(err)
		r.leases = append(r.leases, resp.ID)
		return
	}
	i := r.rng.IntN(len(r.leases))
	id := r.leases[i]
	var attached []string
	for k, kv := range r.m.now() {
		if kv.lease == int64(id) {
			attached = append(attached, k)
		}
	}
	slices.Sort(attached)
	ttl, err := r.c.TimeToLive(ctx, id, clientv3.WithAttachedKeys())
	r.ok(err)
	var got []string
	for _, k := range ttl.Keys {
		got = append(got, string(k))
	}
	if !slices.Equal(got, attached) {
		r.t.Fatalf("lease has %q, want %q", got, attached)
	}
	_, err = r.c.Revoke(ctx, id)
	r.ok(err)
	r.leases = slices.Delete(r.leases, i, i+1)
	r.m.commit(func(_ func(string, string, int64), del func(string)) {
		for _, k := range attached {
			del(k)
		}
	})
}

func (r *randomRun) compact(ctx context.Context) {
	rev := max(r.m.compacted, 0) + 1 + r.rng.Int64N(r.m.rev())
	_, err := r.c.Compact(ctx, rev)
	if rev > r.m.rev() {
		if !errors.Is(err, rpctypes.ErrFutureRev) {
			r.t.Fatalf("compact %d of %d: %v", rev, r.m.rev(), err)
		}
		return
	}
	r.ok(err)
	r.m.compacted = rev
	r.compactions = append(r.compactions, rev)
}

func (r *randomRun) watch(ctx context.Context) {
	key, end := r.keys()
	if s := newSpan(key, end); s.kind == spanRange && s.key >= s.end {
		return
	}
	w := &modelWatch{key: key, end: end, prevKV: r.rng.IntN(2) == 0, done: make(chan struct{}), pace: make(chan struct{})}
	opts := []clientv3.OpOption{clientv3.WithRange(end)}
	if w.prevKV {
		opts = append(opts, clientv3.WithPrevKV())
	}
	w.from = r.m.rev() + 1
	if r.rng.IntN(2) == 0 {
		w.from = max(r.m.compacted, 2) + r.rng.Int64N(r.m.rev()+2)
		opts = append(opts, clientv3.WithRev(w.from))
	}
	ctx, w.stop = context.WithCancel(ctx)
	ch := r.c.Watch(ctx, key, opts...)
	if r.rng.IntN(3) == 0 {
		w.letGo()
	}
	go w.consume(ch)
	r.watches = append(r.watches, w)
	if len(r.watches) > 40 {
		r.endWatches(context.Background())
	}
}

// endWatches lets every watch come to the end, and compares.
func (r *randomRun) endWatches(ctx context.Context) {
	for _, w := range r.watches {
		w.letGo()
	}
	for _, w := range r.watches {
		eventually(r.t, "a watch does not come to the end", func() bool {
			r.ok(r.c.RequestProgress(ctx))
			w.mu.Lock()
			defer w.mu.Unlock()
			return w.upTo == r.m.rev() || w.last.Err() != nil || w.from > r.m.rev()
		})
		w.stop()
		<-w.done
		if err := w.check(r.m, r.compactions); err != nil {
			r.t.Fatalf("watch of [%q, %q) from %d: %v", w.key, w.end, w.from, err)
		}
	}
	r.watches = nil
}
