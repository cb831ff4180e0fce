package transcript

import (
	"context"
	"fmt"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/client/v3/kubernetes"
)

// kubernetes plays the verbs of kubernetes.Interface.
func (r *Runner) kubernetes(ctx context.Context, s *statement) (string, error) {
	c := r.Client.Kubernetes
	key := s.arg(0)
	rev, err := s.optional("rev")
	if err != nil {
		return "", err
	}
	at, err := s.optional("at")
	if err != nil {
		return "", err
	}
	switch s.verb {
	case "create", "update":
		opts := kubernetes.PutOptions{GetOnFailure: s.has("get")}
		if s.has("lease") {
			if opts.LeaseID, err = r.leaseID(s.opts["lease"]); err != nil {
				return "", err
			}
		}
		resp, err := c.OptimisticPut(ctx, key, []byte(s.arg(1)), at, opts)
		if err != nil {
			return "", err
		}
		return r.optimistic(resp.Revision, resp.Succeeded, resp.KV), nil
	case "remove":
		resp, err := c.OptimisticDelete(ctx, key, at, kubernetes.DeleteOptions{GetOnFailure: s.has("get")})
		if err != nil {
			return "", err
		}
		return r.optimistic(resp.Revision, resp.Succeeded, resp.KV), nil
	case "read":
		resp, err := c.Get(ctx, key, kubernetes.GetOptions{Revision: rev})
		if err != nil {
			return "", err
		}
		out := fmt.Sprintf("rev=%d\n", resp.Revision)
		if resp.KV != nil {
			out += r.keyValue(resp.KV) + "\n"
		}
		return out, nil
	case "list":
		limit, err := s.optional("limit")
		if err != nil {
			return "", err
		}
		resp, err := c.List(ctx, key, kubernetes.ListOptions{Revision: rev, Limit: limit, Continue: s.opts["from"]})
		if err != nil {
			return "", err
		}
		out := fmt.Sprintf("rev=%d count=%d\n", resp.Revision, resp.Count)
		for _, kv := range resp.Kvs {
			out += r.keyValue(kv) + "\n"
		}
		return out, nil
	default:
		n, err := c.Count(ctx, key, kubernetes.CountOptions{})
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("count=%d\n", n), nil
	}
}

func (r *Runner) optimistic(rev int64, succeeded bool, kv *mvccpb.KeyValue) string {
	out := fmt.Sprintf("rev=%d succeeded=%v\n", rev, succeeded)
	if kv != nil {
		out += r.keyValue(kv) + "\n"
	}
	return out
}
