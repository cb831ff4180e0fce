package controllers

import (
	"context"
	"fmt"
	"reflect"
	_ "unsafe" // for go:linkname

	batchinformers "k8s.io/client-go/informers/batch/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	schedulinginformers "k8s.io/client-go/informers/scheduling/v1beta1"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"k8s.io/kubernetes/pkg/controller/cronjob"
	"k8s.io/kubernetes/pkg/controller/job"
	"k8s.io/kubernetes/pkg/controller/tainteviction"
	"k8s.io/kubernetes/pkg/controller/ttlafterfinished"
	"k8s.io/utils/clock"
)

// The controllers in this file are those for which people wait: they go by
// Config.Clock when there is one. Upstream constructs them with the real clock
// and keeps it in fields for its own tests, which are set here before anything
// runs. Constructors are otherwise those of cmd/kube-controller-manager/app.

// newJobControllerWithClock is upstream's for its tests; the link can go when
// it is exported. The last two informers may be nil while the feature gate
// WorkloadWithJob is off.
//
//go:linkname newJobControllerWithClock k8s.io/kubernetes/pkg/controller/job.newControllerWithClock
func newJobControllerWithClock(context.Context, clientset.Interface, clock.WithTicker, coreinformers.PodInformer, batchinformers.JobInformer, schedulinginformers.WorkloadInformer, schedulinginformers.PodGroupInformer) (*job.Controller, error)

func (c *Controllers) jobs() app.ControllerConstructor {
	return func(ctx context.Context, shared app.ControllerContext, name string) (app.Controller, error) {
		client, err := shared.NewClient("job-controller")
		if err != nil {
			return nil, err
		}
		informers := shared.InformerFactory
		controller, err := newJobControllerWithClock(ctx, client, c.Clock, informers.Core().V1().Pods(), informers.Batch().V1().Jobs(),
			informers.Scheduling().V1beta1().Workloads(), informers.Scheduling().V1beta1().PodGroups())
		if err != nil {
			return nil, err
		}
		workers := int(shared.ComponentConfig.JobController.ConcurrentJobSyncs)
		return loop{name, func(ctx context.Context) { controller.Run(ctx, workers) }}, nil
	}
}

func (c *Controllers) cronJobs() app.ControllerConstructor {
	return func(ctx context.Context, shared app.ControllerContext, name string) (app.Controller, error) {
		client, err := shared.NewClient("cronjob-controller")
		if err != nil {
			return nil, err
		}
		controller, err := cronjob.NewControllerV2(ctx, shared.InformerFactory.Batch().V1().Jobs(), shared.InformerFactory.Batch().V1().CronJobs(), client)
		if err != nil {
			return nil, err
		}
		if err := setField(controller, "now", c.Clock.Now); err != nil {
			return nil, err
		}
		if err := c.setQueue(controller, "cronjob"); err != nil {
			return nil, err
		}
		workers := int(shared.ComponentConfig.CronJobController.ConcurrentCronJobSyncs)
		return loop{name, func(ctx context.Context) { controller.Run(ctx, workers) }}, nil
	}
}

func (c *Controllers) ttlAfterFinished() app.ControllerConstructor {
	return func(ctx context.Context, shared app.ControllerContext, name string) (app.Controller, error) {
		client, err := shared.NewClient("ttl-after-finished-controller")
		if err != nil {
			return nil, err
		}
		controller := ttlafterfinished.New(ctx, shared.InformerFactory.Batch().V1().Jobs(), client)
		if err := setField(controller, "clock", c.Clock); err != nil {
			return nil, err
		}
		if err := c.setQueue(controller, "ttl_jobs_to_delete"); err != nil {
			return nil, err
		}
		workers := int(shared.ComponentConfig.TTLAfterFinishedController.ConcurrentTTLSyncs)
		return loop{name, func(ctx context.Context) { controller.Run(ctx, workers) }}, nil
	}
}

func (c *Controllers) taintEviction() app.ControllerConstructor {
	return func(ctx context.Context, shared app.ControllerContext, name string) (app.Controller, error) {
		client, err := shared.NewClient("node-controller") // as upstream does
		if err != nil {
			return nil, err
		}
		controller, err := tainteviction.New(ctx, client, shared.InformerFactory.Core().V1().Pods(), shared.InformerFactory.Core().V1().Nodes(), name)
		if err != nil {
			return nil, err
		}
		queue, err := field[*tainteviction.TimedWorkerQueue](controller, "taintEvictionQueue")
		if err != nil {
			return nil, err
		}
		if err := setField(*queue, "clock", c.Clock); err != nil {
			return nil, err
		}
		return loop{name, controller.Run}, nil
	}
}

// setQueue gives controller a work queue whose delays go by the clock, with
// upstream's name and limits, in place of the one that it was constructed with.
func (c *Controllers) setQueue(controller any, name string) error {
	queue, err := field[workqueue.TypedRateLimitingInterface[string]](controller, "queue")
	if err != nil {
		return err
	}
	(*queue).ShutDown()
	*queue = workqueue.NewTypedRateLimitingQueueWithConfig(workqueue.DefaultTypedControllerRateLimiter[string](),
		workqueue.TypedRateLimitingQueueConfig[string]{Name: name, Clock: c.Clock})
	return nil
}

// setField sets the unexported field of *object, which nobody else may be using
// yet. It fails when there is no such field that takes a T.
func setField[T any](object any, name string, value T) error {
	f := reflect.ValueOf(object).Elem().FieldByName(name)
	if !f.IsValid() || !reflect.TypeFor[T]().AssignableTo(f.Type()) {
		return fmt.Errorf("upstream's %T has no field %s that takes a %v", object, name, reflect.TypeFor[T]())
	}
	reflect.NewAt(f.Type(), f.Addr().UnsafePointer()).Elem().Set(reflect.ValueOf(value))
	return nil
}

// field returns the unexported field of *object. It fails when there is none of
// the type T.
func field[T any](object any, name string) (*T, error) {
	f := reflect.ValueOf(object).Elem().FieldByName(name)
	if !f.IsValid() || f.Type() != reflect.TypeFor[T]() {
		return nil, fmt.Errorf("upstream's %T has no field %s of the type %v", object, name, reflect.TypeFor[T]())
	}
	return (*T)(f.Addr().UnsafePointer()), nil
}
