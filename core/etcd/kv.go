package etcd

import (
	"context"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"google.golang.org/grpc"
)

// kvClient answers the KV service in process. Upstream's clientv3.KV on top of it
// turns operations into these requests, which is how a put's lease, an unexported
// field of clientv3.Op, arrives here.
//
// Every method checks its request as etcd's v3rpc server does, and fails with the
// rpctypes.ErrGRPC* values of etcd.
type kvClient struct{ db *DB }

var _ pb.KVClient = (*kvClient)(nil)

func (c *kvClient) Range(ctx context.Context, r *pb.RangeRequest, _ ...grpc.CallOption) (*pb.RangeResponse, error) {
	if err := c.db.reach(ctx); err != nil {
		return nil, err
	}
	if err := checkRange(r); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := c.db.rangeKeys(r)
	if err != nil {
		return nil, err
	}
	return f.response(c.db.header(f.rev)), nil
}

func (c *kvClient) Put(ctx context.Context, r *pb.PutRequest, _ ...grpc.CallOption) (resp *pb.PutResponse, err error) {
	if err := c.db.reach(ctx); err != nil {
		return nil, err
	}
	if err := checkPut(r); err != nil {
		return nil, err
	}
	if err := c.db.checkSize(r); err != nil {
		return nil, err
	}
	rev, err := c.db.write(ctx, func(w *view) error {
		if err := w.checkPut(r); err != nil {
			return err
		}
		resp = w.putRequest(r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	resp.Header = c.db.header(rev)
	return resp, nil
}

func (c *kvClient) DeleteRange(ctx context.Context, r *pb.DeleteRangeRequest, _ ...grpc.CallOption) (resp *pb.DeleteRangeResponse, err error) {
	if err := c.db.reach(ctx); err != nil {
		return nil, err
	}
	if err := checkDeleteRange(r); err != nil {
		return nil, err
	}
	if err := c.db.checkSize(r); err != nil {
		return nil, err
	}
	rev, err := c.db.write(ctx, func(w *view) error {
		resp = w.deleteRequest(r)
		return nil
	})
	if err != nil {
		return nil, err
	}
	resp.Header = c.db.header(rev)
	return resp, nil
}

func (c *kvClient) Txn(ctx context.Context, r *pb.TxnRequest, _ ...grpc.CallOption) (resp *pb.TxnResponse, err error) {
	if err := c.db.reach(ctx); err != nil {
		return nil, err
	}
	if err := c.db.checkTxn(r); err != nil {
		return nil, err
	}
	run := func(w *view) error {
		path := w.branches(r)
		rest := path
		if err := w.check(r, &rest); err != nil {
			return err
		}
		resp, err = w.txn(r, &path)
		if err == nil {
			resp.Header.Revision = w.now()
		}
		return err
	}
	if readOnly(r) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		err = c.db.read(run)
	} else {
		if err := c.db.checkSize(r); err != nil {
			return nil, err
		}
		_, err = c.db.write(ctx, run)
	}
	if err != nil {
		return nil, err
	}
	resp.Header = c.db.header(resp.Header.Revision)
	return resp, nil
}

// Compact ignores r.Physical: history is always gone when it returns.
func (c *kvClient) Compact(ctx context.Context, r *pb.CompactionRequest, _ ...grpc.CallOption) (*pb.CompactionResponse, error) {
	if err := c.db.reach(ctx); err != nil {
		return nil, err
	}
	if err := c.db.Compact(ctx, r.Revision); err != nil {
		return nil, err
	}
	return &pb.CompactionResponse{Header: c.db.header(c.db.Revision())}, nil
}

// RangeStream answers r in chunks. What the answer consists of is settled before it
// returns, so neither writes nor a compaction can change it any more; the bytes
// are copied chunk by chunk.
//
// It does not fail. As with gRPC, the server's errors are those of the first Recv:
// upstream takes an error of the call itself for a broken connection.
func (c *kvClient) RangeStream(ctx context.Context, r *pb.RangeRequest, _ ...grpc.CallOption) (grpc.ServerStreamingClient[pb.RangeStreamResponse], error) {
	s := &rangeStream{ctx: ctx, db: c.db}
	if s.err = c.db.reach(ctx); s.err == nil {
		s.err = checkRangeStream(r)
	}
	if s.err == nil {
		s.found, s.err = c.db.rangeKeys(r)
	}
	return s, nil
}
