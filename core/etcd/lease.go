package etcd

import (
	"container/heap"
	"context"
	"sort"
	"time"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
)

const (
	// minLeaseTTL is what etcd with default election settings makes of shorter
	// TTLs, maxLeaseTTL its lease.MaxLeaseTTL. Both in seconds.
	minLeaseTTL = 2
	maxLeaseTTL = 9_000_000_000
)

// lease is a time to live that keys are attached to. All fields but expiry and
// place are set once.
type lease struct {
	id, ttl int64
	// grantedAt is the revision of the store at the grant. A revocation in the
	// journal with a higher revision is of this lease, not of an earlier one that
	// had the same id.
	grantedAt int64
	expiry    time.Time
	keys      map[string]struct{}
	place     int // in lessor.queue
}

// remaining returns whole seconds, as etcd counts them.
func (l *lease) remaining(now time.Time) int64 { return int64(l.expiry.Sub(now).Seconds()) }

func (l *lease) expired(now time.Time) bool { return !now.Before(l.expiry) }

// sortedKeys returns the attached keys in the order in which a revocation deletes them.
func (l *lease) sortedKeys() []string {
	keys := make([]string, 0, len(l.keys))
	for k := range l.keys {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}

// lessor holds the leases. It is guarded by DB.mu; what it has of them changes
// under writeMu too, so a writer may look without mu. Expiry times change under
// mu alone.
type lessor struct {
	byID  map[int64]*lease
	queue leaseQueue
	// changed wakes expireLeases when the first expiry may have moved.
	changed chan struct{}
}

func (le *lessor) init() {
	le.byID = map[int64]*lease{}
	le.changed = make(chan struct{}, 1)
}

func (le *lessor) add(l *lease) {
	l.keys = map[string]struct{}{}
	le.byID[l.id] = l
	heap.Push(&le.queue, l)
	le.wake()
}

func (le *lessor) remove(l *lease) {
	delete(le.byID, l.id)
	heap.Remove(&le.queue, l.place)
}

func (le *lessor) refresh(l *lease, now time.Time) {
	l.expiry = now.Add(time.Duration(l.ttl) * time.Second)
	heap.Fix(&le.queue, l.place)
	le.wake()
}

func (le *lessor) wake() {
	select {
	case le.changed <- struct{}{}:
	default:
	}
}

func (le *lessor) attach(id int64, key string) {
	if l := le.byID[id]; l != nil {
		l.keys[key] = struct{}{}
	}
}

func (le *lessor) detach(id int64, key string) {
	if l := le.byID[id]; l != nil {
		delete(l.keys, key)
	}
}

// load adds a recorded lease. As in etcd after a change of leader, it gets its
// full time to live again: how long the process was away is nobody's fault.
func (le *lessor) load(key, payload string, now time.Time) error {
	id, err := parseNumberedKey(key)
	if err != nil {
		return err
	}
	r := recordReader{rest: payload}
	l := &lease{id: id, ttl: int64(r.uvarint()), grantedAt: int64(r.uvarint())}
	if r.err != nil {
		return r.err
	}
	l.expiry = now.Add(time.Duration(l.ttl) * time.Second)
	le.add(l)
	return nil
}

// grantLease makes a lease of ttl seconds; id 0 chooses one. It returns the id
// and the granted TTL, which is at least minLeaseTTL.
//
// It fails with rpctypes.ErrGRPCLeaseTTLTooLarge, ErrGRPCLeaseExist,
// ErrGRPCStopped after Close, or that the record could not be written.
func (db *DB) grantLease(ctx context.Context, id, ttl int64) (*lease, error) {
	if ttl > maxLeaseTTL {
		return nil, rpctypes.ErrGRPCLeaseTTLTooLarge
	}
	if err := db.take(ctx, db.writeMu); err != nil {
		return nil, err
	}
	defer db.writeMu.Unlock()
	for id == 0 {
		if n := randomID(); db.leases.byID[n] == nil {
			id = n
		}
	}
	if db.leases.byID[id] != nil {
		return nil, rpctypes.ErrGRPCLeaseExist
	}
	return db.addLease(id, max(ttl, minLeaseTTL))
}

// addLease records a lease that is not there yet, and starts its time. Called under
// writeMu.
func (db *DB) addLease(id, ttl int64) (*lease, error) {
	l := &lease{id: id, ttl: ttl, grantedAt: db.rev}
	key := leaseKey(id)
	record := uvarintRecord(key, l.ttl, l.grantedAt)
	if err := db.record(key, record); err != nil {
		return nil, err
	}
	db.tap(key, record)
	db.mu.Lock()
	defer db.mu.Unlock()
	l.expiry = db.clock.Now().Add(time.Duration(l.ttl) * time.Second)
	db.leases.add(l)
	return l, nil
}

// revokeLease removes a lease and deletes its keys, all as one revision; a lease
// without keys makes no revision. With ifExpired a lease that was kept alive in
// the meantime stays.
//
// It fails with rpctypes.ErrGRPCLeaseNotFound, ErrGRPCStopped after Close, or
// that the record could not be written.
func (db *DB) revokeLease(ctx context.Context, id int64, ifExpired bool) error {
	if err := db.take(ctx, db.writeMu); err != nil {
		return err
	}
	defer db.writeMu.Unlock()
	l := db.leases.byID[id]
	if l == nil {
		return rpctypes.ErrGRPCLeaseNotFound
	}
	db.mu.RLock()
	alive := !l.expired(db.clock.Now())
	db.mu.RUnlock()
	if ifExpired && alive {
		return nil
	}
	w := view{db: db, rev: db.rev}
	for _, key := range l.sortedKeys() {
		w.deleteRange(span{key: key})
	}
	if len(w.ops) > 0 {
		w.ops = append(w.ops, op{kind: opRevoke, lease: id})
		if _, err := db.commit(&w); err != nil {
			return err
		}
	}
	// After the record that deletes the keys, never before: keys whose lease is
	// gone would live for ever.
	if err := db.journal.Delete(leaseKey(id)); err != nil {
		return err
	}
	db.tap(leaseKey(id), "")
	db.mu.Lock()
	defer db.mu.Unlock()
	db.leases.remove(l)
	return nil
}

// renewLease gives a lease its full time to live again and returns it. It fails
// with rpctypes.ErrGRPCLeaseNotFound, also when the lease has expired and is only
// waiting to be revoked, and with ErrGRPCStopped after Close.
func (db *DB) renewLease(id int64) (ttl int64, err error) {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return 0, errStopped
	}
	now := db.clock.Now()
	l := db.leases.byID[id]
	if l == nil || l.expired(now) {
		return 0, rpctypes.ErrGRPCLeaseNotFound
	}
	db.leases.refresh(l, now)
	return l.ttl, nil
}

