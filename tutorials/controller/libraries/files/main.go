// Greeter gives each Greeting its ConfigMap, as greeter.js does.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	applycore "k8s.io/client-go/applyconfigurations/core/v1"
	applymeta "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

const namespace = "controller-libraries"

var (
	resource = schema.GroupVersionResource{Group: "controller-libraries.example.com", Version: "v1", Resource: "greetings"}
	options  = metav1.ApplyOptions{FieldManager: "greeter", Force: true}
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	// Without KUBECONFIG: the service account of the Pod that it runs in.
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	config.ContentType = runtime.ContentTypeProtobuf // the dynamic client speaks JSON nevertheless
	typed, free := kubernetes.NewForConfigOrDie(config), dynamic.NewForConfigOrDie(config)

	custom := dynamicinformer.NewFilteredDynamicSharedInformerFactory(free, 0, namespace, nil)
	builtIn := informers.NewSharedInformerFactoryWithOptions(typed, 0, informers.WithNamespace(namespace))
	greetings, configMaps := custom.ForResource(resource), builtIn.Core().V1().ConfigMaps()

	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	changed := func(object any) {
		if o, err := cache.DeletionHandlingObjectToName(object); err == nil {
			queue.Add(strings.TrimPrefix(o.Name, "greeting-"))
		}
	}
	for _, informer := range []cache.SharedIndexInformer{greetings.Informer(), configMaps.Informer()} {
		handler := cache.ResourceEventHandlerFuncs{AddFunc: changed, UpdateFunc: func(_, o any) { changed(o) }, DeleteFunc: changed}
		if _, err := informer.AddEventHandler(handler); err != nil {
			return err
		}
	}
	custom.Start(ctx.Done())
	builtIn.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), greetings.Informer().HasSynced, configMaps.Informer().HasSynced) {
		return nil
	}

	reconcile := func(name string) error {
		object, err := greetings.Lister().ByNamespace(namespace).Get(name)
		if apierrors.IsNotFound(err) {
			return nil
		} else if err != nil {
			return err
		}
		greeting := object.(*unstructured.Unstructured)
		text, _, _ := unstructured.NestedString(greeting.Object, "spec", "text")
		configMap, err := configMaps.Lister().ConfigMaps(namespace).Get("greeting-" + name)
		if apierrors.IsNotFound(err) || err == nil && configMap.Data["text"] != text {
			owner := applymeta.OwnerReference().WithAPIVersion(greeting.GetAPIVersion()).WithKind(greeting.GetKind()).
				WithName(name).WithUID(greeting.GetUID()).WithController(true)
			wanted := applycore.ConfigMap("greeting-"+name, namespace).WithOwnerReferences(owner).WithData(map[string]string{"text": text})
			_, err = typed.CoreV1().ConfigMaps(namespace).Apply(ctx, wanted, options)
		}
		if err != nil {
			return err
		}
		generation := greeting.GetGeneration()
		if observed, _, _ := unstructured.NestedInt64(greeting.Object, "status", "observedGeneration"); observed == generation {
			return nil
		}
		report := &unstructured.Unstructured{Object: map[string]any{"status": map[string]any{"observedGeneration": generation}}}
		report.SetGroupVersionKind(greeting.GroupVersionKind())
		report.SetName(name)
		_, err = free.Resource(resource).Namespace(namespace).ApplyStatus(ctx, name, report, options)
		return err
	}

	context.AfterFunc(ctx, queue.ShutDown)
	for {
		name, ended := queue.Get()
		if ended {
			return nil
		}
		if err := reconcile(name); err != nil {
			log.Print(err)
			queue.AddRateLimited(name)
		} else {
			queue.Forget(name)
		}
		queue.Done(name)
	}
}
