package core

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	apiextensionsapiserver "k8s.io/apiextensions-apiserver/pkg/apiserver"
	apiextensionsoptions "k8s.io/apiextensions-apiserver/pkg/cmd/server/options"
	apiextensionsopenapi "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/discovery/aggregated"
	openapinamer "k8s.io/apiserver/pkg/endpoints/openapi"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericfeatures "k8s.io/apiserver/pkg/features"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
	"k8s.io/apiserver/pkg/server/filters"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	serverstorage "k8s.io/apiserver/pkg/server/storage"
	"k8s.io/apiserver/pkg/storage/storagebackend"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	utilflowcontrol "k8s.io/apiserver/pkg/util/flowcontrol"
	"k8s.io/apiserver/pkg/util/openapi"
	"k8s.io/apiserver/pkg/util/proxy"
	"k8s.io/apiserver/pkg/util/webhook"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	basecompatibility "k8s.io/component-base/compatibility"
	aggregatorv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregatorv1beta1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1"
	aggregatorapiserver "k8s.io/kube-aggregator/pkg/apiserver"
	aggregatorscheme "k8s.io/kube-aggregator/pkg/apiserver/scheme"
	aggregatoropenapi "k8s.io/kube-aggregator/pkg/generated/openapi"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/capabilities"
	"k8s.io/kubernetes/pkg/controlplane"
	controlplaneapiserver "k8s.io/kubernetes/pkg/controlplane/apiserver"
	controlplaneadmission "k8s.io/kubernetes/pkg/controlplane/apiserver/admission"
	"k8s.io/kubernetes/pkg/controlplane/apiserver/options"
	"k8s.io/kubernetes/pkg/controlplane/controller/clusterauthenticationtrust"
	"k8s.io/kubernetes/pkg/controlplane/reconcilers"
	generatedopenapi "k8s.io/kubernetes/pkg/generated/openapi"
	"k8s.io/kubernetes/pkg/kubeapiserver"
	kubeadmission "k8s.io/kubernetes/pkg/kubeapiserver/admission"
	kubeoptions "k8s.io/kubernetes/pkg/kubeapiserver/options"
	kubeletclient "k8s.io/kubernetes/pkg/kubelet/client"
	"k8s.io/kubernetes/pkg/serviceaccount"

	"github.com/kubetab/kubetab/core/bundle"
	"github.com/kubetab/kubetab/core/cluster"
	"github.com/kubetab/kubetab/core/etcd"
	"github.com/kubetab/kubetab/core/internal/informerset"
	"github.com/kubetab/kubetab/core/internal/itemjson"
	"github.com/kubetab/kubetab/core/internal/node"
	"github.com/kubetab/kubetab/core/internal/node/network"
	"github.com/kubetab/kubetab/core/internal/records"
	"github.com/kubetab/kubetab/core/internal/settings"
)

const (
	eventTTL        = time.Hour        // kube-apiserver's default
	informerResync  = 10 * time.Minute // kube-apiserver's own informers
	kubeletPort     = 10250
	kubeletTimeout  = 5 * time.Second
	requestTimeout  = 60 * time.Second
	watchDrain      = 2 * time.Second // how long Close lets watches end by themselves
	protobuf        = runtime.ContentTypeProtobuf
	servicePort     = 443
	loopbackHost    = "http://in-process"
	keysURI         = "https://kubernetes.default.svc.cluster.local/openid/v1/jwks"
	flowConcurrency = 400 + 200 // kube-apiserver's in-flight limits, which flow control divides
)

// chain is the assembled server before it runs.
type chain struct {
	aggregator *aggregatorapiserver.APIAggregator
	informers  informers.SharedInformerFactory
}

// chainConfig is what one chain is built from: Config with its defaults
// resolved, and what the engine made for it.
type chainConfig struct {
	Config
	effective basecompatibility.EffectiveVersion
	listener  net.Listener
	loopback  *rest.Config
	store     *etcd.DB // nil with a real etcd
	servers   []string // storage addresses, see store.go
	tokens    *serviceAccountTokens
	authority *clientAuthority
	dialer    *node.Dialer
	caches    *watchCaches
	cluster   *cluster.Cluster
	done      <-chan struct{} // closed when the server is to end

	enablement *genericoptions.APIEnablementOptions // made by build
}

