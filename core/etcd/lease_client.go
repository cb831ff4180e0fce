package etcd

import (
	"context"
	"errors"
	"sort"
	"time"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc"
)

// leaseService answers the Lease service in process.
type leaseService struct {
	pb.LeaseClient // answers Unimplemented: LeaseKeepAlive
	db             *DB
}

func (s *leaseService) LeaseGrant(ctx context.Context, r *pb.LeaseGrantRequest, _ ...grpc.CallOption) (*pb.LeaseGrantResponse, error) {
	if err := s.db.reach(ctx); err != nil {
		return nil, err
	}
	l, err := s.db.grantLease(ctx, r.ID, r.TTL)
	if err != nil {
		return nil, err
	}
	return &pb.LeaseGrantResponse{Header: s.db.header(s.db.Revision()), ID: l.id, TTL: l.ttl}, nil
}

func (s *leaseService) LeaseRevoke(ctx context.Context, r *pb.LeaseRevokeRequest, _ ...grpc.CallOption) (*pb.LeaseRevokeResponse, error) {
	if err := s.db.reach(ctx); err != nil {
		return nil, err
	}
	if err := s.db.revokeLease(ctx, r.ID, false); err != nil {
		return nil, err
	}
	return &pb.LeaseRevokeResponse{Header: s.db.header(s.db.Revision())}, nil
}

// LeaseTimeToLive answers -1 for a lease that does not exist, which is no error.
func (s *leaseService) LeaseTimeToLive(ctx context.Context, r *pb.LeaseTimeToLiveRequest, _ ...grpc.CallOption) (*pb.LeaseTimeToLiveResponse, error) {
	if err := s.db.reach(ctx); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	resp := &pb.LeaseTimeToLiveResponse{ID: r.ID, TTL: -1}
	err := s.db.read(func(w *view) error {
		resp.Header = s.db.header(w.rev)
		now := s.db.clock.Now()
		l := s.db.leases.byID[r.ID]
		if l == nil || l.expired(now) {
			return nil
		}
		resp.TTL, resp.GrantedTTL = l.remaining(now), l.ttl
		if r.Keys {
			for _, key := range l.sortedKeys() {
				resp.Keys = append(resp.Keys, []byte(key))
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// LeaseLeases lists the leases, the first to expire first, as etcd does.
func (s *leaseService) LeaseLeases(ctx context.Context, _ *pb.LeaseLeasesRequest, _ ...grpc.CallOption) (*pb.LeaseLeasesResponse, error) {
	if err := s.db.reach(ctx); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	resp := &pb.LeaseLeasesResponse{}
	err := s.db.read(func(w *view) error {
		resp.Header = s.db.header(w.rev)
		all := append(leaseQueue(nil), s.db.leases.queue...)
		sort.SliceStable(all, all.Less)
		for _, l := range all {
			resp.Leases = append(resp.Leases, &pb.LeaseStatus{ID: l.id})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// leaseClient is the clientv3.Lease of one client: upstream's over leaseService,
// except for keeping alive, which upstream does on the real clock and here is done
// on the store's.
type leaseClient struct {
	clientv3.Lease
	db   *DB
	done <-chan struct{} // ends with the client
}

func newLeaseClient(db *DB, ctx context.Context) *leaseClient {
	service := &leaseService{LeaseClient: pb.NewLeaseClient(unimplemented{}), db: db}
	return &leaseClient{Lease: clientv3.NewLeaseFromLeaseClient(service, nil, time.Second), db: db, done: ctx.Done()}
}

// KeepAliveOnce renews the lease. It fails with rpctypes.ErrLeaseNotFound.
func (c *leaseClient) KeepAliveOnce(ctx context.Context, id clientv3.LeaseID) (*clientv3.LeaseKeepAliveResponse, error) {
	if err := c.db.reach(ctx); err != nil {
		return nil, rpctypes.Error(err)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	header := c.db.header(c.db.Revision())
	ttl, err := c.db.renewLease(int64(id))
	if err != nil {
		return nil, rpctypes.Error(err)
	}
	return &clientv3.LeaseKeepAliveResponse{ResponseHeader: header, ID: id, TTL: ttl}, nil
}

// KeepAlive renews the lease at once and then three times in its time to live,
// until ctx, the client or the lease ends; then it closes the channel. Responses
// that nobody takes are dropped when the channel is full.
//
// As upstream's, it does not fail for a lease that does not exist: the channel is
// closed at once. It fails when the client is closed.
func (c *leaseClient) KeepAlive(ctx context.Context, id clientv3.LeaseID) (<-chan *clientv3.LeaseKeepAliveResponse, error) {
	select {
	case <-c.done:
		return nil, clientv3.ErrKeepAliveHalted{Reason: errors.New("the client is closed")}
	default:
	}
	out := make(chan *clientv3.LeaseKeepAliveResponse, clientv3.LeaseResponseChSize)
	if !c.db.start() {
		return nil, clientv3.ErrKeepAliveHalted{Reason: rpctypes.ErrStopped}
	}
	go func() {
		defer c.db.running.Done()
		defer close(out)
		for {
			r, err := c.KeepAliveOnce(ctx, id)
			if err != nil {
				return
			}
			select {
			case out <- r:
			default:
			}
			t := c.db.clock.NewTimer(time.Duration(r.TTL) * time.Second / 3)
			select {
			case <-t.C():
			case <-ctx.Done():
			case <-c.done:
			case <-c.db.done:
			}
			t.Stop()
			select {
			case <-c.done:
				return
			default:
			}
		}
	}()
	return out, nil
}
