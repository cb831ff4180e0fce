package core

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"sync"
	"time"

	"go.etcd.io/etcd/client/v3/kubernetes"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/version"

	"github.com/kubetab/kubetab/core/cluster"
	"github.com/kubetab/kubetab/core/controllers"
	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/internal/gates"
	"github.com/kubetab/kubetab/core/internal/node"
	"github.com/kubetab/kubetab/core/resume"
)

const (
	readyPoll    = 10 * time.Millisecond // how often Ready looks at /readyz
	handlerLimit = 10 * time.Second      // how long a request inside the engine waits for the handler
	startLimit   = 15 * time.Second      // how long Close waits for a start that has not finished
)

// apiServer is who the server is to itself, as upstream's loopback client.
var apiServer = &user.DefaultInfo{Name: user.APIServerUser, Groups: []string{user.AllAuthenticated, user.SystemPrivilegedGroup}}

// Engine is a running Kubernetes API server. Its methods are safe to call from
// several goroutines at once.
type Engine struct {
	handler   http.Handler
	inProcess *transport
	loopback  *rest.Config
	store     *etcd.DB // nil with a real etcd
	servers   []string // storage addresses, see store.go
	cluster   *cluster.Cluster
	point     *resume.Point
	loops     *controlLoops
	dialer    *node.Dialer

	started   chan struct{} // closed when all loops have been started, or have not
	closing   chan struct{} // closed by Close
	ended     chan struct{} // closed when everything that New started has ended
	err       error         // why the engine ended by itself; read after ended
	closeOnce sync.Once
}

