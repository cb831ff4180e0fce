package etcd

import (
	"context"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"

	"github.com/kubetab/kubetab/core/etcd/internal/borrow"
)

// kubernetesClient answers what kube-apiserver's storage asks of etcd. It is the
// path that every request of the API takes, so it goes straight to the store: no
// operation is built, cloned and taken apart again, and a value is copied once.
//
// Errors are the client-side rpctypes.Err* values, which upstream compares with ==.
type kubernetesClient struct{ db *DB }

var _ kubernetes.Interface = (*kubernetesClient)(nil)

// observe reports the time since start; for defer.
func (c *kubernetesClient) observe(ctx context.Context) func() {
	if c.db.opts.Observe == nil {
		return func() {}
	}
	start := time.Now()
	return func() { c.db.opts.Observe(ctx, time.Since(start)) }
}

func (c *kubernetesClient) Get(ctx context.Context, key string, opts kubernetes.GetOptions) (resp kubernetes.GetResponse, err error) {
	defer c.observe(ctx)()
	var v *version
	err = c.read(ctx, key, func(w *view) error {
		resp.Revision = w.rev
		rev := opts.Revision
		if rev <= 0 {
			rev = w.rev
		}
		if err := w.checkRevision(rev); err != nil {
			return err
		}
		v = w.db.index.at(key, rev)
		return nil
	})
	if err != nil {
		return kubernetes.GetResponse{}, err
	}
	if v != nil {
		resp.KV = v.keyValue(true)
	}
	return resp, nil
}

func (c *kubernetesClient) List(ctx context.Context, prefix string, opts kubernetes.ListOptions) (resp kubernetes.ListResponse, err error) {
	defer c.observe(ctx)()
	start := prefix
	if opts.Continue != "" {
		start = opts.Continue
	}
	f, err := c.list(ctx, &pb.RangeRequest{
		Key:      []byte(start),
		RangeEnd: []byte(clientv3.GetPrefixRangeEnd(prefix)),
		Limit:    opts.Limit,
		Revision: opts.Revision,
	})
	if err != nil {
		return resp, err
	}
	return kubernetes.ListResponse{Kvs: f.keyValues(f.versions), Count: f.count, Revision: f.rev}, nil
}

func (c *kubernetesClient) Count(ctx context.Context, prefix string, _ kubernetes.CountOptions) (int64, error) {
	defer c.observe(ctx)()
	f, err := c.list(ctx, &pb.RangeRequest{
		Key:       []byte(prefix),
		RangeEnd:  []byte(clientv3.GetPrefixRangeEnd(prefix)),
		CountOnly: true,
	})
	if err != nil {
		return 0, err
	}
	return f.count, nil
}

func (c *kubernetesClient) list(ctx context.Context, r *pb.RangeRequest) (f *found, err error) {
	err = c.read(ctx, string(r.Key), func(w *view) error {
		f, err = w.rangeKeys(r)
		return err
	})
	return f, err
}

func (c *kubernetesClient) OptimisticPut(ctx context.Context, key string, value []byte, expectedRevision int64, opts kubernetes.PutOptions) (resp kubernetes.PutResponse, err error) {
	defer c.observe(ctx)()
	// The key is sent in the comparison and in the put, and with GetOnFailure in
	// the read; upstream's transaction is measured like that.
	if err := c.db.checkBytes(3*len(key) + len(value)); err != nil {
		return resp, rpctypes.Error(err)
	}
	var conflict *version
	resp.Revision, err = c.write(ctx, key, func(w *view) error {
		current := w.at(key)
		if !current.isAt(expectedRevision) {
			conflict = current
			return nil
		}
		lease := int64(opts.LeaseID)
		if lease != 0 && w.db.leases.byID[lease] == nil {
			return rpctypes.ErrGRPCLeaseNotFound
		}
		w.put(key, borrow.String(value), lease)
		resp.Succeeded = true
		return nil
	})
	if err != nil {
		return kubernetes.PutResponse{}, err
	}
	if opts.GetOnFailure && conflict != nil {
		resp.KV = conflict.keyValue(true)
	}
	return resp, nil
}

func (c *kubernetesClient) OptimisticDelete(ctx context.Context, key string, expectedRevision int64, opts kubernetes.DeleteOptions) (resp kubernetes.DeleteResponse, err error) {
	defer c.observe(ctx)()
	var conflict *version
	resp.Revision, err = c.write(ctx, key, func(w *view) error {
		current := w.at(key)
		if !current.isAt(expectedRevision) {
			conflict = current
			return nil
		}
		w.deleteRange(span{key: key})
		resp.Succeeded = true
		return nil
	})
	if err != nil {
		return kubernetes.DeleteResponse{}, err
	}
	if opts.GetOnFailure && conflict != nil {
		resp.KV = conflict.keyValue(true)
	}
	return resp, nil
}

// isAt reports whether a key's current version is the one of rev; a key that does
// not exist is at 0.
func (v *version) isAt(rev int64) bool {
	if v == nil {
		return rev == 0
	}
	return v.mod == rev
}

func (c *kubernetesClient) read(ctx context.Context, key string, fn func(*view) error) error {
	if key == "" {
		return rpctypes.ErrEmptyKey
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.db.reach(ctx); err != nil {
		return rpctypes.Error(err)
	}
	return rpctypes.Error(c.db.read(fn))
}

func (c *kubernetesClient) write(ctx context.Context, key string, fn func(*view) error) (int64, error) {
	if key == "" {
		return 0, rpctypes.ErrEmptyKey
	}
	if err := c.db.reach(ctx); err != nil {
		return 0, rpctypes.Error(err)
	}
	rev, err := c.db.write(ctx, fn)
	return rev, rpctypes.Error(err)
}
