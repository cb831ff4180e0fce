package node

import (
	"context"
	"encoding/json"
	"fmt"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	genericapiserver "k8s.io/apiserver/pkg/server"
	clientset "k8s.io/client-go/kubernetes"
	aggregatorv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/metrics/pkg/apis/metrics"
	"k8s.io/metrics/pkg/apis/metrics/install"
	metricsv1beta1 "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// InstallMetrics adds the group metrics.k8s.io to a server, as metrics-server
// serves it behind the aggregator: what `kubectl top` and the horizontal Pod
// autoscaler ask. It must be called before the server is prepared to run; the
// figures are those of the nodes that run with d, and there are none before.
// The group's APIService is made by Nodes.Run. It fails if the server does not
// know the group's OpenAPI definitions.
func InstallMetrics(server *genericapiserver.GenericAPIServer, d *Dialer) error {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	codecs := serializer.NewCodecFactory(scheme)
	info := genericapiserver.NewDefaultAPIGroupInfo(metrics.GroupName, scheme, metav1.ParameterCodec, codecs)
	info.VersionedResourcesStorageMap["v1beta1"] = map[string]rest.Storage{
		"nodes": &nodeMetrics{metricsStorage{d, metrics.Resource("nodes")}},
		"pods":  &podMetrics{metricsStorage{d, metrics.Resource("pods")}},
	}
	d.mu.Lock()
	d.metrics = true
	d.mu.Unlock()
	return server.InstallAPIGroup(&info)
}

// metricsStorage is what the two resources have in common.
type metricsStorage struct {
	dialer   *Dialer
	resource schema.GroupResource
}

func (s metricsStorage) nodes() (*Nodes, error) {
	s.dialer.mu.Lock()
	defer s.dialer.mu.Unlock()
	if s.dialer.nodes == nil {
		return nil, apierrors.NewServiceUnavailable("no nodes report metrics yet")
	}
	return s.dialer.nodes, nil
}

func (s metricsStorage) Destroy() {}

func selectors(o *internalversion.ListOptions) (labels.Selector, fields.Selector) {
	l, f := labels.Everything(), fields.Everything()
	if o != nil && o.LabelSelector != nil {
		l = o.LabelSelector
	}
	if o != nil && o.FieldSelector != nil {
		f = o.FieldSelector
	}
	return l, f
}

type nodeMetrics struct{ metricsStorage }

var (
	_ rest.Getter               = &nodeMetrics{}
	_ rest.Lister               = &nodeMetrics{}
	_ rest.Scoper               = &nodeMetrics{}
	_ rest.KindProvider         = &nodeMetrics{}
	_ rest.SingularNameProvider = &nodeMetrics{}
	_ rest.Getter               = &podMetrics{}
	_ rest.Lister               = &podMetrics{}
	_ rest.Scoper               = &podMetrics{}
	_ rest.KindProvider         = &podMetrics{}
	_ rest.SingularNameProvider = &podMetrics{}
)

func (*nodeMetrics) New() runtime.Object     { return &metrics.NodeMetrics{} }
func (*nodeMetrics) NewList() runtime.Object { return &metrics.NodeMetricsList{} }
func (*nodeMetrics) Kind() string            { return "NodeMetrics" }
func (*nodeMetrics) NamespaceScoped() bool   { return false }
func (*nodeMetrics) GetSingularName() string { return "node" }

func (s *nodeMetrics) Get(_ context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	n, err := s.nodes()
	if err != nil {
		return nil, err
	}
	node, err := n.nodes.Get(name)
	if err != nil {
		return nil, err
	}
	m, ok := n.NodeUsage(node)
	if !ok {
		return nil, apierrors.NewNotFound(s.resource, name)
	}
	return &m, nil
}

func (s *nodeMetrics) List(_ context.Context, o *internalversion.ListOptions) (runtime.Object, error) {
	n, err := s.nodes()
	if err != nil {
		return nil, err
	}
	l, f := selectors(o)
	all, err := n.nodes.List(l)
	if err != nil {
		return nil, err
	}
	list := &metrics.NodeMetricsList{Items: []metrics.NodeMetrics{}}
	for _, node := range all {
		if m, ok := n.NodeUsage(node); ok && f.Matches(fields.Set{"metadata.name": node.Name}) {
			list.Items = append(list.Items, m)
		}
	}
	return list, nil
}

func (s *nodeMetrics) ConvertToTable(_ context.Context, obj, _ runtime.Object) (*metav1.Table, error) {
	t := usageTable(nil)
	items := []metrics.NodeMetrics{}
	switch m := obj.(type) {
	case *metrics.NodeMetrics:
		items = append(items, *m)
	case *metrics.NodeMetricsList:
		items = m.Items
	}
	for i := range items {
		t.Rows = append(t.Rows, row(&items[i], items[i].Name, items[i].Usage, items[i].Window))
	}
	return t, nil
}

type podMetrics struct{ metricsStorage }

func (*podMetrics) New() runtime.Object     { return &metrics.PodMetrics{} }
func (*podMetrics) NewList() runtime.Object { return &metrics.PodMetricsList{} }
func (*podMetrics) Kind() string            { return "PodMetrics" }
func (*podMetrics) NamespaceScoped() bool   { return true }
func (*podMetrics) GetSingularName() string { return "pod" }

func (s *podMetrics) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	n, err := s.nodes()
	if err != nil {
		return nil, err
	}
	obj, err := n.pods.Pods(genericapirequest.NamespaceValue(ctx)).Get(name)
	if err != nil {
		return nil, err
	}
	m, ok := n.PodUsage(obj)
	if !ok {
		return nil, apierrors.NewNotFound(s.resource, name)
	}
	return &m, nil
}