// New builds the server chain over cfg's store and starts it. It returns before
// the server is ready: the handler answers at once, and /readyz and Ready say
// when the bootstrap objects exist and the caches are warm. The engine runs
// until Close or until ctx ends.
//
// It fails when cfg contradicts itself, when the store cannot be opened or
// reached, on an unknown feature gate, runtime-config or version, with
// ErrOtherGates, with resume.ErrKept, and with whatever upstream refuses to start on.
//
// It is long because it is the list of what an engine is made of, in the order in which
// one part needs another; what fails undoes what stands above it.
func New(ctx context.Context, cfg Config) (*Engine, error) {
	if cfg.Store != nil && len(cfg.EtcdServers) > 0 {
		return nil, errors.New("both an in-process store and etcd servers are given: choose one")
	}
	if len(cfg.Resume.Base)+len(cfg.Resume.Entries) > 0 && len(cfg.EtcdServers) > 0 {
		return nil, errors.New("entries are for an in-process store, and etcd servers are given")
	}
	if len(cfg.Resume.Base)+len(cfg.Resume.Entries) > 0 && cfg.Store != nil && cfg.Store.Revision() > 1 {
		return nil, ErrNotEmpty
	}
	if cfg.Resume.AwaitIdentity && len(cfg.EtcdServers) > 0 {
		return nil, errors.New("a copy of an engine cannot be renewed over etcd servers, which are not copied with it")
	}
	cfg = cfg.withDefaults()

	// What has been opened is closed in reverse, on failure here and otherwise
	// when the engine ends.
	var undo []func()
	release := func() {
		for i := len(undo) - 1; i >= 0; i-- {
			undo[i]()
		}
	}
	started := false
	defer func() {
		if !started {
			release()
		}
	}()

	effective, releaseGlobals, err := gates.Acquire(cfg.FeatureGates, cfg.EmulatedVersion)
	if err != nil {
		return nil, err
	}
	undo = append(undo, releaseGlobals)

	var store *etcd.DB
	servers := cfg.EtcdServers
	if len(servers) == 0 {
		store = cfg.Store
		if store == nil {
			if store, err = etcd.Open(etcd.Options{Observe: request.TrackStorageLatency, Tap: cfg.Resume.Tap}); err != nil {
				return nil, fmt.Errorf("open the store: %w", err)
			}
			undo = append(undo, func() { _ = store.Close() }) // in memory: nothing to lose
		}
		if err := cfg.Resume.Begin(store); err != nil {
			return nil, err
		}
		address, unregister := registerStore(store)
		undo = append(undo, unregister)
		servers = []string{address}
	}
	cfg.OnStage(StageStorage)

	id, err := newIdentity(cfg)
	if err != nil {
		return nil, err
	}
	tokens, err := newServiceAccountTokens(cfg.Keys.Issuer, id.ServiceAccountKey)
	if err != nil {
		return nil, err
	}

	authority := &clientAuthority{}
	authority.renew(id.CA)

	// The caller's context does not reach the run loop: it ends the engine the
	// way Close does.
	running, cancel := context.WithCancel(context.WithoutCancel(ctx))
	undo = append(undo, cancel)
	inProcess := newTransport(handlerLimit)
	loopback := &rest.Config{
		Host:               loopbackHost,
		Transport:          client{inProcess, apiServer},
		UserAgent:          userAgent(apiServerAgent),
		QPS:                -1, // no client-side limit: flow control is the server's
		DisableCompression: true,
		ContentConfig:      rest.ContentConfig{ContentType: protobuf},
	}
	listener := newAddressListener(cfg.Host)
	undo = append(undo, func() { _ = listener.Close() })

	dialer := node.NewDialer()
	// Before the chain, of which parts run from when they are built.
	loops, err := newControlLoops(cfg, id, loopback, client{inProcess, nil}, dialer, running.Done())
	if err != nil {
		return nil, err
	}
	caches := &watchCaches{}
	if store != nil {
		caches.missed = store.Missed
	}
	whole := cluster.New(cluster.Engine{
		Dial:      func() (*kubernetes.Client, error) { return dialStore(servers) },
		Stopped:   func() bool { return store != nil && store.Stopped() },
		Client:    loopback,
		Settings:  cfg.settings(),
		Clock:     cfg.Clock,
		Workspace: cfg.Workspace,
	})
	chain, err := chainConfig{Config: cfg, effective: effective, listener: listener, loopback: loopback, store: store, servers: servers, tokens: tokens, authority: authority, dialer: dialer, caches: caches, cluster: whole, done: running.Done()}.build()
	if err != nil {
		return nil, err
	}
	loops.informers = chain.informers
	prepared, err := chain.aggregator.PrepareRun()
	if err != nil {
		return nil, fmt.Errorf("prepare to run: %w", err)
	}
	var outside, inside http.Handler = chain.aggregator.GenericAPIServer.Handler, chain.aggregator.GenericAPIServer.Handler
	guard := newMemoryGuard(running, cfg.Memory, memoryOf{store}.bytes, func(ctx context.Context) error {
		_, err := compact(ctx, servers)
		return err
	})
	outside, inside = guard.wrap(outside, false), guard.wrap(inside, true)
	turns := newTurns()
	outside, inside = turns.wrap(outside, false), turns.wrap(inside, true)
	if cfg.Requests != nil {
		outside, inside = cfg.Requests.Wrap(outside, false), cfg.Requests.Wrap(inside, true)
	}
	inProcess.serve(inside)
	cfg.OnStage(StageAPIs)

	e := &Engine{
		handler:   outside,
		inProcess: inProcess,
		loopback:  loopback,
		store:     store,
		servers:   servers,
		cluster:   whole,
		loops:     loops,
		dialer:    dialer,
		started:   make(chan struct{}),
		closing:   make(chan struct{}),
		ended:     make(chan struct{}),
	}
	e.point = resume.NewPoint(resume.Engine{
		Store:   store,
		Started: e.started,
		Caches:  caches,
		Loops:   loops.hearing,
		Sign:    tokens.renew,
		Identify: func(id controllers.Identity) error {
			authority.renew(id.CA)
			return loops.identify(id)
		},
	})
	started = true
	e.run(ctx, running, cancel, cfg, prepared.Run, loops, func() {
		inProcess.stop()
		release()
	})
	return e, nil
}

// ErrOtherGates is returned by New when an engine that is open in this process
// runs with other feature gates or another emulated version. Upstream keeps
// both in variables of the process, so the second engine would change the
// first.
var ErrOtherGates = gates.ErrOther

// ErrNotEmpty is returned by New when Base and Entries of Config.Resume are for a store that
// holds a cluster already. That store is unchanged.
var ErrNotEmpty = errors.New("the store holds a cluster already, and another one is given to begin with")

