package etcd

import (
	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	"go.etcd.io/etcd/pkg/v3/adt"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
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

func checkRangeStream(r *pb.RangeRequest) error {
	if err := checkRange(r); err != nil {
		return err
	}
	switch {
	case r.SortOrder != pb.RangeRequest_NONE && (r.SortTarget != pb.RangeRequest_KEY || r.SortOrder != pb.RangeRequest_ASCEND):
		return status.Error(codes.Unimplemented, "RangeStream does not support custom sort orders")
	case r.MinModRevision != 0 || r.MaxModRevision != 0 || r.MinCreateRevision != 0 || r.MaxCreateRevision != 0:
		return status.Error(codes.Unimplemented, "RangeStream does not support revision filters")
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
// It looks at things in the order and with the interval tree of etcd's
// checkIntervals, because of what that lets pass: a put in one nested transaction
// and a delete of the same key in a later one, and a put together with a delete of
// everything from a smaller key on (whose end, "\x00", the tree takes literally).
func checkOverlaps(ops []*pb.RequestOp) (puts map[string]struct{}, deletes adt.IntervalTree, err error) {
	deletes = adt.NewIntervalTree()
	for _, u := range ops {
		if q := u.GetRequestDeleteRange(); q != nil {
			interval := adt.NewStringAffinePoint(string(q.Key))
			if len(q.RangeEnd) > 0 {
				interval = adt.NewStringAffineInterval(string(q.Key), string(q.RangeEnd))
			}
			deletes.Insert(interval, struct{}{})
		}
	}
	puts = map[string]struct{}{}
	isDeleted := func(key string) bool { return deletes.Intersects(adt.NewStringAffinePoint(key)) }
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
			if _, twice := puts[key]; twice || isDeleted(key) {
				return nil, nil, rpctypes.ErrGRPCDuplicateKey
			}
		}
		for key := range then {
			puts[key] = struct{}{}
		}
		everything := adt.NewStringAffineInterval("\x00", "")
		deletes.Union(thenDeletes, everything)
		deletes.Union(otherwiseDeletes, everything)
	}
	for _, u := range ops {
		if q := u.GetRequestPut(); q != nil {
			key := string(q.Key)
			if _, twice := puts[key]; twice || isDeleted(key) {
				return nil, nil, rpctypes.ErrGRPCDuplicateKey
			}
			puts[key] = struct{}{}
		}
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