// build assembles apiextensions -> kube-apiserver -> aggregator as
// cmd/kube-apiserver/app.NewConfig and CreateServerChain do. The configuration is
// made by hand and not from upstream's options, which want certificates, files and
// egress; the chain itself is upstream's. It is long because upstream's two functions
// are: a move to another version compares it with them line by line.
func (c chainConfig) build() (*chain, error) {
	// Errors that can be found early are returned before upstream starts anything:
	// nothing can end the goroutines of a chain that is half built.
	var err error
	if c.enablement, err = settings.Enablement(c.RuntimeConfig); err != nil {
		return nil, err
	}
	clientCA, err := c.clientCA()
	if err != nil {
		return nil, err
	}
	client, err := clientset.NewForConfig(c.loopback)
	if err != nil {
		return nil, fmt.Errorf("loopback client: %w", err)
	}
	inf := informers.NewSharedInformerFactoryWithOptions(client, informerResync, informers.WithTransform(informerset.DropManagedFields))

	generic, err := c.generic(client, inf, clientCA)
	if err != nil {
		return nil, err
	}
	etcd, err := c.etcd()
	if err != nil {
		return nil, err
	}
	storage := kubeapiserver.NewStorageFactoryConfigEffectiveVersion(c.effective)
	storage.APIResourceConfig = generic.MergedResourceConfig
	storage.DefaultResourceEncoding.SetEffectiveVersion(c.effective)
	factory, err := storage.Complete(etcd).New()
	if err != nil {
		return nil, fmt.Errorf("storage factory: %w", err)
	}
	factory.StorageConfig.StorageObjectCountTracker = generic.StorageObjectCountTracker
	if err := etcd.ApplyWithStorageFactoryTo(factory, generic); err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	generic.RESTOptionsGetter = gridCaches{generic.RESTOptionsGetter, c.caches}
	etcd.SkipHealthEndpoints = true // the two other servers share the checks of this one

	addresses := &ownWrites{RoundTripper: c.loopback.Transport, done: c.done, awaits: allocates}
	if err := addresses.follow(inf.Networking().V1().IPAddresses().Informer()); err != nil {
		return nil, err
	}
	generic.LoopbackClientConfig = rest.CopyConfig(generic.LoopbackClientConfig)
	generic.LoopbackClientConfig.Transport = addresses
	kube, resolver, err := c.kube(generic, inf, factory, client, clientCA)
	if err != nil {
		return nil, err
	}
	writes := &ownWrites{RoundTripper: c.loopback.Transport, done: c.done, awaits: changes}
	extensions, err := c.extensions(*generic, etcd, inf, resolver, kube.ControlPlane.ProxyTransport, writes)
	if err != nil {
		return nil, err
	}
	aggregator, err := c.aggregator(*generic, etcd, inf, resolver, kube.ControlPlane.ProxyTransport)
	if err != nil {
		return nil, err
	}
	// Only kube-apiserver's own documents are built lazily: the other two have
	// one group each, and their OpenAPI services must exist for CRDs.
	generic.SkipOpenAPIInstallation = true

	completed, err := (&app.Config{KubeAPIs: kube, ApiExtensions: extensions, Aggregator: aggregator}).Complete()
	if err != nil {
		return nil, fmt.Errorf("complete the configuration: %w", err)
	}
	server, err := createServerChain(completed, writes, itemjson.New(c.listCache()), c.components())
	if err != nil {
		return nil, fmt.Errorf("create the server chain: %w", err)
	}

	// The set of disabled hooks is shared by the servers and asked only when a
	// hook is added: with the chain built, the names are free for our own.
	for name, hook := range bootstrapHooks(c.ClusterRoleBindings, inf.Rbac().V1()) {
		generic.DisabledPostStartHooks.Delete(name)
		if err := server.GenericAPIServer.AddPostStartHook(name, hook); err != nil {
			return nil, err
		}
	}
	kubeServer, ok := server.GenericAPIServer.NextDelegate().(*genericapiserver.GenericAPIServer)
	if !ok {
		return nil, fmt.Errorf("the aggregator delegates to %T, not to a generic API server", server.GenericAPIServer.NextDelegate())
	}
	if c.Nodes > 0 {
		if err := node.InstallMetrics(kubeServer, c.dialer); err != nil {
			return nil, fmt.Errorf("metrics: %w", err)
		}
	}
	if !c.FixedHeap {
		forgetDefinitions(generic.OpenAPIV3Config)
	}
	if err := installLazyOpenAPI(kubeServer, generic.OpenAPIConfig, generic.OpenAPIV3Config, c.identity()); err != nil {
		return nil, err
	}
	installMetrics(server.GenericAPIServer)
	installCompact(server.GenericAPIServer, c.servers)
	server.GenericAPIServer.Handler.NonGoRestfulMux.UnlistedHandle(bundle.Path, c.cluster)
	if c.store != nil {
		installEtcd(server.GenericAPIServer, c.store)
	}
	if c.Clock != nil {
		installClock(server.GenericAPIServer, c.Clock)
	}
	return &chain{aggregator: server, informers: inf}, nil
}