// run starts the server's run loop and the control loops, and the goroutine that
// ends them: when Close is called, when the caller's context ends, or when one
// of them fails. It returns at once.
func (e *Engine) run(caller, serving context.Context, stopServing context.CancelFunc, cfg Config, serve func(context.Context) error, loops *controlLoops, release func()) {
	failed := make(chan error, 3) // one slot for each goroutine that can fail: server, start, nodes
	var server sync.WaitGroup
	server.Go(func() {
		// Upstream's run loop: it starts the hooks, and once its context has
		// ended it runs the pre-shutdown hooks, drains requests and watches,
		// and closes the storage clients.
		if err := serve(serving); err != nil {
			failed <- fmt.Errorf("API server: %w", err)
		}
	})
	controlling, stopControllers := context.WithCancel(serving)
	go func() {
		defer close(e.started)
		cfg.OnStage(StageControllers)
		ready := func(ctx context.Context) error {
			if err := e.Ready(ctx); err != nil {
				return err
			}
			cfg.OnStage(StageReady)
			return nil
		}
		if err := loops.start(controlling, ready, failed); err != nil && controlling.Err() == nil {
			failed <- err
		}
	}()
	go func() {
		select {
		case <-e.closing:
		case <-caller.Done():
		case e.err = <-failed:
		}
		// Requests that wait to write are let go: the start may wait for one,
		// and the server waits for all.
		e.point.End()
		// Upstream ends the process when a hook's context ends before the hook
		// is done, and when the namespace controller gets no answer while it is
		// built: the start is given the time to finish.
		select {
		case <-e.started:
		case <-time.After(startLimit):
		}
		// Controllers end before the server, as they do in a cluster: one that
		// asks a server that is shutting down is told to come back later, and
		// the garbage collector does, for minutes.
		stopControllers()
		<-e.started
		loops.wait()
		stopServing()
		server.Wait()
		loops.informers.Shutdown()
		release()
		close(e.ended)
	}()
}

// userAgent is the header User-Agent of component's requests. Its first word becomes the
// field manager of what the request writes, so it is the name that the component has in
// a cluster and not this program's.
func userAgent(component string) string {
	v := version.Get()
	return fmt.Sprintf("%s/%s (%s/%s) kubernetes/%s", component, v.GitVersion, runtime.GOOS, runtime.GOARCH, v.GitCommit)
}

// Handler returns the whole API: every path that kube-apiserver serves, with
// authentication, authorization, admission and audit. A request needs
// RequestURI and RemoteAddr as net/http sets them, and the response writer
// must implement http.Flusher and http.CloseNotifier for watches to stream.
func (e *Engine) Handler() http.Handler { return e.handler }

// RESTConfig returns a client configuration that reaches the engine without a
// socket, as system:apiserver in the group system:masters. It is a copy that
// the caller may change; a BearerToken set on it takes the place of that
// identity.
func (e *Engine) RESTConfig() *rest.Config { return rest.CopyConfig(e.loopback) }

// RESTConfigFor is RESTConfig as u, with only the rights that RBAC gives it. With a nil
// u, each request is authenticated by its own credentials; a request without any is from
// Config.DefaultUser, or anonymous.
func (e *Engine) RESTConfigFor(u user.Info) *rest.Config {
	config := e.RESTConfig()
	config.Transport = client{e.inProcess, u}
	return config
}

// Outside returns what brings requests to the addresses that machines outside of the cluster reach: node ports, host
// ports and load balancers, in plain HTTP or HTTPS. It fails as connections do, and with an error that has the method
// Advice for addresses inside.
func (e *Engine) Outside() http.RoundTripper { return e.dialer }

// ResumePoint is for a host that copies the memory of the engine, and goes on from the
// copy.
func (e *Engine) ResumePoint() *resume.Point { return e.point }

// Cluster is for what is done with the cluster as a whole: it saves it as a bundle, which
// the handler serves at bundle.Path, too, and counts the objects that no API shows.
func (e *Engine) Cluster() *cluster.Cluster { return e.cluster }

// Ready waits until /readyz answers ok. It returns ctx's error when that ends
// first, and the reason when the engine ends first.
func (e *Engine) Ready(ctx context.Context) error {
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, loopbackHost+"/readyz", nil)
		if err != nil {
			return err
		}
		if response, err := e.loopback.Transport.RoundTrip(r); err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-e.ended:
			return errors.Join(errors.New("the engine has ended"), e.err)
		case <-tick.C:
		}
	}
}

// Done is closed when the engine has ended: after Close, when the context that
// New was given ends, or by itself when the server or a controller fails. Close
// then returns the reason.
func (e *Engine) Done() <-chan struct{} { return e.ended }

// Close ends the engine: watches end cleanly, requests in flight finish, and
// every goroutine that New started has ended when it returns. A store that New
// was given stays open. Closing twice is harmless. It returns the reason if the
// server had ended by itself.
func (e *Engine) Close() error {
	e.closeOnce.Do(func() { close(e.closing) })
	<-e.ended
	return e.err
}
