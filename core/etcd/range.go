package etcd

import (
	"math"
	"sort"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"

	"github.com/kubetab/kubetab/core/etcd/internal/borrow"
)

// found is the answer to a range request before its bytes are copied: versions
// are immutable, so that is done without a lock.
type found struct {
	versions []*version
	// count is the number of keys in the range, whatever the limit and filters.
	count int64
	more  bool
	// rev is the newest revision of the store, not the revision that was read.
	rev                            int64
	keysOnly, countOnly, leaseless bool
}

// rangeKeys answers r. See txn.Range in etcd's server. It fails with
// rpctypes.ErrGRPCFutureRev or ErrGRPCCompacted.
func (w *view) rangeKeys(r *pb.RangeRequest) (*found, error) {
	f := &found{rev: w.now(), keysOnly: r.KeysOnly, countOnly: r.CountOnly}
	rev := r.Revision
	if rev <= 0 {
		rev = f.rev
	}
	if err := w.checkRevision(rev); err != nil {
		return nil, err
	}
	sorted := r.SortOrder != pb.RangeRequest_NONE && (r.SortTarget != pb.RangeRequest_KEY || r.SortOrder != pb.RangeRequest_ASCEND)
	filtered := r.MinModRevision != 0 || r.MaxModRevision != 0 || r.MinCreateRevision != 0 || r.MaxCreateRevision != 0
	// One more than asked for tells whether there is more. With an order or a
	// filter the limit applies to what is left, so everything is fetched. (A sort
	// target without an order sorts what the limit left, as in etcd.)
	fetch := int64(math.MaxInt64)
	if r.Limit > 0 && r.Limit < math.MaxInt64 && !sorted && !filtered {
		fetch = r.Limit + 1
	}
	w.visit(newSpan(borrow.String(r.Key), borrow.String(r.RangeEnd)), rev, func(v *version) bool {
		f.count++
		if !r.CountOnly && int64(len(f.versions)) < fetch && (!filtered || passes(r, v)) {
			f.versions = append(f.versions, v)
		}
		return true
	})
	sortVersions(f.versions, r)
	if r.Limit > 0 && int64(len(f.versions)) > r.Limit {
		f.versions, f.more = f.versions[:r.Limit], true
	}
	// etcd answers keys-only requests from its index, which does not know leases.
	f.leaseless = r.KeysOnly && r.SortTarget != pb.RangeRequest_VALUE
	return f, nil
}

func passes(r *pb.RangeRequest, v *version) bool {
	switch {
	case r.MaxModRevision != 0 && v.mod > r.MaxModRevision,
		r.MinModRevision != 0 && v.mod < r.MinModRevision,
		r.MaxCreateRevision != 0 && v.create > r.MaxCreateRevision,
		r.MinCreateRevision != 0 && v.create < r.MinCreateRevision:
		return false
	}
	return true
}

// sortVersions orders vs, which are in key order, as r asks. A target other than
// the key without an order means ascending.
func sortVersions(vs []*version, r *pb.RangeRequest) {
	var less func(a, b *version) bool
	switch r.SortTarget {
	case pb.RangeRequest_KEY:
		if r.SortOrder != pb.RangeRequest_DESCEND {
			return
		}
		less = func(a, b *version) bool { return a.key < b.key }
	case pb.RangeRequest_VERSION:
		less = func(a, b *version) bool { return a.ver < b.ver }
	case pb.RangeRequest_CREATE:
		less = func(a, b *version) bool { return a.create < b.create }
	case pb.RangeRequest_MOD:
		less = func(a, b *version) bool { return a.mod < b.mod }
	case pb.RangeRequest_VALUE:
		less = func(a, b *version) bool { return a.value < b.value }
	}
	if r.SortOrder == pb.RangeRequest_DESCEND {
		ascending := less
		less = func(a, b *version) bool { return ascending(b, a) }
	}
	sort.SliceStable(vs, func(i, j int) bool { return less(vs[i], vs[j]) })
}

// response copies the answer into memory of the caller.
func (f *found) response(h *pb.ResponseHeader) *pb.RangeResponse {
	resp := &pb.RangeResponse{Header: h, Count: f.count, More: f.more}
	if f.countOnly {
		return resp
	}
	resp.Kvs = f.keyValues(f.versions)
	return resp
}

func (f *found) keyValues(vs []*version) []*mvccpb.KeyValue {
	kvs := make([]*mvccpb.KeyValue, len(vs))
	for i, v := range vs {
		kvs[i] = v.keyValue(!f.keysOnly)
		if f.leaseless {
			kvs[i].Lease = 0
		}
	}
	return kvs
}

// read runs fn with a read-only view of the newest revision. It fails with
// rpctypes.ErrGRPCStopped after Close, and with fn's error.
func (db *DB) read(fn func(*view) error) error {
	db.mu.RLock()
	defer db.mu.RUnlock()
	if db.closed {
		return errStopped
	}
	return fn(&view{db: db, rev: db.rev})
}

// rangeKeys answers r at the newest revision.
func (db *DB) rangeKeys(r *pb.RangeRequest) (f *found, err error) {
	err = db.read(func(w *view) error {
		f, err = w.rangeKeys(r)
		return err
	})
	return f, err
}
