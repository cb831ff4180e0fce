package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/component-base/version"

	"github.com/kubetab/kubetab/core"
	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/clock"
	"github.com/kubetab/kubetab/core/cluster"
	"github.com/kubetab/kubetab/core/controllers"
	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/server"
)

// serviceIP is the address of the Service `kubernetes`, the first of the engine's service network.
const serviceIP = "10.0.0.1"

// etcdPatience is how long a real etcd may take to listen.
const etcdPatience = 10 * time.Second

func newServeCommand() *cobra.Command {
	var o options
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the Kubernetes API, and the playground page",
		Long: `serve starts the Kubernetes API on an HTTPS address and writes a kubeconfig for its administrator.
Beside it, on a plain HTTP address, it serves the playground page, whose API server runs inside the browser.

Everything is in memory and gone when the process ends, unless --data-dir or --etcd-servers says where to keep it.
A server whose memory is nearly full refuses what would add to it, with a Status of code 507; see --memory-limit.
SIGTERM or Ctrl-C ends watches cleanly, lets requests under way finish, and exits 0.`,
		Example: `  # An API in memory, on the default addresses; then, in another shell:
  kubetab serve
  export KUBECONFIG=$PWD/kubetab.kubeconfig; kubectl get namespaces

  # Keep everything in a folder
  kubetab serve --data-dir ~/.local/share/kubetab

  # On a real etcd
  kubetab serve --etcd-servers http://127.0.0.1:2379 --cert-dir keys

  # Begin with a cluster that was saved, here or in the page
  kubetab serve --from shop.kubetab

  # For a test: free ports, no page, a kubeconfig of its own
  kubetab serve --listen 127.0.0.1:0 --http '' --kubeconfig "$(mktemp)"

  # Every API there is, and an audit log
  kubetab serve --runtime-config api/all=true --audit-log audit.log`,
		Args: noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			return runServe(c, &o)
		},
	}
	o.add(c.Flags())
	return c
}

// runServe serves with the flags of c, which o has read.
func runServe(c *cobra.Command, o *options) error {
	o.memoryLimitGiven = c.Flags().Changed("memory-limit")
	o.fetchFromGiven = c.Flags().Changed("fetch-from")
	if err := o.complete(); err != nil {
		return usageError{err}
	}
	err := serve(c.Context(), *o, c.Flags(), c.OutOrStdout())
	if c.Context().Err() != nil && errors.Is(err, context.Canceled) {
		return nil // stopped while it was starting
	}
	return err
}

// serve opens everything in the order in which it is quickest to fail, serves until ctx ends, and closes it again in
// the opposite order: listeners, engine, store. It is long because that order is what it is about, and because what it
// opens is closed by its defers.
func serve(ctx context.Context, o options, flags *pflag.FlagSet, out io.Writer) (err error) {
	start := time.Now()
	closeLast := func(c io.Closer) {
		if closeErr := c.Close(); err == nil && closeErr != nil {
			err = fmt.Errorf("while stopping: %w", closeErr)
		}
	}
	logger, err := setUpLogging(o.verbosity)
	if err != nil {
		return err
	}
	neverExitWhileStopping(ctx)
	if o.kubeconfig != "" {
		if err := server.CheckKubeconfig(o.kubeconfig); err != nil {
			return err
		}
	}
	front := server.Frontend{DrainTime: o.drainTime, ErrorLog: logger}
	if front.API, err = server.Listen("listen", o.listen); err != nil {
		return err
	}
	defer front.API.Close() // a second close after Serve, with an error of no interest
	address := server.ClientAddress(front.API)
	if o.http != "" && (o.static != "" || o.staticGiven) {
		site, err := server.NewSite(o.static, "https://"+address, o.fetchFrom...)
		if err != nil {
			return err
		}
		if front.Page, err = server.Listen("http", o.http); err != nil {
			return err
		}
		defer front.Page.Close()
		front.Site = site
		if o.shareDir != "" {
			store, err := o.openShare(ctx)
			if err != nil {
				return err
			}
			defer closeLast(store)
			front.Site = server.WithShare(site, store.handler)
		}
	}

	config := core.Config{
		EtcdServers:        o.etcdServers,
		Host:               address,
		FeatureGates:       o.featureGates,
		RuntimeConfig:      o.runtimeConfig,
		EmulatedVersion:    o.emulatedVersion,
		CompactionInterval: o.compactionInterval,
		Nodes:              o.nodes,
		Controllers:        o.controllers,
		NoScheduler:        !o.scheduler,
		Profiling:          o.profiling,
		Clock:              clock.New(nil),
	}
	if o.compactionInterval == 0 {
		config.CompactionInterval = -1 // the flag says never as kube-apiserver's does, the field as a zero value must
	}
	if o.from != "" {
		if err := o.open(&config, flags, out); err != nil {
			return err
		}
	}
	// The store before the keys: it holds the lock on the folder that both are in.
	store := "in memory"
	switch {
	case o.dataDir != "":
		if config.Store, err = openStore(o.dataDir); err != nil {
			return err
		}
		defer closeLast(config.Store)
		store = "in " + o.dataDir
		if err := keepWorkspace(&config, filepath.Join(o.dataDir, "workspace")); err != nil {
			return err
		}
	case len(o.etcdServers) > 0:
		if err := server.CheckEtcd(ctx, o.etcdServers, etcdPatience); err != nil {
			return err
		}
		store = "on etcd"
	}
	keys, err := server.OpenKeys(o.certDir, server.Hosts(o.listen, serviceIP, o.tlsSANs), nil)
	if err != nil {
		return err
	}
	front.TLS = server.TLSConfig(keys)
	config.Keys.CA = &controllers.Authority{}
	config.Keys.CA.Certificate, config.Keys.CA.Key = keys.Authority()
	config.Keys.ServiceAccount = keys.ServiceAccountKey()
	if config.Tokens, err = staticTokens(o.tokenAuthFile); err != nil {
		return err
	}
	config.Admit(keys.Tokens())
	extra, err := clientAuthorities(o.clientCAFile)
	if err != nil {
		return err
	}
	config.Keys.ClientCA = keys.ClientCAs(extra)
	var auditFile io.Closer
	if config.Audit.Sink, config.Audit.Policy, auditFile, err = openAudit(o.auditLog, o.auditPolicy); err != nil {
		return err
	}
	defer closeLast(auditFile)

	o.limitMemory(&config)
	core.QuietWorkQueues()
	engine, err := core.New(ctx, config)
	if errors.Is(err, core.ErrNotEmpty) {
		return fmt.Errorf("--data-dir %s holds a cluster already, which --from would replace: leave --from out to go on with it, or choose another folder", o.dataDir)
	}
	if err != nil {
		return err
	}
	defer closeLast(limited{engine})
	front.Handler = engine.Handler()

	served := make(chan error, 1)
	serving, stop := context.WithCancel(ctx)
	defer stop()
	go func() { served <- front.Serve(serving) }()
	err = engine.Ready(ctx)
	if err == nil && o.kubeconfig != "" {
		err = server.WriteKubeconfig(o.kubeconfig, server.Kubeconfig{Server: "https://" + address, CA: keys.CA(), Tokens: keys.Tokens()})
	}
	if err != nil {
		stop()
		<-served
		return err
	}
	greet(out, o, front, store, time.Since(start))
	go giveBack(serving)
	select {
	case err := <-served:
		return err
	case <-engine.Done(): // by itself, or by the same signal; Close says which
		stop()
		return <-served
	}
}

