package core

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubetab/kubetab/core/controllers"
	"github.com/kubetab/kubetab/core/internal/informerset"
	"github.com/kubetab/kubetab/core/internal/node"
	"github.com/kubetab/kubetab/core/internal/scheduling"
)

// controlLoops are the controllers, the scheduler and the nodes: all that works
// on the server as its client, and ends before it does.
type controlLoops struct {
	cfg         Config
	loopback    *rest.Config
	pods        http.RoundTripper               // to the server for containers, which bring their credentials
	informers   informers.SharedInformerFactory // the API server's own, set before start
	serving     <-chan struct{}                 // closed when the server ends, and with it the informers
	dialer      *node.Dialer                    // the server's way to kubelets and Pods
	controllers *controllers.Controllers
	running     sync.WaitGroup      // the scheduler and the nodes
	ctx         context.Context     // start's
	views       []*informerset.Held // what all of them hear through; set by start
}

// newControlLoops fails on a name in cfg.Controllers that upstream does not
// have or that cannot run here, and on a root CA that is no certificate.
func newControlLoops(cfg Config, id controllers.Identity, loopback *rest.Config, pods http.RoundTripper, dialer *node.Dialer, serving <-chan struct{}) (*controlLoops, error) {
	all, err := controllers.New(controllers.Config{
		Loopback:      as(controllerManager, loopback),
		Enabled:       cfg.Controllers,
		Identity:      id,
		AwaitIdentity: cfg.Resume.AwaitIdentity,
		ClusterCIDR:   cfg.ClusterCIDR,
		Clock:         cfg.Clock,
	})
	if err != nil {
		return nil, err
	}
	return &controlLoops{cfg: cfg, loopback: loopback, pods: pods, serving: serving, dialer: dialer, controllers: all}, nil
}

// as is loopback for a component, which the server knows by its user agent.
func as(component string, loopback *rest.Config) *rest.Config {
	config := rest.CopyConfig(loopback)
	config.UserAgent = userAgent(component)
	return config
}

// start runs the loops until ctx ends; wait waits for them. It returns when
// all have been started. What ends the nodes before ctx does is sent to failed.
func (l *controlLoops) start(ctx context.Context, ready func(context.Context) error, failed chan<- error) error {
	l.ctx = ctx
	if err := l.controllers.Start(ctx, l.informers, l.serving, ready); err != nil {
		return fmt.Errorf("controllers: %w", err)
	}
	l.views = l.controllers.Views()
	shared := l.controllers.Informers()
	if l.cfg.Nodes > 0 {
		if err := l.startNodes(ctx, shared, failed); err != nil {
			return fmt.Errorf("nodes: %w", err)
		}
	}
	if l.cfg.NoScheduler {
		return nil
	}
	settings := scheduling.Config{Loopback: as(kubeScheduler, l.loopback), Informers: shared}
	if l.cfg.Clock != nil {
		settings.Clock = l.cfg.Clock
	}
	scheduler, err := scheduling.New(ctx, settings)
	if err != nil {
		return fmt.Errorf("scheduler: %w", err)
	}
	l.views = append(l.views, scheduler.View())
	l.running.Go(func() { scheduler.Run(ctx) })
	return nil
}

// startNodes returns when all nodes are registered, so that the scheduler has
// all to choose from for the first Pod, or when they have ended.
func (l *controlLoops) startNodes(ctx context.Context, inf informers.SharedInformerFactory, failed chan<- error) error {
	client, err := clientset.NewForConfig(as(kubelet, l.loopback))
	if err != nil {
		return err
	}
	view := informerset.Hold(ctx, inf)
	nodes, err := node.New(node.Config{Client: client, Informers: view, Clock: l.cfg.Clock, Count: l.cfg.Nodes, Storage: l.cfg.NodeStorage, Dialer: l.dialer, API: l.pods})
	if err != nil {
		return err
	}
	view.Release()
	l.views = append(l.views, view)
	ended := make(chan struct{})
	l.running.Go(func() {
		defer close(ended)
		if err := nodes.Run(ctx); err != nil && ctx.Err() == nil {
			failed <- fmt.Errorf("nodes: %w", err)
		}
	})
	select {
	case <-nodes.Registered():
	case <-ended:
	}
	return nil
}

// hearing returns what all loops hear through, and the context that they run in. It
// must not be called before start has returned.
func (l *controlLoops) hearing() (context.Context, []*informerset.Held) { return l.ctx, l.views }

// identify starts the controllers that have been waiting for an identity. It
// must not be called before start has returned.
func (l *controlLoops) identify(id controllers.Identity) error {
	if err := context.Cause(l.ctx); err != nil {
		return err
	}
	if err := l.controllers.StartIdentified(l.ctx, id); err != nil {
		return fmt.Errorf("controllers: %w", err)
	}
	return nil
}

func (l *controlLoops) wait() {
	l.running.Wait()
	l.controllers.Wait()
}
