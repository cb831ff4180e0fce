package etcd

import (
	"context"
	"fmt"
	"reflect"
	"unsafe"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/kubernetes"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Client returns a new client of the store.
//
// It is a clientv3.Client without a connection: KV and Lease are upstream's own
// wrappers over this store, so that options and errors are upstream's; Watcher and
// Maintenance are of this package, and so is the Kubernetes field, which does in
// one step what upstream's does with a general transaction. Cluster and Auth
// answer Unimplemented. Endpoints has one name, unique to this store, that nobody
// can dial.
//
// Closing the client ends its watches and keep-alives and does not close the
// store. As clientv3 has no connection to close here, its Close returns
// context.Canceled.
func (db *DB) Client() *kubernetes.Client {
	c := clientv3.NewCtxClient(context.Background())
	setEndpoints(c, db.endpoint)
	none := unimplemented{}
	c.KV = clientv3.NewKVFromKVClient(&kvClient{db}, nil)
	c.Watcher = newWatcherClient(db, c.Ctx())
	c.Lease = newLeaseClient(db, c.Ctx())
	c.Maintenance = maintenance{
		Maintenance: clientv3.NewMaintenanceFromMaintenanceClient(pb.NewMaintenanceClient(none), nil),
		db:          db,
	}
	c.Cluster = clientv3.NewClusterFromClusterClient(pb.NewClusterClient(none), nil)
	c.Auth = clientv3.NewAuthFromAuthClient(pb.NewAuthClient(none), nil)
	return &kubernetes.Client{Client: c, Kubernetes: &kubernetesClient{db}}
}

// setEndpoints sets what c.Endpoints returns. Upstream's checker for watch
// progress asks the status of each endpoint and does nothing without one.
// clientv3.Client.SetEndpoints cannot be used: it goes on to update a resolver,
// which a client made by NewCtxClient does not have, and panics. This can go when
// NewCtxClient takes an option for it.
func setEndpoints(c *clientv3.Client, endpoint string) {
	field := reflect.ValueOf(c).Elem().FieldByName("endpoints")
	if !field.IsValid() || field.Type() != reflect.TypeFor[[]string]() {
		panic(fmt.Sprintf("etcd: %T has no field endpoints []string any more", c))
	}
	*(*[]string)(unsafe.Pointer(field.UnsafeAddr())) = []string{endpoint}
}

// unimplemented is a connection on which every call fails.
type unimplemented struct{}

var _ grpc.ClientConnInterface = unimplemented{}

func (unimplemented) Invoke(_ context.Context, method string, _, _ any, _ ...grpc.CallOption) error {
	return errUnimplemented(method)
}

func (unimplemented) NewStream(_ context.Context, _ *grpc.StreamDesc, method string, _ ...grpc.CallOption) (grpc.ClientStream, error) {
	return nil, errUnimplemented(method)
}

func errUnimplemented(method string) error {
	return status.Errorf(codes.Unimplemented, "etcd in process: %s is not supported", method)
}
