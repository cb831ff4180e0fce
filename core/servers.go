package core

import (
	"fmt"
	_ "unsafe" // for go:linkname

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	genericapifilters "k8s.io/apiserver/pkg/endpoints/filters"
	"k8s.io/apiserver/pkg/registry/generic"
	genericapiserver "k8s.io/apiserver/pkg/server"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/apiserver/pkg/util/notfoundhandler"
	"k8s.io/client-go/kubernetes"
	aggregatorapiserver "k8s.io/kube-aggregator/pkg/apiserver"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/pkg/controlplane"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"
	"k8s.io/kubernetes/pkg/controlplane/controller/defaultservicecidr"
	"k8s.io/kubernetes/pkg/controlplane/controller/kubernetesservice"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/kubernetes/pkg/probe"
	"k8s.io/kubernetes/pkg/registry/core/componentstatus"

	"github.com/kubetab/kubetab/core/internal/itemjson"
)

// createServerChain connects the three servers as
// cmd/kube-apiserver/app.CreateServerChain does, and createKubeAPIServer makes
// the one of the built-in APIs as pkg/controlplane.CompletedConfig.New does:
// statement by statement, with two differences. What serves a group comes from
// upstream's providers with the serializer that upstream made for it, and is
// installed in the same call; between the two, lists get the serializer of
// core/internal/itemjson, and the component statuses those of the components that run
// in this process. There is no other place to say either.
// TestServersAreUpstreams fails when upstream's functions are no longer those
// that this follows.
func createServerChain(config app.CompletedConfig, writes *ownWrites, items *itemjson.Cache, components []string) (*aggregatorapiserver.APIAggregator, error) {
	notFound := notfoundhandler.New(config.KubeAPIs.ControlPlane.Generic.Serializer, genericapifilters.NoMuxAndDiscoveryIncompleteKey)
	extensions, err := config.ApiExtensions.New(genericapiserver.NewEmptyDelegateWithCustomHandler(notFound))
	if err != nil {
		return nil, fmt.Errorf("API extensions: %w", err)
	}
	if err := writes.follow(extensions.Informers.Apiextensions().V1().CustomResourceDefinitions().Informer()); err != nil {
		return nil, fmt.Errorf("API extensions: %w", err)
	}
	crds := config.ApiExtensions.GenericConfig.MergedResourceConfig.ResourceEnabled(apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"))
	kube, err := createKubeAPIServer(config.KubeAPIs, extensions.GenericAPIServer, items, components)
	if err != nil {
		return nil, err
	}
	return controlplaneapiserver.CreateAggregatorServer(config.Aggregator, kube, extensions.Informers.Apiextensions().V1().CustomResourceDefinitions(), crds, apiVersionPriorities)
}

// apiVersionPriorities is the order in which discovery tells of the groups and
// their versions. The link can go when upstream exports it.
//
//go:linkname apiVersionPriorities k8s.io/kubernetes/cmd/kube-apiserver/app.apiVersionPriorities
var apiVersionPriorities map[schema.GroupVersion]controlplaneapiserver.APIServicePriority

// createKubeAPIServer: see createServerChain. Upstream's New first checks that
// KubeletClientConfig is set; the check is left out here, because chain.go always
// sets it.
func createKubeAPIServer(config controlplane.CompletedConfig, delegate genericapiserver.DelegationTarget, items *itemjson.Cache, components []string) (*genericapiserver.GenericAPIServer, error) {
	server, err := config.ControlPlane.New(controlplaneapiserver.KubeAPIServer, delegate)
	if err != nil {
		return nil, err
	}
	client, err := kubernetes.NewForConfig(config.ControlPlane.Generic.LoopbackClientConfig)
	if err != nil {
		return nil, err
	}
	providers, err := config.StorageProviders(client)
	if err != nil {
		return nil, err
	}
	for i, provider := range providers {
		providers[i] = providing(provider, items, components)
	}
	if err := server.InstallAPIs(providers...); err != nil {
		return nil, err
	}

	_, publicPort, err := config.ControlPlane.Generic.SecureServing.HostPort()
	if err != nil {
		return nil, fmt.Errorf("failed to get listener address: %w", err)
	}
	address, endpoint := config.ControlPlane.Generic.PublicAddress, config.Extra.EndpointReconcilerConfig
	if err := endpoint.Reconciler.ValidateIP(address); err != nil {
		return nil, fmt.Errorf("cannot use public IP %s with endpoint reconciler: %w", address, err)
	}
	service := kubernetesservice.New(kubernetesservice.Config{
		PublicIP:                  address,
		EndpointReconciler:        endpoint.Reconciler,
		EndpointInterval:          endpoint.Interval,
		ServiceIP:                 config.Extra.APIServerServiceIP,
		ServicePort:               config.Extra.APIServerServicePort,
		PublicServicePort:         publicPort,
		KubernetesServiceNodePort: config.Extra.KubernetesServiceNodePort,
	}, client, config.ControlPlane.Extra.VersionedInformers.Core().V1().Services())
	server.GenericAPIServer.AddPostStartHookOrDie("bootstrap-controller", func(hook genericapiserver.PostStartHookContext) error {
		service.Start(hook.Done())
		return nil
	})
	server.GenericAPIServer.AddPreShutdownHookOrDie("stop-kubernetes-service-controller", func() error {
		service.Stop()
		return nil
	})
	if utilfeature.DefaultFeatureGate.Enabled(features.MultiCIDRServiceAllocator) {
		server.GenericAPIServer.AddPostStartHookOrDie("start-kubernetes-service-cidr-controller", func(hook genericapiserver.PostStartHookContext) error {
			defaultservicecidr.NewController(config.Extra.ServiceIPRange, config.Extra.SecondaryServiceIPRange, serviceCIDRClient{client}).Start(hook)
			return nil
		})
	}
	return server.GenericAPIServer, nil
}

// providing is provider with lists made by items, and the statuses of components. Upstream asks a provider
// whether it has a post-start hook.
func providing(provider controlplaneapiserver.RESTStorageProvider, items *itemjson.Cache, components []string) controlplaneapiserver.RESTStorageProvider {
	changed := changedProvider{provider, items, components}
	if hook, ok := provider.(genericapiserver.PostStartHookProvider); ok {
		return struct {
			changedProvider
			genericapiserver.PostStartHookProvider
		}{changed, hook}
	}
	return changed
}

type changedProvider struct {
	controlplaneapiserver.RESTStorageProvider
	items      *itemjson.Cache
	components []string
}

func (p changedProvider) NewRESTStorage(enabled serverstorage.APIResourceConfigSource, options generic.RESTOptionsGetter) (genericapiserver.APIGroupInfo, error) {
	info, err := p.RESTStorageProvider.NewRESTStorage(enabled, options)
	if err != nil {
		return info, err
	}
	if info.NegotiatedSerializer != nil { // a group that is off has none
		info.NegotiatedSerializer = p.items.Serving(info.NegotiatedSerializer)
	}
	if statuses, ok := info.VersionedResourcesStorageMap["v1"]["componentstatuses"].(*componentstatus.REST); ok {
		statuses.GetServersToValidate = running(statuses.GetServersToValidate, p.components)
	}
	return info, nil
}

// running is servers with those of components replaced. Upstream asks a port of the machine for each, at which nothing listens
// for components that are in this process.
func running(servers func() map[string]componentstatus.Server, components []string) func() map[string]componentstatus.Server {
	return func() map[string]componentstatus.Server {
		all := servers()
		for _, name := range components {
			all[name] = inProcess{}
		}
		return all
	}
}

// inProcess is a component that is as healthy as the process that answers.
type inProcess struct{}

func (inProcess) DoServerCheck() (probe.Result, string, error) { return probe.Success, "ok", nil }
