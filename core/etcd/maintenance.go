package etcd

import (
	"context"

	clientv3 "go.etcd.io/etcd/client/v3"
)

// maintenance is the clientv3.Maintenance of a client. What it does not define
// answers Unimplemented.
type maintenance struct {
	clientv3.Maintenance
	db *DB
}

// Status reports the version, and the size of the store in bytes. It answers for
// any endpoint: upstream asks with the server list of its configuration. It fails
// with rpctypes.ErrStopped after Close.
func (m maintenance) Status(ctx context.Context, _ string) (*clientv3.StatusResponse, error) {
	if err := m.db.reach(ctx); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	size, inUse, err := m.db.Size()
	if err != nil {
		return nil, err
	}
	rev := m.db.Revision()
	return &clientv3.StatusResponse{
		Header:           m.db.header(rev),
		Version:          Version,
		StorageVersion:   storageVersion,
		DbSize:           size,
		DbSizeInUse:      inUse,
		Leader:           m.db.clusterID,
		RaftIndex:        uint64(rev),
		RaftAppliedIndex: uint64(rev),
		RaftTerm:         1,
	}, nil
}

// AlarmList answers that there are none.
func (m maintenance) AlarmList(ctx context.Context) (*clientv3.AlarmResponse, error) {
	if err := m.db.reach(ctx); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return &clientv3.AlarmResponse{Header: m.db.header(m.db.Revision())}, nil
}
