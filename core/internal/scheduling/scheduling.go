package scheduling

import (
	"context"
	"fmt"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/scheduler"
	"k8s.io/kubernetes/pkg/scheduler/apis/config/latest"
	"k8s.io/utils/clock"

	"github.com/kubetab/kubetab/core/internal/informerset"
)

// Config says what the scheduler works on.
type Config struct {
	// Loopback reaches the server as a member of system:masters: it must be
	// allowed to impersonate. Its UserAgent should be kube-scheduler's: its
	// first word is the field manager that the scheduler writes as.
	Loopback *rest.Config
	// Informers is the factory to share. Run starts what it adds to it.
	Informers informers.SharedInformerFactory
	// Clock is what back-off is measured by. Nil means the real one.
	Clock clock.WithTicker
}

// Scheduler is kube-scheduler with its default configuration.
type Scheduler struct {
	upstream  *scheduler.Scheduler
	informers *informerset.Held // they run already: see Hold
	//lint:ignore SA1019 the scheduler's own constructor takes recorders of this adapter
	events events.EventBroadcasterAdapter
}

// New builds the scheduler as kube-scheduler's app.Setup does. ctx must be the
// one given to Run, or live as long: parts of it start here. It asks the server
// for discovery, so the server must be ready. It fails when Loopback cannot be
// used and with whatever upstream refuses to start on.
func New(ctx context.Context, cfg Config) (*Scheduler, error) {
	// RBAC's bootstrap roles are bound to this user.
	loopback := rest.CopyConfig(cfg.Loopback)
	loopback.Impersonate = rest.ImpersonationConfig{UserName: user.KubeScheduler}
	client, err := clientset.NewForConfig(loopback)
	if err != nil {
		return nil, fmt.Errorf("scheduler: %w", err)
	}
	settings, err := latest.Default()
	if err != nil {
		return nil, fmt.Errorf("scheduler: upstream's default settings: %w", err)
	}
	if cfg.Clock == nil {
		cfg.Clock = clock.RealClock{}
	}

	ctx = klog.NewContext(ctx, klog.LoggerWithName(klog.FromContext(ctx), "kube-scheduler"))
	s := &Scheduler{informers: informerset.Hold(ctx, cfg.Informers), events: events.NewEventBroadcasterAdapterWithContext(ctx, client)}
	s.upstream, err = scheduler.New(ctx, client, unfinished{s.informers},
		nil, // kinds that no plugin of the default profile asks for
		func(name string) events.EventRecorderLogger { return s.events.NewRecorder(name) },
		scheduler.WithComponentConfigVersion(settings.APIVersion),
		scheduler.WithKubeConfig(loopback),
		scheduler.WithProfiles(settings.Profiles...),
		scheduler.WithPercentageOfNodesToScore(settings.PercentageOfNodesToScore),
		scheduler.WithPodMaxBackoffSeconds(settings.PodMaxBackoffSeconds),
		scheduler.WithPodInitialBackoffSeconds(settings.PodInitialBackoffSeconds),
		scheduler.WithParallelism(settings.Parallelism),
		scheduler.WithClock(cfg.Clock),
	)
	if err != nil {
		s.events.Shutdown()
		return nil, fmt.Errorf("scheduler: %w", err)
	}
	return s, nil
}

// View is what the scheduler hears through.
func (s *Scheduler) View() *informerset.Held { return s.informers }

// Run schedules until ctx ends. It first waits until the scheduler has seen
// every object there is, as kube-scheduler does.
func (s *Scheduler) Run(ctx context.Context) {
	s.events.StartRecordingToSink(ctx.Done())
	defer s.events.Shutdown()
	s.informers.StartWithContext(ctx)
	s.informers.Release()
	s.informers.WaitForCacheSyncWithContext(ctx)
	if err := s.upstream.WaitForHandlersSync(ctx); err != nil {
		return // ctx has ended
	}
	s.upstream.Run(ctx)
}