// listCache is how many bytes the kept JSON of list items may take. Half of it is the JSON
// of some ten thousand objects of a kilobyte, with a FixedHeap of a quarter of that.
func (c chainConfig) listCache() int {
	if c.FixedHeap {
		return 8 << 20
	}
	return 32 << 20
}

// identity names everything that changes the OpenAPI documents of built-in
// groups: the build, the emulated version, the gates and the runtime-config.
func (c chainConfig) identity() string {
	parts := []string{c.effective.Info().String(), c.EmulatedVersion}
	for name, on := range c.FeatureGates {
		parts = append(parts, fmt.Sprintf("gate %s=%t", name, on))
	}
	for name, value := range c.RuntimeConfig {
		parts = append(parts, fmt.Sprintf("runtime %s=%s", name, value))
	}
	slices.Sort(parts)
	return strings.Join(parts, "\n")
}

// generic is the part of the configuration that the three servers share, as
// controlplane/apiserver.BuildGenericConfig makes it.
func (c chainConfig) generic(client clientset.Interface, inf informers.SharedInformerFactory, clientCA dynamiccertificates.CAContentProvider) (*genericapiserver.Config, error) {
	codecs := legacyscheme.Codecs
	if utilfeature.DefaultFeatureGate.Enabled(genericfeatures.CBORServingAndStorage) {
		codecs = serializer.NewCodecFactory(legacyscheme.Scheme, serializer.WithSerializer(cbor.NewSerializerInfo))
	}
	g := genericapiserver.NewConfig(codecs)
	g.EffectiveVersion = c.effective
	g.FeatureGate = utilfeature.DefaultFeatureGate
	g.LoopbackClientConfig = c.loopback
	g.SecureServing = &genericapiserver.SecureServingInfo{Listener: c.listener}
	g.ExternalAddress = c.Host
	g.PublicAddress = network.ControlPlane()
	g.RequestTimeout = requestTimeout
	g.ShutdownWatchTerminationGracePeriod = watchDrain
	g.EnableProfiling = c.Profiling
	g.FlowControl = utilflowcontrol.New(inf, client.FlowcontrolV1(), flowConcurrency)
	for name := range bootstrapHooks(c.ClusterRoleBindings, inf.Rbac().V1()) {
		g.DisabledPostStartHooks.Insert(name)
	}

	if err := c.enablement.ApplyTo(g, controlplane.DefaultAPIResourceConfigSource(), legacyscheme.Scheme); err != nil {
		return nil, fmt.Errorf("runtime-config: %w", err)
	}

	c.document(g, generatedopenapi.GetOpenAPIDefinitions)
	g.LongRunningFunc = longRunning
	g.AggregatedDiscoveryGroupManager = aggregated.NewResourceManager("apis")

	var err error
	g.Authentication.APIAudiences = []string{c.tokens.issuer}
	if g.Authentication.Authenticator, err = newAuthenticator(c.Config, c.tokens, clientCA, c.authority, client, inf); err != nil {
		return nil, err
	}
	if g.Authorization.Authorizer, g.RuleResolver, err = newAuthorizer(inf); err != nil {
		return nil, err
	}
	if c.Requests != nil {
		g.Authorization.Authorizer = c.Requests.Authorizer(g.Authorization.Authorizer)
	}
	applyAudit(g, c.Config)
	return g, nil
}

