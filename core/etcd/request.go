package etcd

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"google.golang.org/protobuf/proto"
)

// What follows is what etcd's server/etcdserver/api/v3rpc/key.go demands of a
// request before it is looked at.

// requestOverhead is about what etcd adds to a request before it measures it: the
// header and framing of InternalRaftRequest.
const requestOverhead = 24

// checkSize fails with ErrRequestTooLarge when a write request is too large.
func (db *DB) checkSize(m proto.Message) error {
	return db.checkBytes(proto.Size(m))
}

func (db *DB) checkBytes(n int) error {
	if n+requestOverhead > db.opts.MaxRequestBytes {
		return rpctypes.ErrGRPCRequestTooLarge
	}
	return nil
}

func checkRange(r *pb.RangeRequest) error {
	if len(r.Key) == 0 {
		return rpctypes.ErrGRPCEmptyKey
	}
	if _, ok := pb.RangeRequest_SortOrder_name[int32(r.SortOrder)]; !ok {
		return rpctypes.ErrGRPCInvalidSortOption
	}
	if _, ok := pb.RangeRequest_SortTarget_name[int32(r.SortTarget)]; !ok {
		return rpctypes.ErrGRPCInvalidSortOption
	}
	return nil
}

func checkPut(r *pb.PutRequest) error {
	switch {
	case len(r.Key) == 0:
		return rpctypes.ErrGRPCEmptyKey
	case r.IgnoreValue && len(r.Value) != 0:
		return rpctypes.ErrGRPCValueProvided
	case r.IgnoreLease && r.Lease != 0:
		return rpctypes.ErrGRPCLeaseProvided
	}
	return nil
}

func checkDeleteRange(r *pb.DeleteRangeRequest) error {
	if len(r.Key) == 0 {
		return rpctypes.ErrGRPCEmptyKey
	}
	return nil
}

func (db *DB) checkTxn(r *pb.TxnRequest) error {
	if err := checkOps(r, db.opts.MaxTxnOps); err != nil {
		return err
	}
	for _, ops := range [][]*pb.RequestOp{r.Success, r.Failure} {
		if _, _, err := checkOverlaps(ops); err != nil {
			return err
		}
	}
	return nil
}

// checkOps checks each operation, and that there are at most limit of them; what
// a level uses is taken from what its nested transactions may have.
func checkOps(r *pb.TxnRequest, limit int) error {
	n := max(len(r.Compare), len(r.Success), len(r.Failure))
	if n > limit {
		return rpctypes.ErrGRPCTooManyOps
	}
	for _, c := range r.Compare {
		if len(c.Key) == 0 {
			return rpctypes.ErrGRPCEmptyKey
		}
	}
	for _, ops := range [][]*pb.RequestOp{r.Success, r.Failure} {
		for _, u := range ops {
			if err := checkOp(u, limit-n); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkOp(u *pb.RequestOp, limit int) error {
	switch q := u.Request.(type) {
	case *pb.RequestOp_RequestRange:
		return checkRange(q.RequestRange)
	case *pb.RequestOp_RequestPut:
		return checkPut(q.RequestPut)
	case *pb.RequestOp_RequestDeleteRange:
		return checkDeleteRange(q.RequestDeleteRange)
	case *pb.RequestOp_RequestTxn:
		return checkOps(q.RequestTxn, limit)
	}
	return rpctypes.ErrGRPCKeyNotFound
}

// checkOverlaps fails with ErrDuplicateKey when a key is put twice, or is put and
// lies in a range that is deleted: the result would depend on the order. It
// returns what ops put and delete, nested transactions included.
//
// The order in which nested transactions are looked at is etcd's (checkIntervals),
// and so is what it lets pass: a put in one nested transaction and a delete of the
// same key in a later one.
func checkOverlaps(ops []*pb.RequestOp) (puts map[string]struct{}, deletes []span, err error) {
	for _, u := range ops {
		if q, ok := u.Request.(*pb.RequestOp_RequestDeleteRange); ok && q.RequestDeleteRange != nil {
			deletes = append(deletes, newSpan(string(q.RequestDeleteRange.Key), string(q.RequestDeleteRange.RangeEnd)))
		}
	}
	puts = map[string]struct{}{}
	deleted := func(key string) bool {
		for _, s := range deletes {
			if s.contains(key) {
				return true
			}
		}
		return false
	}
	for _, u := range ops {
		q, ok := u.Request.(*pb.RequestOp_RequestTxn)
		if !ok {
			continue
		}
		then, thenDeletes, err := checkOverlaps(q.RequestTxn.GetSuccess())
		if err != nil {
			return nil, nil, err
		}
		otherwise, otherwiseDeletes, err := checkOverlaps(q.RequestTxn.GetFailure())
		if err != nil {
			return nil, nil, err
		}
		// Only one of the two branches is taken, so they may put the same key.
		for key := range otherwise {
			then[key] = struct{}{}
		}
		for key := range then {
			if _, twice := puts[key]; twice || deleted(key) {
				return nil, nil, rpctypes.ErrGRPCDuplicateKey
			}
		}
		for key := range then {
			puts[key] = struct{}{}
		}
		deletes = append(append(deletes, thenDeletes...), otherwiseDeletes...)
	}
	for _, u := range ops {
		q, ok := u.Request.(*pb.RequestOp_RequestPut)
		if !ok || q.RequestPut == nil {
			continue
		}
		key := string(q.RequestPut.Key)
		if _, twice := puts[key]; twice || deleted(key) {
			return nil, nil, rpctypes.ErrGRPCDuplicateKey
		}
		puts[key] = struct{}{}
	}
	return puts, deletes, nil
}

// readOnly reports whether r consists of reads only (nested transactions count as
// writes, as in etcd's txn.IsTxnReadonly).
func readOnly(r *pb.TxnRequest) bool {
	for _, ops := range [][]*pb.RequestOp{r.Success, r.Failure} {
		for _, u := range ops {
			if u.GetRequestRange() == nil {
				return false
			}
		}
	}
	return true
}
