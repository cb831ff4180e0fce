package informerset

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/admissionregistration"
	"k8s.io/client-go/informers/apiserverinternal"
	"k8s.io/client-go/informers/apps"
	"k8s.io/client-go/informers/autoscaling"
	"k8s.io/client-go/informers/batch"
	"k8s.io/client-go/informers/certificates"
	"k8s.io/client-go/informers/coordination"
	"k8s.io/client-go/informers/core"
	"k8s.io/client-go/informers/discovery"
	"k8s.io/client-go/informers/events"
	"k8s.io/client-go/informers/extensions"
	"k8s.io/client-go/informers/flowcontrol"
	"k8s.io/client-go/informers/lifecycle"
	"k8s.io/client-go/informers/networking"
	"k8s.io/client-go/informers/node"
	"k8s.io/client-go/informers/policy"
	"k8s.io/client-go/informers/rbac"
	"k8s.io/client-go/informers/resource"
	"k8s.io/client-go/informers/scheduling"
	"k8s.io/client-go/informers/storage"
	"k8s.io/client-go/informers/storagemigration"
)

// Groups are the accessors of a SharedInformerFactory, by which callers ask for
// an informer by its type's name: a factory's own accessors would ask that
// factory, whoever embeds it.
type Groups struct {
	Factory informers.SharedInformerFactory
}

func (g Groups) Admissionregistration() admissionregistration.Interface {
	return admissionregistration.New(g.Factory, metav1.NamespaceAll, nil)
}

func (g Groups) Internal() apiserverinternal.Interface {
	return apiserverinternal.New(g.Factory, metav1.NamespaceAll, nil)
}

func (g Groups) Apps() apps.Interface {
	return apps.New(g.Factory, metav1.NamespaceAll, nil)
}

func (g Groups) Autoscaling() autoscaling.Interface {
	return autoscaling.New(g.Factory, metav1.NamespaceAll, nil)
}

func (g Groups) Batch() batch.Interface {
	return batch.New(g.Factory, metav1.NamespaceAll, nil)
}

func (g Groups) Certificates() certificates.Interface {
	return certificates.New(g.Factory, metav1.NamespaceAll, nil)
}

func (g Groups) Coordination() coordination.Interface {
	return coordination.New(g.Factory, metav1.NamespaceAll, nil)
}

func (g Groups) Core() core.Interface {
	return core.New(g.Factory, metav1.NamespaceAll, nil)
}

func (g Groups) Discovery() discovery.Interface {
	return discovery.New(g.Factory, metav1.NamespaceAll, nil)
}

func (g Groups) Events() events.Interface {
	return events.New(g.Factory, metav1.NamespaceAll, nil)
}

func (g Groups) Extensions() extensions.Interface {
	return extensions.New(g.Factory, metav1.NamespaceAll, nil)
}

func (g Groups) Flowcontrol() flowcontrol.Interface {
	return flowcontrol.New(g.Factory, metav1.NamespaceAll, nil)
}

func (g Groups) Lifecycle() lifecycle.Interface {
	return lifecycle.New(g.Factory, metav1.NamespaceAll, nil)
}

func (g Groups) Networking() networking.Interface {
	return networking.New(g.Factory, metav1.NamespaceAll, nil)
}

func (g Groups) Node() node.Interface {
	return node.New(g.Factory, metav1.NamespaceAll, nil)
}

func (g Groups) Policy() policy.Interface {
	return policy.New(g.Factory, metav1.NamespaceAll, nil)
}

func (g Groups) Rbac() rbac.Interface {
	return rbac.New(g.Factory, metav1.NamespaceAll, nil)
}

func (g Groups) Resource() resource.Interface {
	return resource.New(g.Factory, metav1.NamespaceAll, nil)
}

func (g Groups) Scheduling() scheduling.Interface {
	return scheduling.New(g.Factory, metav1.NamespaceAll, nil)
}

func (g Groups) Storage() storage.Interface {
	return storage.New(g.Factory, metav1.NamespaceAll, nil)
}

func (g Groups) Storagemigration() storagemigration.Interface {
	return storagemigration.New(g.Factory, metav1.NamespaceAll, nil)
}