// basicLongRunning is kube-apiserver's.
var basicLongRunning = filters.BasicLongRunningRequestCheck(
	sets.NewString("watch", "proxy"),
	sets.NewString("attach", "exec", "proxy", "log", "portforward"),
)

// longRunning reports whether a request may take longer than requestTimeout: kube-apiserver's,
// and who saves a cluster, which may have gigabytes.
func longRunning(r *http.Request, info *apirequest.RequestInfo) bool {
	return basicLongRunning(r, info) || info.Path == bundle.Path && r.Method == http.MethodGet
}

// document sets how a server's OpenAPI documents are made, from the definitions
// of the types in them.
func (c chainConfig) document(g *genericapiserver.Config, definitions common.GetOpenAPIDefinitions) {
	definitions = openapi.GetOpenAPIDefinitionsWithoutDisabledFeatures(definitions)
	namer := openapinamer.NewDefinitionNamer(legacyscheme.Scheme, apiextensionsapiserver.Scheme, aggregatorscheme.Scheme)
	g.OpenAPIConfig = genericapiserver.DefaultOpenAPIConfig(definitions, namer)
	g.OpenAPIConfig.Info.Title = "Kubernetes"
	g.OpenAPIConfig.SecurityDefinitions = &spec.SecurityDefinitions{"BearerToken": &spec.SecurityScheme{
		SecuritySchemeProps: spec.SecuritySchemeProps{Type: "apiKey", Name: "authorization", In: "header", Description: "Bearer Token authentication"},
	}}
	g.OpenAPIV3Config = genericapiserver.DefaultOpenAPIV3Config(definitions, namer)
	g.OpenAPIV3Config.Info.Title = "Kubernetes"
}

// clientCA is nil when no client CA is configured.
func (c chainConfig) clientCA() (dynamiccertificates.CAContentProvider, error) {
	if len(c.Keys.ClientCA) == 0 {
		return nil, nil
	}
	ca, err := dynamiccertificates.NewStaticCAContent("client-ca", c.Keys.ClientCA)
	if err != nil {
		return nil, fmt.Errorf("client CA: %w", err)
	}
	return ca, nil
}

func (c chainConfig) etcd() (*genericoptions.EtcdOptions, error) {
	e := genericoptions.NewEtcdOptions(storagebackend.NewDefaultConfig(records.Prefix, nil))
	e.DefaultStorageMediaType = protobuf
	e.StorageConfig.Transport.ServerList = c.servers
	e.StorageConfig.EventsHistoryWindow = max(e.StorageConfig.EventsHistoryWindow, requestTimeout+15*time.Second)
	switch {
	case c.CompactionInterval < 0:
		e.StorageConfig.CompactionInterval = 0
	case c.CompactionInterval > 0:
		e.StorageConfig.CompactionInterval = c.CompactionInterval
	}
	var err error
	if e.WatchCacheSizes, err = genericoptions.WriteWatchCacheSizes(kubeapiserver.DefaultWatchCacheSizes()); err != nil {
		return nil, fmt.Errorf("watch cache: %w", err)
	}
	return e, nil
}

