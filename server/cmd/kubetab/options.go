package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/kubetab/kubetab/web/headers"
)

// quiet is the verbosity at which klog prints nothing at all.
const quiet = -1

// options are the flags of `kubetab serve`.
type options struct {
	listen, http string
	dataDir      string
	from         string
	certDir      string
	etcdServers  []string
	kubeconfig   string
	static       string

	shareDir, shareTokenFile string
	fetchFrom                []string
	fetchFromGiven           bool

	tlsSANs       []string
	clientCAFile  string
	tokenAuthFile string

	runtimeConfig      cliflag.ConfigurationMap
	featureGates       map[string]bool
	emulatedVersion    string
	compactionInterval time.Duration

	nodes       int
	controllers []string
	scheduler   bool

	memoryLimit      resource.QuantityValue
	memoryLimitGiven bool

	auditLog, auditPolicy string
	profiling             bool
	drainTime             time.Duration
	verbosity             int

	staticGiven bool
}

func (o *options) add(f *pflag.FlagSet) {
	f.SortFlags = false
	o.runtimeConfig = cliflag.ConfigurationMap{}
	f.StringVar(&o.listen, "listen", "127.0.0.1:6443", "`host:port` of the Kubernetes API (HTTPS); port 0 picks a free one")
	f.StringVar(&o.http, "http", "127.0.0.1:8080", "`host:port` of the playground page (plain HTTP); empty serves no page")
	f.StringVar(&o.dataDir, "data-dir", "", "`folder` in which everything is kept across restarts (default: memory only)")
	f.StringSliceVar(&o.etcdServers, "etcd-servers", nil, "client `URLs` of a real etcd to keep everything in instead")
	f.StringVar(&o.from, "from", "", "`file` with the cluster to begin with, as kubetab bundle save or the page has written it")
	f.StringVar(&o.kubeconfig, "kubeconfig", "kubetab.kubeconfig", "`file` to write the administrator's kubeconfig to (mode 0600); empty writes none")
	f.StringVar(&o.static, "static", "", "`folder` of the built page (default: web/dist in the repository of this binary)")

	f.StringVar(&o.shareDir, "share-dir", "", "`folder` in which what visitors of the page send each other by short links is kept; without one, links hold everything themselves")
	f.StringVar(&o.shareTokenFile, "share-token-file", "", "`file` with the token with which DELETE /s/ID takes shared content down (default: nobody can)")
	f.StringSliceVar(&o.fetchFrom, "fetch-from", headers.FetchFrom(), "`origins` of other sites, such as https://files.example, that the page may fetch files from: for kubectl apply -f https://... in its terminal, and for ?bundle=ADDRESS")

	f.StringVar(&o.certDir, "cert-dir", "", "`folder` in which CA, certificate, signing key and token are kept (default: keys in --data-dir, otherwise fresh each time)")
	f.StringSliceVar(&o.tlsSANs, "tls-san", nil, "further host `names` or IP addresses for the serving certificate")
	f.StringVar(&o.clientCAFile, "client-ca-file", "", "PEM `file` of authorities whose client certificates are accepted, besides our own")
	f.StringVar(&o.tokenAuthFile, "token-auth-file", "", "CSV `file` of bearer tokens (token,user,uid,\"group1,group2\") accepted besides the administrator's")

	f.Var(&o.runtimeConfig, "runtime-config", "`list` of API versions to turn on or off, as in kube-apiserver: api/all=true, batch/v1=false, ...")
	f.Var(cliflag.NewMapStringBool(&o.featureGates), "feature-gates", "`list` of feature gates of Kubernetes: Name=true|false, ...")
	f.StringVar(&o.emulatedVersion, "emulated-version", "", "Kubernetes `version` whose APIs and features are offered, such as 1.36")
	f.DurationVar(&o.compactionInterval, "etcd-compaction-interval", 5*time.Minute, "`age` at which old revisions are compacted away; 0 keeps all of them")

	f.IntVar(&o.nodes, "nodes", 2, "`number` of simulated nodes; 0 for none")
	f.StringSliceVar(&o.controllers, "controllers", []string{"*"}, "`list` of controllers, as in kube-controller-manager: '*' are all, foo turns foo on, -foo turns it off")
	f.BoolVar(&o.scheduler, "scheduler", true, "whether Pods are scheduled")
	f.Var(&o.memoryLimit, "memory-limit", "`quantity` of memory, such as 2Gi, that the server may take: when objects take five eighths of it, what would add to them is refused with 507, and reading and deleting go on; 0 is no limit (default: GOMEMLIMIT, else the control group's limit, else half of the machine's memory)")

	f.StringVar(&o.auditLog, "audit-log", "", "`file` to append audit events to, one JSON object per line; - is standard output")
	f.StringVar(&o.auditPolicy, "audit-policy", "", "audit policy `file` (default: metadata of every request)")
	f.BoolVar(&o.profiling, "profiling", true, "serve /debug/pprof to those who may get it, as kube-apiserver does")
	f.DurationVar(&o.drainTime, "drain", 10*time.Second, "`time` that requests under way get to finish after SIGTERM")
	f.IntVarP(&o.verbosity, "v", "v", quiet, "verbosity of the log of Kubernetes on standard error: 0 for errors and warnings, up to 10; -1 is silent")
}