// expireLeases revokes leases when their time has come, until Close.
func (db *DB) expireLeases() {
	defer db.running.Done()
	// A lease that could not be revoked (its record could not be written) is tried
	// again, but not in a busy loop.
	const retry = time.Second
	for {
		if db.reach(context.Background()) != nil { // an etcd that is away ends no lease
			return
		}
		failed := false
		for _, id := range db.dueLeases() {
			failed = db.revokeLease(context.Background(), id, true) != nil || failed
		}
		wait, some := db.nextExpiry()
		if failed {
			wait = retry
		}
		var timer <-chan time.Time
		stop := func() bool { return false }
		if some {
			t := db.clock.NewTimer(wait)
			timer, stop = t.C(), t.Stop
			// The clock may have moved since wait was computed, and the timer began later.
			if !failed && len(db.dueLeases()) > 0 {
				stop()
				continue
			}
		}
		select {
		case <-timer:
		case <-db.leases.changed:
		case <-db.done:
			stop()
			return
		}
		stop()
	}
}

// dueLeases returns the leases that have expired. While the store is stopped there are
// none: it may have been stopped since the caller has waited for it, and their time may
// have come since then.
func (db *DB) dueLeases() []int64 {
	db.mu.RLock()
	defer db.mu.RUnlock()
	if db.Stopped() {
		return nil
	}
	return db.leases.queue.due(db.clock.Now())
}

// nextExpiry returns how long it is until the next lease expires, if there is one.
func (db *DB) nextExpiry() (time.Duration, bool) {
	db.mu.RLock()
	defer db.mu.RUnlock()
	return db.leases.queue.next(db.clock.Now())
}

// leaseQueue is a heap of leases, the first to expire on top.
type leaseQueue []*lease

func (q leaseQueue) Len() int           { return len(q) }
func (q leaseQueue) Less(i, j int) bool { return q[i].expiry.Before(q[j].expiry) }
func (q leaseQueue) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].place, q[j].place = i, j
}
func (q *leaseQueue) Push(x any) {
	l := x.(*lease)
	l.place = len(*q)
	*q = append(*q, l)
}
func (q *leaseQueue) Pop() any {
	old := *q
	l := old[len(old)-1]
	old[len(old)-1] = nil
	*q = old[:len(old)-1]
	return l
}

// due returns the ids of the expired leases, the first to expire first.
func (q leaseQueue) due(now time.Time) []int64 {
	var due []*lease
	for _, l := range q {
		if l.expired(now) {
			due = append(due, l)
		}
	}
	sort.Slice(due, func(i, j int) bool {
		a, b := due[i], due[j]
		return a.expiry.Before(b.expiry) || a.expiry.Equal(b.expiry) && a.id < b.id
	})
	ids := make([]int64, len(due))
	for i, l := range due {
		ids[i] = l.id
	}
	return ids
}

// next returns how long it is until the next lease expires, if there is one.
func (q leaseQueue) next(now time.Time) (time.Duration, bool) {
	if len(q) == 0 {
		return 0, false
	}
	return q[0].expiry.Sub(now), true
}
