package etcd

import (
	"sort"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"

	"github.com/kubetab/kubetab/core/etcd/internal/borrow"
)

// view is what a request reads: the store at its newest revision, and for a
// transaction its own changes on top.
//
// A read-only view is used with DB.mu read-locked. A writing view is used under
// writeMu and takes no other lock: nobody else changes the index.
type view struct {
	db *DB
	// rev is the revision of the store when the request began.
	rev int64
	// ops are the changes so far, none in a read-only view.
	ops []op
	// seen has the newest version that the first indexed ops make of each key they
	// touch; see changed.
	seen    map[string]*version
	indexed int
}

// changed returns the newest version that ops makes of each key they touch. It is
// made when it is asked for: most transactions are one put that nobody looks at.
func (w *view) changed() map[string]*version {
	if w.seen == nil && len(w.ops) > 0 {
		w.seen = make(map[string]*version, len(w.ops))
	}
	for ; w.indexed < len(w.ops); w.indexed++ {
		o := &w.ops[w.indexed]
		w.seen[o.key] = &version{
			key: o.key, value: o.value, create: o.create, mod: w.rev + 1, ver: o.ver, lease: o.lease,
		}
	}
	return w.seen
}

// now is the revision that the view shows: a transaction's changes are of the next.
func (w *view) now() int64 {
	if len(w.ops) > 0 {
		return w.rev + 1
	}
	return w.rev
}

// at returns what the request sees of key now, or nil.
func (w *view) at(key string) *version {
	if v, ok := w.changed()[key]; ok {
		if v.deleted() {
			return nil
		}
		return v
	}
	return w.db.index.at(key, w.rev)
}

// visit calls fn for each key that exists at rev within s, in key order.
func (w *view) visit(s span, rev int64, fn func(*version) bool) {
	changed := w.changed()
	if rev <= w.rev || len(changed) == 0 {
		w.db.index.visit(s, rev, fn)
		return
	}
	var all []*version
	w.db.index.visit(s, w.rev, func(v *version) bool {
		if _, ok := changed[v.key]; !ok {
			all = append(all, v)
		}
		return true
	})
	for key, v := range changed {
		if s.contains(key) && !v.deleted() {
			all = append(all, v)
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].key < all[j].key })
	for _, v := range all {
		if !fn(v) {
			return
		}
	}
}

// put adds a put and returns the version it replaces, or nil.
func (w *view) put(key, value string, lease int64) (prev *version) {
	prev = w.at(key)
	o := op{kind: opPut, key: key, value: value, create: w.rev + 1, ver: 1, lease: lease}
	if prev != nil {
		o.create, o.ver = prev.create, prev.ver+1
	}
	w.ops = append(w.ops, o)
	return prev
}

// deleteRange adds a delete for each key in s and returns what was there.
func (w *view) deleteRange(s span) (prev []*version) {
	w.visit(s, w.now(), func(v *version) bool {
		prev = append(prev, v)
		return true
	})
	for _, v := range prev {
		w.ops = append(w.ops, op{kind: opDelete, key: v.key})
	}
	return prev
}

// compare reports whether all of cs hold. See txn.applyCompares in etcd's server.
func (w *view) compare(cs []*pb.Compare) bool {
	for _, c := range cs {
		if !w.compareRange(c) {
			return false
		}
	}
	return true
}

func (w *view) compareRange(c *pb.Compare) bool {
	found, holds := false, true
	w.visit(newSpan(borrow.String(c.Key), borrow.String(c.RangeEnd)), w.now(), func(v *version) bool {
		found = true
		holds = compareVersion(c, v)
		return holds
	})
	if found {
		return holds
	}
	// No key there: all numbers are 0. A value cannot be missing and equal to
	// something at once, so comparing it always fails.
	return c.Target != pb.Compare_VALUE && compareVersion(c, &version{})
}

func compareVersion(c *pb.Compare, v *version) bool {
	var result int
	switch c.Target {
	case pb.Compare_VALUE:
		result = order(v.value, borrow.String(c.GetValue()))
	case pb.Compare_CREATE:
		result = order(v.create, c.GetCreateRevision())
	case pb.Compare_MOD:
		result = order(v.mod, c.GetModRevision())
	case pb.Compare_VERSION:
		result = order(v.ver, c.GetVersion())
	case pb.Compare_LEASE:
		result = order(v.lease, c.GetLease())
	}
	switch c.Result {
	case pb.Compare_EQUAL:
		return result == 0
	case pb.Compare_NOT_EQUAL:
		return result != 0
	case pb.Compare_GREATER:
		return result > 0
	case pb.Compare_LESS:
		return result < 0
	}
	return true
}

