package manifests

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// cluster knows what other objects say about one.
type cluster struct {
	// selecting are the Services, as namespace/name, whose endpoints a controller finds.
	selecting map[string]bool
}

func newCluster(objects []*unstructured.Unstructured) cluster {
	c := cluster{selecting: map[string]bool{}}
	for _, o := range objects {
		if is(o, "", "Service") {
			selector, _, _ := unstructured.NestedMap(o.Object, "spec", "selector")
			c.selecting[o.GetNamespace()+"/"+o.GetName()] = len(selector) > 0
		}
	}
	return c
}

// is reports whether an object is of a kind; the version does not matter.
func is(o *unstructured.Unstructured, group, kind string) bool {
	gvk := o.GroupVersionKind()
	return gvk.Kind == kind && gvk.Group == group
}

// kinds that only parts of a cluster write, by group.
var unmade = map[string][]string{
	"":                          {"Event", "Node", "ComponentStatus"},
	"events.k8s.io":             {"Event"},
	"coordination.k8s.io":       {"Lease", "LeaseCandidate"},
	"networking.k8s.io":         {"IPAddress"},
	"storage.k8s.io":            {"CSINode", "CSIStorageCapacity", "VolumeAttachment"},
	"resource.k8s.io":           {"ResourceSlice"},
	"certificates.k8s.io":       {"PodCertificateRequest"},
	"storagemigration.k8s.io":   {"StorageVersionMigration"},
	"internal.apiserver.k8s.io": {"StorageVersion"},
}

// born are objects that every cluster has, by kind.
var born = map[string][]string{
	"Namespace":          {"default", "kube-system", "kube-public", "kube-node-lease"},
	"PriorityClass":      {"system-cluster-critical", "system-node-critical"},
	"ServiceCIDR":        {"kubernetes"},
	"ConfigMap":          {"kube-root-ca.crt", "kube-apiserver-legacy-service-account-token-tracking", "extension-apiserver-authentication"},
	"StorageClass":       {"standard"},
	"CSIDriver":          {"simulated.kubetab.dev"},
	"ClusterRoleBinding": {"kubetab-edit", "kubetab-view"},
}

// marks are labels and annotations of what the API server makes at each start.
var marks = []string{"kubernetes.io/bootstrapping", "apf.kubernetes.io/autoupdate-spec", "kube-aggregator.kubernetes.io/automanaged", "rbac.authorization.kubernetes.io/autoupdate"}

// isMade reports whether a person made an object, or what no part of a cluster makes again.
func (c cluster) isMade(o *unstructured.Unstructured) bool {
	name, namespace := o.GetName(), o.GetNamespace()
	labels, annotations := o.GetLabels(), o.GetAnnotations()
	switch {
	case o.GetDeletionTimestamp() != nil,
		slices.Contains(unmade[o.GroupVersionKind().Group], o.GetKind()),
		slices.Contains(born[o.GetKind()], name):
		return false
	}
	for _, owner := range o.GetOwnerReferences() {
		if owner.Controller != nil && *owner.Controller {
			return false
		}
	}
	for _, mark := range marks {
		_, labelled := labels[mark]
		_, annotated := annotations[mark]
		if labelled || annotated {
			return false
		}
	}
	switch {
	case is(o, "", "Service"):
		return namespace != "default" || name != "kubernetes"
	case is(o, "", "Endpoints"):
		return !c.selecting[namespace+"/"+name] && (namespace != "default" || name != "kubernetes")
	case is(o, "discovery.k8s.io", "EndpointSlice"):
		service := labels["kubernetes.io/service-name"]
		return !c.selecting[namespace+"/"+service] && (namespace != "default" || service != "kubernetes") &&
			!strings.HasPrefix(labels["endpointslice.kubernetes.io/managed-by"], "endpointslicemirroring-controller")
	case is(o, "", "ServiceAccount") && name == "default":
		return len(without(o.Object, "apiVersion", "kind", "metadata")) > 0 || len(labels)+len(annotations) > 0
	case is(o, "", "PersistentVolume"):
		return annotations["pv.kubernetes.io/provisioned-by"] == ""
	case is(o, "apiregistration.k8s.io", "APIService"):
		return name != "v1beta1.metrics.k8s.io"
	}
	return true
}

func without(fields map[string]any, names ...string) map[string]any {
	rest := map[string]any{}
	for name, value := range fields {
		if !slices.Contains(names, name) {
			rest[name] = value
		}
	}
	return rest
}
