package etcd

import (
	"context"
	"errors"
	"sync"

	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

// watcherClient is the clientv3.Watcher of one client.
type watcherClient struct {
	db *DB
	// done ends with the client.
	done <-chan struct{}

	mu       sync.Mutex // guards all below; taken before DB.mu
	closed   chan struct{}
	isClosed bool
	watchers map[*watcher]struct{}
}

var _ clientv3.Watcher = (*watcherClient)(nil)

func newWatcherClient(db *DB, ctx context.Context) *watcherClient {
	return &watcherClient{db: db, done: ctx.Done(), closed: make(chan struct{}), watchers: map[*watcher]struct{}{}}
}

// Watch follows clientv3.Watcher. The watch exists when it returns: a write that
// begins afterwards is seen.
//
// The channel is closed when ctx ends or the client is closed. A watch that has
// fallen behind the compaction gets one response with CompactRevision and
// Canceled set, whose Err is rpctypes.ErrCompacted, before that; a watch that the
// end of the store cut off gets one with rpctypes.ErrStopped if it is listening.
// A watch that begins after the end of the store gets no response: a client whose
// etcd is gone tries to reach it until somebody ends the watch. Told of an error,
// the reflectors of watch caches would ask again at once, and go on so.
//
// Events of one revision are never divided between responses. WithFragment
// changes nothing: etcd's server divides large messages for the transport, and
// its client joins them again before anyone sees them.
func (c *watcherClient) Watch(ctx context.Context, key string, opts ...clientv3.OpOption) clientv3.WatchChan {
	op := clientv3.OpWatch(key, opts...)
	w := &watcher{
		db:       c.db,
		span:     newSpan(string(op.KeyBytes()), string(op.RangeBytes())),
		startRev: op.Rev(),
		prevKV:   op.IsPrevKV(),
		noPut:    op.IsFilterPut(),
		noDelete: op.IsFilterDelete(),
		periodic: op.IsProgressNotify(),
		out:      make(chan clientv3.WatchResponse, 1),
		wake:     make(chan struct{}, 1),
	}
	if w.span.key == "" {
		w.span.key = "\x00" // the smallest key
	}
	refuse := func(reason string) clientv3.WatchChan {
		w.out <- clientv3.WatchResponse{Header: c.db.header(0), Canceled: true, CancelReason: reason}
		close(w.out)
		return w.out
	}
	switch {
	case w.startRev < 0:
		return refuse(rpctypes.ErrorDesc(rpctypes.ErrGRPCCompacted))
	case w.span.kind == spanRange && w.span.key >= w.span.end:
		return refuse("mvcc: watcher range is empty")
	}

	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isClosed || ctx.Err() != nil {
		close(w.out)
		return w.out
	}
	rev, ok := c.db.register(w)
	if !ok {
		go func() {
			defer close(w.out)
			select {
			case <-ctx.Done():
			case <-c.closed:
			case <-c.done:
			}
		}()
		return w.out
	}
	c.watchers[w] = struct{}{}
	if op.IsCreatedNotify() {
		// The channel is empty and has room for one.
		w.out <- clientv3.WatchResponse{Header: c.db.header(rev), Created: true}
	}
	go func() {
		w.run(ctx, c.closed)
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.watchers, w)
	}()
	return w.out
}

// RequestProgress makes each watch of this client send a progress notification as
// soon as it has sent everything up to a revision that is at least the current one.
// It fails when the client is closed.
func (c *watcherClient) RequestProgress(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.db.reach(ctx); err != nil {
		return rpctypes.Error(err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isClosed {
		return errors.New("etcd: the watcher is closed")
	}
	ws := make([]*watcher, 0, len(c.watchers))
	for w := range c.watchers {
		ws = append(ws, w)
	}
	c.db.oweProgress(ws...)
	return nil
}

// Close ends all watches of this client.
func (c *watcherClient) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.isClosed {
		c.isClosed = true
		close(c.closed)
	}
	return nil
}
