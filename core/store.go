package core

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	_ "unsafe" // for go:linkname

	"go.etcd.io/etcd/client/v3/kubernetes"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	_ "k8s.io/apiserver/pkg/storage/storagebackend/factory" // holds the linked variable

	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/internal/records"
)

// newETCD3Client is where every upstream path (REST storage, port and IP
// allocators, health checks, compactor, monitors) gets its etcd client. It is
// the one seam between upstream and the store: everything above it stays
// upstream's own code. The link can go when upstream lets a caller of
// storagebackend/factory hand in a client.
//
//go:linkname newETCD3Client k8s.io/apiserver/pkg/storage/storagebackend/factory.newETCD3Client
var newETCD3Client func(storagebackend.TransportConfig) (*kubernetes.Client, error)

// stores finds the in-process store that a transport address names. Upstream's
// variable is one per process, so this has to be as well; what makes several
// engines work side by side is that each has an address of its own.
var stores = struct {
	once sync.Once
	seq  atomic.Int64
	byID sync.Map // string -> *etcd.DB
}{}

const storeScheme = "in-process://"

// registerStore gives db an address for storagebackend.TransportConfig and
// returns it with the function that takes it back. Addresses of any other form
// keep reaching a real etcd.
func registerStore(db *etcd.DB) (address string, unregister func()) {
	stores.once.Do(func() {
		dial := newETCD3Client
		newETCD3Client = func(c storagebackend.TransportConfig) (*kubernetes.Client, error) {
			if len(c.ServerList) != 1 || !strings.HasPrefix(c.ServerList[0], storeScheme) {
				return dial(c)
			}
			db, ok := stores.byID.Load(c.ServerList[0])
			if !ok {
				return nil, fmt.Errorf("the store %s has been closed", c.ServerList[0])
			}
			return db.(*etcd.DB).Client(), nil
		}
	})
	address = storeScheme + strconv.FormatInt(stores.seq.Add(1), 10)
	stores.byID.Store(address, db)
	return address, func() { stores.byID.Delete(address) }
}

// dialStore returns a client of the store at these addresses, in this process or
// not, which the caller closes.
func dialStore(servers []string) (*kubernetes.Client, error) {
	transport := storagebackend.NewDefaultConfig(records.Prefix, nil).Transport
	transport.ServerList = servers
	return newETCD3Client(transport)
}