// kube is the configuration of the built-in APIs, with admission.
func (c chainConfig) kube(g *genericapiserver.Config, inf informers.SharedInformerFactory, factory *serverstorage.DefaultStorageFactory, client clientset.Interface, clientCA dynamiccertificates.CAContentProvider) (*controlplane.Config, aggregatorapiserver.ServiceResolver, error) {
	capabilities.Setup(true, 0) // privileged Pods, as every distribution has them
	serviceaccount.RegisterMetrics()

	endpoints, err := proxy.NewEndpointSliceIndexerGetter(inf.Discovery().V1().EndpointSlices())
	if err != nil {
		return nil, nil, fmt.Errorf("endpoint slice getter: %w", err)
	}
	resolver := aggregatorapiserver.NewClusterIPServiceResolver(inf.Core().V1().Services().Lister())
	transport := controlplaneapiserver.CreateProxyTransport()
	kubelets := kubeletclient.KubeletClientConfig{Port: kubeletPort, HTTPTimeout: kubeletTimeout}
	if c.Nodes > 0 { // Pods, nodes and Services are in this process
		transport.DialContext = c.dialer.DialContext
		kubelets.Lookup = c.dialer.Lookup
		kubelets.PreferredAddressTypes = []string{"InternalIP", "Hostname"}
	}

	dyn, err := dynamic.NewForConfig(c.loopback)
	if err != nil {
		return nil, nil, fmt.Errorf("loopback client: %w", err)
	}
	admission := controlplaneadmission.Config{ExternalInformers: inf, LoopbackClientConfig: c.loopback, APIResourceConfig: g.MergedResourceConfig}
	initializers, err := admission.New(transport, nil, resolver, g.TracerProvider)
	if err != nil {
		return nil, nil, fmt.Errorf("admission: %w", err)
	}
	kubeInitializers, err := (&kubeadmission.Config{}).New()
	if err != nil {
		return nil, nil, fmt.Errorf("admission: %w", err)
	}
	err = kubeoptions.NewAdmissionOptions().ApplyTo(g, inf, client, dyn, utilfeature.DefaultFeatureGate, c.effective, append(initializers, kubeInitializers...)...)
	if err != nil {
		return nil, nil, fmt.Errorf("admission: %w", err)
	}

	extra := controlplaneapiserver.Extra{
		APIResourceConfigSource:        g.MergedResourceConfig,
		StorageFactory:                 factory,
		EventTTL:                       eventTTL,
		ProxyTransport:                 transport,
		EndpointSliceGetter:            endpoints,
		ServiceAccountIssuer:           c.tokens,
		ServiceAccountIssuerURL:        c.tokens.issuer,
		ServiceAccountPublicKeysGetter: c.tokens,
		// Where Pods find the keys of the issuer: at the API server's Service, and not at the address for clients outside.
		ServiceAccountJWKSURI: keysURI,
		// Tokens of clients that do not ask for a new one in time go on for a
		// year, with a warning in the audit log: kube-apiserver's default.
		ExtendExpiration:                    true,
		ServiceAccountExtendedMaxExpiration: serviceaccount.ExpirationExtensionSeconds * time.Second,
		// As kube-apiserver's own options add it.
		SystemNamespaces:   append(options.NewOptions().SystemNamespaces, corev1.NamespaceNodeLease),
		VersionedInformers: inf,
	}
	if clientCA != nil {
		extra.ClusterAuthenticationInfo = clusterauthenticationtrust.ClusterAuthenticationInfo{ClientCA: clientCA}
	}
	return &controlplane.Config{
		ControlPlane: controlplaneapiserver.Config{Generic: g, Extra: extra},
		Extra: controlplane.Extra{
			KubeletClientConfig: kubelets,
			// The one API server there is needs no lease that says it is
			// alive, to be the endpoint of its Service.
			EndpointReconcilerType: reconcilers.MasterCountReconcilerType,
			APIServerServicePort:   servicePort,
			MasterCount:            1,
		},
	}, resolver, nil
}

