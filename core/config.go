package core

import (
	"crypto"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	auditinternal "k8s.io/apiserver/pkg/apis/audit"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/clock"
	"github.com/kubetab/kubetab/core/controllers"
	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/requestlog"
	"github.com/kubetab/kubetab/core/resume"
)

// Stage names a part of the start, in the order in which they are reported.
type Stage string

const (
	// StageStorage: the store is open.
	StageStorage Stage = "storage"
	// StageAPIs: every API group is installed and the handler answers.
	StageAPIs Stage = "apis"
	// StageControllers: the bootstrap hooks have been started, and with them
	// the controllers.
	StageControllers Stage = "controllers"
	// StageReady: /readyz has answered ok for the first time.
	StageReady Stage = "ready"
)

// Config says what an Engine is made of. The zero value works: an API server
// in memory that admits nobody but anonymous users and its own loopback client.
type Config struct {
	// Store is the in-process etcd to keep records in. The engine does not
	// close it. Nil means a fresh one in memory, which ends with the engine.
	Store *etcd.DB
	// EtcdServers are the client URLs of a real etcd to use instead, as in
	// kube-apiserver's --etcd-servers. With it Store must be nil.
	EtcdServers []string

	// Resume is for a host that keeps the cluster from one program to the next, or that
	// copies the memory of the engine. The zero value is for all others.
	Resume resume.Config

	// Workspace, if set, returns the files that go into a bundle beside the objects,
	// sorted by path. Kubeconfigs must not be among them.
	Workspace func() ([]bundle.File, error)

	// DefaultUser is the user of a request without any credentials. Nil means
	// system:anonymous, as in kube-apiserver.
	DefaultUser user.Info
	// Tokens maps static bearer tokens to users, as --token-auth-file does.
	Tokens map[string]user.Info
	// ClusterRoleBindings are reconciled at every start together with upstream's
	// own. Config.Admit adds those of people.All.
	ClusterRoleBindings []rbacv1.ClusterRoleBinding
	// Keys are the keys and certificates of the cluster. The zero value is for a cluster
	// that ends with the engine.
	Keys Keys
	// Controllers turns controllers on and off by name, as --controllers of
	// kube-controller-manager does: "*" are all that are on by default, "-foo"
	// turns foo off. Empty means "*".
	Controllers []string
	// NoScheduler leaves Pods unscheduled.
	NoScheduler bool
	// ClusterCIDR is the range that Nodes get their podCIDR from. Empty means
	// that they get none.
	ClusterCIDR string
	// Host is the host:port under which clients outside reach the server, as it
	// appears in discovery. Empty means 10.0.0.1:6443, an address that only
	// exists in name.
	Host string

	// Audit says what is audited, and where the events go. The zero value is nothing.
	Audit Audit
	// Requests, if set, remembers the last requests for people to look at, and
	// their audit events. The caller serves it where it wants to; see its package.
	Requests *requestlog.Log

	// FeatureGates sets upstream feature gates by name. They are global to the
	// process: New fails when another engine in it runs with different ones.
	FeatureGates map[string]bool
	// EmulatedVersion, such as "1.36", is the version whose APIs and features
	// are offered, as --emulated-version. It is global to the process, too.
	EmulatedVersion string
	// RuntimeConfig turns API groups, versions and resources on and off, as
	// --runtime-config: "api/all": "true", "batch/v1": "false".
	RuntimeConfig map[string]string

	// Profiling serves /debug/pprof and /debug/flags/v, as kube-apiserver's --profiling does.
	// They are of the process, with everything else that runs in it.
	Profiling bool

	// CompactionInterval is how old a revision may grow before it is compacted
	// away. Zero means five minutes as in kube-apiserver; negative means never.
	CompactionInterval time.Duration

	// Nodes is how many simulated nodes there are. Zero means none.
	Nodes int
	// NodeStorage is how many bytes the files of all nodes may take together. They
	// are in the memory of this process. Zero means 1 GiB.
	NodeStorage int64
	// Memory is how many bytes the live objects of this process may take on its
	// heap. Beyond it, requests that would add to the store are answered with a
	// Status of code 507. Reading, deleting and small changes go on. Zero means no
	// limit.
	Memory uint64
	// FixedHeap says that the process cannot give memory back to the system. Dropping
	// memory that can be made again would then gain nothing, so the engine keeps it.
	// Caches are smaller.
	FixedHeap bool
	// Clock is the time of kubelets, the scheduler's back-off, jobs, cron jobs and
	// evictions; ClockPath changes it. The package comment of core/clock lists what uses
	// the real time all the same. Nil means the real time, and no ClockPath.
	Clock *clock.Clock

	// OnStage, if set, is called as the start proceeds, from the goroutine that
	// does the work. It must not block.
	OnStage func(Stage)
}

// Keys are the keys and certificates of a cluster, as a host keeps them in files. With an
// identity in Config.Resume, ServiceAccount, CA and RootCA are ignored: the identity has
// its own.
type Keys struct {
	// ServiceAccount signs service account tokens (RSA or ECDSA). Nil means
	// a fresh ECDSA P-256 key, with which tokens end with the engine.
	ServiceAccount crypto.Signer
	// Issuer is the URL named in service account tokens. Empty means
	// https://kubernetes.default.svc.cluster.local.
	Issuer string
	// CA signs certificate signing requests that have been approved. Nil means
	// a fresh one, whose certificates are worth nothing after the engine ends.
	CA *controllers.Authority
	// RootCA is the PEM certificate published to every namespace in the
	// ConfigMap kube-root-ca.crt, which every Pod mounts. Empty means CA's.
	RootCA []byte
	// ClientCA is a PEM bundle; a request whose TLS state carries a certificate
	// signed by it is from the certificate's common name and organizations. Empty
	// means CA's.
	ClientCA []byte
}

// Audit says what is audited, for a sink of audit events and for Config.Requests.
type Audit struct {
	// Sink receives audit events for requests, as far as Policy says. The engine runs
	// it and shuts it down.
	Sink audit.Backend
	// Policy is what to audit, for Sink and for Config.Requests. Nil means the
	// metadata of every request; with Requests alone, what its reader chooses.
	Policy *auditinternal.Policy
}

func (c Config) withDefaults() Config {
	if c.Keys.Issuer == "" {
		c.Keys.Issuer = "https://kubernetes.default.svc.cluster.local"
	}
	if c.Host == "" {
		c.Host = "10.0.0.1:6443"
	}
	if c.OnStage == nil {
		c.OnStage = func(Stage) {}
	}
	return c
}

// components are the names in component statuses of what runs in the engine's process, beside the API server and its store.
func (c Config) components() []string {
	if c.NoScheduler {
		return []string{"controller-manager"}
	}
	return []string{"controller-manager", "scheduler"}
}