// complete checks what flags cannot say about each other and fills in defaults. Its errors are usage errors.
func (o *options) complete() error {
	switch {
	case o.dataDir != "" && len(o.etcdServers) > 0:
		return errors.New("--data-dir and --etcd-servers exclude each other: a real etcd keeps the data itself (use --cert-dir to keep the keys)")
	case o.from != "" && len(o.etcdServers) > 0:
		return errors.New("--from and --etcd-servers exclude each other: what a real etcd holds is not replaced")
	case o.listen == "":
		return errors.New("--listen is empty: give host:port, such as 127.0.0.1:6443")
	case o.shareDir != "" && o.http == "":
		return errors.New("--share-dir without --http: it is for visitors of the page")
	case o.shareTokenFile != "" && o.shareDir == "":
		return errors.New("--share-token-file without --share-dir: say where shared content is kept")
	case o.fetchFromGiven && len(o.fetchFrom) > 0 && o.http == "":
		return errors.New("--fetch-from without --http: it is for visitors of the page")
	case o.auditPolicy != "" && o.auditLog == "":
		return errors.New("--audit-policy without --audit-log: say where the events go")
	case o.drainTime <= 0:
		return fmt.Errorf("--drain %v: give a time above zero", o.drainTime)
	case o.nodes < 0:
		return fmt.Errorf("--nodes %d: give a number from 0 on", o.nodes)
	case o.memoryLimitGiven && o.memoryLimit.Value() != 0 && o.memoryLimit.Value() < leastMemory:
		return fmt.Errorf("--memory-limit %v: the server itself takes more: give %dMi at least, or 0 for no limit", &o.memoryLimit, leastMemory>>20)
	case o.compactionInterval < 0:
		return fmt.Errorf("--etcd-compaction-interval %v: give a time, or 0 for never", o.compactionInterval)
	case o.verbosity < quiet || o.verbosity > 10:
		return fmt.Errorf("-v %d: give a number from -1 to 10", o.verbosity)
	}
	if o.certDir == "" && o.dataDir != "" {
		o.certDir = filepath.Join(o.dataDir, "keys")
	}
	o.staticGiven = o.static != ""
	if !o.staticGiven {
		o.static = builtPage()
	}
	for _, san := range o.tlsSANs {
		if net.ParseIP(san) == nil && !isDNSName(san) {
			return fmt.Errorf("--tls-san %s: neither an IP address nor a host name", san)
		}
	}
	for _, from := range o.fetchFrom {
		if err := headers.CheckOrigin(from); err != nil {
			return fmt.Errorf("--fetch-from: %w", err)
		}
	}
	return nil
}

// builtPage returns web/dist in the repository whose bin/ this program is in, or "" when nobody has built it.
func builtPage() string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	if exe, err = filepath.EvalSymlinks(exe); err != nil {
		return ""
	}
	dir := filepath.Join(filepath.Dir(filepath.Dir(exe)), "web", "dist")
	if _, err := os.Stat(filepath.Join(dir, "index.html")); err != nil {
		return ""
	}
	return dir
}