// engineEnd is how long the engine may take to end when all its requests have.
const engineEnd = 10 * time.Second

// limited is an engine whose end is not waited for any longer than engineEnd. All that was acknowledged is in the store
// by then, so that an exit with a line about it is better than a process which only kill -9 ends.
type limited struct{ engine *core.Engine }

func (l limited) Close() error {
	ended := make(chan error, 1)
	go func() { ended <- l.engine.Close() }()
	select {
	case err := <-ended:
		return err
	case <-time.After(engineEnd):
		return fmt.Errorf("the engine has not ended in %v: nothing is lost", engineEnd)
	}
}

// openStore opens the in-process etcd in the folder dir.
func openStore(dir string) (*etcd.DB, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("--data-dir: %w", err)
	}
	path := filepath.Join(dir, "kubetab.db")
	db, err := etcd.Open(etcd.Options{Path: path, Observe: request.TrackStorageLatency})
	if errors.Is(err, etcd.ErrLocked) {
		return nil, fmt.Errorf("--data-dir %s: in use by another kubetab: stop it, or choose another folder", dir)
	}
	if err != nil {
		return nil, fmt.Errorf("--data-dir %s: cannot read the data: %w: restore a copy, or choose another folder", dir, err)
	}
	return db, nil
}

// keepWorkspace has the folder dir hold the files that config has from a bundle, and gives config those that are in it. A
// store that holds a cluster already has its files there. Files of anybody else are an error, and stay; those of the same
// bundle are of a start that did not come to its end.
func keepWorkspace(config *core.Config, dir string) error {
	if config.Workspace != nil && config.Store.Revision() <= 1 {
		if err := writeWorkspace(config, dir); err != nil {
			return fmt.Errorf("--data-dir: the files of the bundle: %w", err)
		}
	}
	config.Workspace = func() ([]bundle.File, error) { return cluster.ReadFiles(dir) }
	return nil
}

func writeWorkspace(config *core.Config, dir string) error {
	files, err := config.Workspace()
	if err != nil {
		return err
	}
	there, err := cluster.ReadFiles(dir)
	if err != nil {
		return err
	}
	same := func(a, b bundle.File) bool { return a.Path == b.Path && bytes.Equal(a.Data, b.Data) }
	if len(there) > 0 && !slices.EqualFunc(there, files, same) {
		return fmt.Errorf("%s holds other files: move them away", dir)
	}
	return cluster.WriteFiles(dir, files)
}

// greet prints what a user wants to know next.
func greet(out io.Writer, o options, front server.Frontend, store string, took time.Duration) {
	fmt.Fprintf(out, "Kubernetes %s, %s, ready in %.2f s\n", version.Get().GitVersion, store, took.Seconds())
	fmt.Fprintf(out, "  API         https://%s\n", server.ClientAddress(front.API))
	switch {
	case front.Page != nil:
		fmt.Fprintf(out, "  page        http://%s\n", server.ClientAddress(front.Page))
	case o.http != "":
		fmt.Fprintln(out, "  page        not built: run make build, or give --static DIR")
	}
	if o.kubeconfig == "" {
		return
	}
	path, err := filepath.Abs(o.kubeconfig)
	if err != nil {
		path = o.kubeconfig
	}
	fmt.Fprintf(out, "  kubeconfig  %s\n\n  export KUBECONFIG=%s\n", path, path)
}
