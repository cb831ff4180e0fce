package cluster

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/internal/records"
)

// reading reads all records of a store as they are at one revision, several times, and never has more than some megabytes of
// them. In the store of this process, all that it is going to read is settled when it is opened: others may write, delete and
// compact meanwhile. A real etcd may compact the revision before it has been read to its end.
//
// It is for one goroutine.
type reading struct {
	ctx      context.Context
	cancel   context.CancelFunc
	client   *clientv3.Client
	revision int64
	passes   []*pass // that have not begun
	begun    []*pass
	isPaged  bool // there are no passes, because the store does not stream

	ttls   map[int64]int64 // seconds for which each lease was granted that a record names; 0 for one that has ended
	leases []etcd.LeaseState
}

// pass is one answer to a request for all records.
type pass struct {
	first clientv3.RangeStreamResponse
	is    bool // there is a first one
	rest  clientv3.GetStreamChan
}

const (
	// openings is how often a reading is opened whose revision is compacted meanwhile.
	openings = 10
	// pageKeys is how many keys a page has, each with a value of usually at most 1.5 MiB.
	pageKeys = 32
)

// openReading returns a reading for so many passes, which the caller closes. It fails as the client does.
func openReading(ctx context.Context, client *clientv3.Client, passes int) (*reading, error) {
	for left := openings; ; left-- {
		r, err := tryReading(ctx, client, passes)
		if err == nil || left == 1 || !errors.Is(err, rpctypes.ErrCompacted) {
			return r, err
		}
	}
}

func tryReading(ctx context.Context, client *clientv3.Client, passes int) (*reading, error) {
	now, err := client.KV.Get(ctx, records.Prefix+"/", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return nil, err
	}
	r := &reading{client: client, revision: now.Header.Revision, ttls: map[int64]int64{}}
	r.ctx, r.cancel = context.WithCancel(ctx)
	for range passes {
		rest, err := client.KV.GetStream(r.ctx, records.Prefix+"/", clientv3.WithPrefix(), clientv3.WithRev(r.revision))
		if err == nil {
			p := &pass{rest: rest}
			p.first, p.is = <-rest
			r.passes = append(r.passes, p)
			err = p.first.Err() // that of the request
		}
		switch {
		case status.Code(err) == codes.Unimplemented: // etcd before 3.7
			r.finish(r.passes)
			r.passes, r.isPaged = nil, true
			return r, nil
		case err != nil:
			r.close()
			return nil, err
		}
	}
	return r, nil
}

// close ends what is still being read.
func (r *reading) close() {
	r.cancel()
	r.finish(r.passes)
	r.finish(r.begun)
}

// finish takes what is left of passes: the goroutine of upstream's client that fills a channel waits until somebody does.
func (r *reading) finish(passes []*pass) {
	for _, p := range passes {
		for range p.rest {
		}
	}
}

// records returns all records, sorted by key, without those whose lease had ended when it was first asked for. It may be called
// as often as the reading has passes, each time when the one before has ended. The last error that it yields is the client's,
// or ctx's. After the first call that came to its end, leases has all leases that are named.
func (r *reading) records() iter.Seq2[etcd.RecordState, error] {
	return func(yield func(etcd.RecordState, error) bool) {
		for kv, err := range r.keyValues() {
			is := false
			if err == nil {
				is, err = r.isGranted(kv.Lease)
			}
			switch {
			case err != nil:
				yield(etcd.RecordState{}, fmt.Errorf("read the store: %w", err))
				return
			case !is:
				continue
			}
			record := etcd.RecordState{
				Key: string(kv.Key), Value: kv.Value, CreateRevision: kv.CreateRevision, ModRevision: kv.ModRevision, Version: kv.Version, Lease: kv.Lease,
			}
			if !yield(record, nil) {
				return
			}
		}
	}
}

// isGranted reports whether a lease is there, or was when it was first asked for. No lease is.
func (r *reading) isGranted(id int64) (bool, error) {
	if id == 0 {
		return true, nil
	}
	ttl, asked := r.ttls[id]
	if !asked {
		lease, err := r.client.TimeToLive(r.ctx, clientv3.LeaseID(id))
		if err != nil {
			return false, err
		}
		if ttl = max(lease.GrantedTTL, 0); ttl > 0 {
			r.leases = append(r.leases, etcd.LeaseState{ID: id, TTL: ttl})
		}
		r.ttls[id] = ttl
	}
	return ttl > 0, nil
}

func (r *reading) keyValues() iter.Seq2[*mvccpb.KeyValue, error] {
	if r.isPaged {
		return r.pages()
	}
	return func(yield func(*mvccpb.KeyValue, error) bool) {
		p := r.passes[0]
		r.passes, r.begun = r.passes[1:], append(r.begun, p)
		chunk, ok := p.first, p.is
		p.first = clientv3.RangeStreamResponse{}
		for ; ok; chunk, ok = <-p.rest {
			if err := chunk.Err(); err != nil {
				yield(nil, err)
				return
			}
			for _, kv := range chunk.Kvs {
				if !yield(kv, nil) {
					return
				}
			}
		}
	}
}

// pages is keyValues of a store that does not stream.
func (r *reading) pages() iter.Seq2[*mvccpb.KeyValue, error] {
	return func(yield func(*mvccpb.KeyValue, error) bool) {
		from, end := records.Prefix+"/", clientv3.WithRange(clientv3.GetPrefixRangeEnd(records.Prefix+"/"))
		for more := true; more; {
			page, err := r.client.KV.Get(r.ctx, from, end, clientv3.WithLimit(pageKeys), clientv3.WithRev(r.revision))
			if err != nil {
				yield(nil, err)
				return
			}
			for _, kv := range page.Kvs {
				from = string(kv.Key) + "\x00"
				if !yield(kv, nil) {
					return
				}
			}
			more = page.More
		}
	}
}