// extensions is the configuration of the CRD server, as
// controlplane/apiserver.CreateAPIExtensionsConfig makes it. Its controllers
// write by writes.
func (c chainConfig) extensions(g genericapiserver.Config, etcd *genericoptions.EtcdOptions, inf informers.SharedInformerFactory, resolver webhook.ServiceResolver, transport *http.Transport, writes *ownWrites) (*apiextensionsapiserver.Config, error) {
	g.PostStartHooks = map[string]genericapiserver.PostStartHookConfigEntry{}
	g.LoopbackClientConfig = rest.CopyConfig(c.loopback)
	g.LoopbackClientConfig.Transport = writes
	g.RESTOptionsGetter = nil
	e := *etcd
	e.StorageConfig.Codec = apiextensionsapiserver.Codecs.LegacyCodec(apiextensionsv1beta1.SchemeGroupVersion, apiextensionsv1.SchemeGroupVersion)
	e.StorageConfig.EncodeVersioner = runtime.NewMultiGroupVersioner(apiextensionsv1beta1.SchemeGroupVersion, schema.GroupKind{Group: apiextensionsv1beta1.GroupName})
	if err := e.ApplyTo(&g); err != nil {
		return nil, fmt.Errorf("apiextensions storage: %w", err)
	}
	g.RESTOptionsGetter = gridCaches{g.RESTOptionsGetter, c.caches}
	if err := c.enablement.ApplyTo(&g, apiextensionsapiserver.DefaultAPIResourceConfigSource(), apiextensionsapiserver.Scheme); err != nil {
		return nil, fmt.Errorf("runtime-config: %w", err)
	}
	// Its own types' definitions, as when it runs alone: those of all of
	// Kubernetes cost 20 ms and 7 MB, and the documents come out the same.
	c.document(&g, apiextensionsopenapi.GetOpenAPIDefinitions)
	return &apiextensionsapiserver.Config{
		GenericConfig: &genericapiserver.RecommendedConfig{Config: g, SharedInformerFactory: inf},
		ExtraConfig: apiextensionsapiserver.ExtraConfig{
			CRDRESTOptionsGetter: gridCaches{apiextensionsoptions.NewCRDRESTOptionsGetter(e, g.ResourceTransformers, g.StorageObjectCountTracker), c.caches},
			MasterCount:          1,
			AuthResolverWrapper:  webhook.NewDefaultAuthenticationInfoResolverWrapper(transport, nil, c.loopback, g.TracerProvider),
			ServiceResolver:      resolver,
		},
	}, nil
}

// aggregator is the configuration of the server in front, as
// controlplane/apiserver.CreateAggregatorConfig makes it.
func (c chainConfig) aggregator(g genericapiserver.Config, etcd *genericoptions.EtcdOptions, inf informers.SharedInformerFactory, resolver aggregatorapiserver.ServiceResolver, transport *http.Transport) (*aggregatorapiserver.Config, error) {
	g.PostStartHooks = map[string]genericapiserver.PostStartHookConfigEntry{}
	g.RESTOptionsGetter = nil
	g.SkipOpenAPIInstallation = true // the aggregator has a handler of its own
	e := *etcd
	e.StorageConfig.Codec = aggregatorscheme.Codecs.LegacyCodec(aggregatorv1.SchemeGroupVersion, aggregatorv1beta1.SchemeGroupVersion)
	e.StorageConfig.EncodeVersioner = runtime.NewMultiGroupVersioner(aggregatorv1.SchemeGroupVersion, schema.GroupKind{Group: aggregatorv1beta1.GroupName})
	if err := e.ApplyTo(&g); err != nil {
		return nil, fmt.Errorf("aggregator storage: %w", err)
	}
	g.RESTOptionsGetter = gridCaches{g.RESTOptionsGetter, c.caches}
	if err := c.enablement.ApplyTo(&g, aggregatorapiserver.DefaultAPIResourceConfigSource(), aggregatorscheme.Scheme); err != nil {
		return nil, fmt.Errorf("runtime-config: %w", err)
	}
	c.document(&g, aggregatoropenapi.GetOpenAPIDefinitions) // as for apiextensions
	return &aggregatorapiserver.Config{
		GenericConfig: &genericapiserver.RecommendedConfig{Config: g, SharedInformerFactory: inf},
		ExtraConfig: aggregatorapiserver.ExtraConfig{
			ServiceResolver:           resolver,
			ProxyTransport:            transport,
			RejectForwardingRedirects: true,
		},
	}, nil
}
