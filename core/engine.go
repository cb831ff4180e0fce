package core

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/kubetab/kubetab/core/etcd"
)

// readyPoll is how often Ready looks at /readyz.
const readyPoll = 10 * time.Millisecond

// Engine is a running Kubernetes API server. Its methods are safe to call from
// several goroutines at once.
type Engine struct {
	handler  http.Handler
	loopback *rest.Config

	stop      context.CancelFunc
	ended     chan struct{} // closed when everything that New started has ended
	runErr    error         // why the server's run loop ended; read after ended
	closeOnce sync.Once
}

// New builds the server chain over cfg's store and starts it. It returns before
// the server is ready: the handler answers at once, and /readyz and Ready say
// when the bootstrap objects exist and the caches are warm. The engine runs
// until Close or until ctx ends.
//
// It fails when cfg contradicts itself, when the store cannot be opened or
// reached, on an unknown feature gate, runtime-config or version, with
// ErrOtherGates, and with whatever upstream refuses to start on.
func New(ctx context.Context, cfg Config) (*Engine, error) {
	if cfg.Store != nil && len(cfg.EtcdServers) > 0 {
		return nil, errors.New("both an in-process store and etcd servers are given: choose one")
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

	effective, releaseGlobals, err := acquireGlobals(cfg.FeatureGates, cfg.EmulatedVersion)
	if err != nil {
		return nil, err
	}
	undo = append(undo, releaseGlobals)

	servers := cfg.EtcdServers
	if len(servers) == 0 {
		store := cfg.Store
		if store == nil {
			if store, err = etcd.Open(etcd.Options{}); err != nil {
				return nil, fmt.Errorf("open the store: %w", err)
			}
			undo = append(undo, func() { _ = store.Close() }) // in memory: nothing to lose
		}
		address, unregister := registerStore(store)
		undo = append(undo, unregister)
		servers = []string{address}
	}
	cfg.OnStage(StageStorage)

	key := cfg.ServiceAccountKey
	if key == nil {
		if key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
			return nil, fmt.Errorf("generate a service account key: %w", err)
		}
	}
	tokens, err := newServiceAccountTokens(cfg.Issuer, key)
	if err != nil {
		return nil, err
	}

	ctx, cancel := context.WithCancel(ctx)
	undo = append(undo, cancel)
	inProcess := &transport{}
	loopback := &rest.Config{
		Host:               loopbackHost,
		Transport:          inProcess,
		BearerToken:        rand.Text(), // upstream makes its bearer system:apiserver in system:masters
		QPS:                -1,          // no client-side limit: flow control is the server's
		DisableCompression: true,
		ContentConfig:      rest.ContentConfig{ContentType: protobuf},
	}
	listener := newAddressListener(cfg.Host)
	undo = append(undo, func() { _ = listener.Close() })

	chain, err := chainConfig{Config: cfg, effective: effective, listener: listener, loopback: loopback, servers: servers, tokens: tokens}.build()
	if err != nil {
		return nil, err
	}
	prepared, err := chain.aggregator.PrepareRun()
	if err != nil {
		return nil, fmt.Errorf("prepare to run: %w", err)
	}
	controllers, err := newControllers(ctx, loopback, chain.informers, cfg.RootCA)
	if err != nil {
		return nil, err
	}
	inProcess.serve(chain.aggregator.GenericAPIServer.Handler)
	cfg.OnStage(StageAPIs)

	e := &Engine{
		handler:  chain.aggregator.GenericAPIServer.Handler,
		loopback: loopback,
		stop:     cancel,
		ended:    make(chan struct{}),
	}
	started = true
	var running sync.WaitGroup
	running.Go(func() {
		// Upstream's run loop: it starts the hooks, and once ctx has ended it
		// runs the pre-shutdown hooks, drains requests and watches, and closes
		// the storage clients.
		if err := prepared.Run(ctx); err != nil && ctx.Err() == nil {
			e.runErr = fmt.Errorf("the API server ended: %w", err)
			cancel()
		}
	})
	controllers.start(ctx)
	cfg.OnStage(StageControllers)
	running.Go(func() {
		if e.Ready(ctx) == nil {
			cfg.OnStage(StageReady)
		}
	})
	go func() {
		<-ctx.Done()
		running.Wait()
		inProcess.stop()
		controllers.wait()
		release()
		close(e.ended)
	}()
	return e, nil
}

// Handler returns the whole API: every path that kube-apiserver serves, with
// authentication, authorization, admission and audit. A request needs
// RequestURI and RemoteAddr as net/http sets them, and the response writer
// must implement http.Flusher and http.CloseNotifier for watches to stream.
func (e *Engine) Handler() http.Handler { return e.handler }

// RESTConfig returns a client configuration that reaches the engine without a
// socket, as system:apiserver in the group system:masters. It is a copy that
// the caller may change; BearerToken is what carries the identity.
func (e *Engine) RESTConfig() *rest.Config { return rest.CopyConfig(e.loopback) }

// Ready waits until /readyz answers ok. It returns ctx's error when that ends
// first, and the reason when the engine ends first.
func (e *Engine) Ready(ctx context.Context) error {
	tick := time.NewTicker(readyPoll)
	defer tick.Stop()
	client := &http.Client{Transport: e.loopback.Transport}
	for {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, loopbackHost+"/readyz", nil)
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+e.loopback.BearerToken)
		if response, err := client.Do(r); err == nil {
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
			return errors.Join(errors.New("the engine has ended"), e.runErr)
		case <-tick.C:
		}
	}
}

// Close ends the engine: watches end cleanly, requests in flight finish, and
// every goroutine that New started has ended when it returns. A store that New
// was given stays open. Closing twice is harmless. It returns the reason if the
// server had ended by itself.
func (e *Engine) Close() error {
	e.closeOnce.Do(e.stop)
	<-e.ended
	return e.runErr
}