func order[T string | int64](a, b T) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// branches decides which branch of r, and of every transaction nested in that
// branch, is taken. As in etcd all comparisons are made before anything changes:
// a nested transaction does not see what its siblings write.
func (w *view) branches(r *pb.TxnRequest) []bool {
	path := []bool{w.compare(r.Compare)}
	for _, u := range branch(r, path[0]) {
		if nested, ok := u.Request.(*pb.RequestOp_RequestTxn); ok && nested.RequestTxn != nil {
			path = append(path, w.branches(nested.RequestTxn)...)
		}
	}
	return path
}

func branch(r *pb.TxnRequest, success bool) []*pb.RequestOp {
	if success {
		return r.Success
	}
	return r.Failure
}

// check looks for what would make the transaction fail half way, before it changes
// anything: reads at impossible revisions, unknown leases, and puts that keep the
// value or lease of a key that does not exist.
func (w *view) check(r *pb.TxnRequest, path *[]bool) error {
	success := pop(path)
	for _, u := range branch(r, success) {
		var err error
		switch q := u.Request.(type) {
		case *pb.RequestOp_RequestRange:
			if rev := q.RequestRange.Revision; rev != 0 {
				err = w.checkRevision(rev)
			}
		case *pb.RequestOp_RequestPut:
			err = w.checkPut(q.RequestPut)
		case *pb.RequestOp_RequestTxn:
			err = w.check(q.RequestTxn, path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func pop(path *[]bool) bool {
	first := (*path)[0]
	*path = (*path)[1:]
	return first
}

// checkRevision fails with rpctypes.ErrGRPCFutureRev above the newest revision, and with
// rpctypes.ErrGRPCCompacted where the store no longer has, or never had, all that there
// was at rev.
func (w *view) checkRevision(rev int64) error {
	switch {
	case rev > w.now():
		return rpctypes.ErrGRPCFutureRev
	case rev < w.db.compactRev || w.db.gap.from <= rev && rev < w.db.gap.to:
		return rpctypes.ErrGRPCCompacted
	}
	return nil
}

func (w *view) checkPut(r *pb.PutRequest) error {
	if r.Lease != 0 && w.db.leases.byID[r.Lease] == nil {
		return rpctypes.ErrGRPCLeaseNotFound
	}
	if (r.IgnoreValue || r.IgnoreLease) && w.at(borrow.String(r.Key)) == nil {
		return rpctypes.ErrGRPCKeyNotFound
	}
	return nil
}

// txn runs the branch that path names. It cannot fail for what check has seen.
func (w *view) txn(r *pb.TxnRequest, path *[]bool) (*pb.TxnResponse, error) {
	resp := &pb.TxnResponse{Header: &pb.ResponseHeader{}, Succeeded: pop(path)}
	for _, u := range branch(r, resp.Succeeded) {
		out := &pb.ResponseOp{}
		switch q := u.Request.(type) {
		case *pb.RequestOp_RequestRange:
			found, err := w.rangeKeys(q.RequestRange)
			if err != nil {
				return nil, err
			}
			out.Response = &pb.ResponseOp_ResponseRange{ResponseRange: found.response(&pb.ResponseHeader{Revision: found.rev})}
		case *pb.RequestOp_RequestPut:
			out.Response = &pb.ResponseOp_ResponsePut{ResponsePut: w.putRequest(q.RequestPut)}
		case *pb.RequestOp_RequestDeleteRange:
			out.Response = &pb.ResponseOp_ResponseDeleteRange{ResponseDeleteRange: w.deleteRequest(q.RequestDeleteRange)}
		case *pb.RequestOp_RequestTxn:
			nested, err := w.txn(q.RequestTxn, path)
			if err != nil {
				return nil, err
			}
			out.Response = &pb.ResponseOp_ResponseTxn{ResponseTxn: nested}
		}
		resp.Responses = append(resp.Responses, out)
	}
	return resp, nil
}

func (w *view) putRequest(r *pb.PutRequest) *pb.PutResponse {
	value, lease := borrow.String(r.Value), r.Lease
	if prev := w.at(borrow.String(r.Key)); prev != nil {
		if r.IgnoreValue {
			value = prev.value
		}
		if r.IgnoreLease {
			lease = prev.lease
		}
	}
	prev := w.put(borrow.String(r.Key), value, lease)
	resp := &pb.PutResponse{Header: &pb.ResponseHeader{Revision: w.now()}}
	if r.PrevKv && prev != nil {
		resp.PrevKv = prev.keyValue(true)
	}
	return resp
}

func (w *view) deleteRequest(r *pb.DeleteRangeRequest) *pb.DeleteRangeResponse {
	gone := w.deleteRange(newSpan(borrow.String(r.Key), borrow.String(r.RangeEnd)))
	resp := &pb.DeleteRangeResponse{Header: &pb.ResponseHeader{Revision: w.now()}, Deleted: int64(len(gone))}
	if r.PrevKv {
		for _, v := range gone {
			resp.PrevKvs = append(resp.PrevKvs, v.keyValue(true))
		}
	}
	return resp
}