func (s *podMetrics) List(ctx context.Context, o *internalversion.ListOptions) (runtime.Object, error) {
	n, err := s.nodes()
	if err != nil {
		return nil, err
	}
	l, f := selectors(o)
	all, err := n.pods.Pods(genericapirequest.NamespaceValue(ctx)).List(l)
	if err != nil {
		return nil, err
	}
	list := &metrics.PodMetricsList{Items: []metrics.PodMetrics{}}
	for _, obj := range all {
		if m, ok := n.PodUsage(obj); ok && f.Matches(fields.Set{"metadata.name": obj.Name, "metadata.namespace": obj.Namespace}) {
			list.Items = append(list.Items, m)
		}
	}
	return list, nil
}

func (s *podMetrics) ConvertToTable(_ context.Context, obj, _ runtime.Object) (*metav1.Table, error) {
	t := usageTable(nil)
	items := []metrics.PodMetrics{}
	switch m := obj.(type) {
	case *metrics.PodMetrics:
		items = append(items, *m)
	case *metrics.PodMetricsList:
		items = m.Items
	}
	for i := range items {
		total := v1.ResourceList{}
		for _, c := range items[i].Containers {
			for name, q := range c.Usage {
				sum := total[name]
				sum.Add(q)
				total[name] = sum
			}
		}
		t.Rows = append(t.Rows, row(&items[i], items[i].Name, total, items[i].Window))
	}
	return t, nil
}

// usageTable has the columns that metrics-server prints.
func usageTable(rows []metav1.TableRow) *metav1.Table {
	return &metav1.Table{Rows: rows, ColumnDefinitions: []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: "Name of the resource"},
		{Name: "cpu", Type: "string"}, {Name: "memory", Type: "string"}, {Name: "Window", Type: "string"},
	}}
}

func row(obj runtime.Object, name string, usage v1.ResourceList, window metav1.Duration) metav1.TableRow {
	return metav1.TableRow{Object: runtime.RawExtension{Object: obj}, Cells: []any{name, usage.Cpu().String(), usage.Memory().String(), window.Duration.String()}}
}

// announceMetrics makes the APIService that sends requests for metrics.k8s.io
// to the API server itself.
func announceMetrics(ctx context.Context, client clientset.Interface) error {
	version := metricsv1beta1.SchemeGroupVersion
	body, err := json.Marshal(&aggregatorv1.APIService{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apiregistration.k8s.io/v1", Kind: "APIService"},
		ObjectMeta: metav1.ObjectMeta{Name: version.Version + "." + version.Group, Labels: map[string]string{"k8s-app": "metrics-server"}},
		Spec:       aggregatorv1.APIServiceSpec{Group: version.Group, Version: version.Version, GroupPriorityMinimum: 100, VersionPriority: 100},
	})
	if err != nil {
		return fmt.Errorf("describe the APIService of metrics: %w", err)
	}
	err = client.Discovery().RESTClient().Post().AbsPath("/apis/apiregistration.k8s.io/v1/apiservices").SetHeader("Content-Type", runtime.ContentTypeJSON).Body(body).Do(ctx).Error()
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("register the APIService of metrics: %w", err)
	}
	return nil
}
