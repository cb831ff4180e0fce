package controllers

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/client-go/discovery"
	clientset "k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/controller-manager/pkg/clientbuilder"
)

// rootCAClient is the name under which upstream's constructors ask for a
// client configuration only to read the root CA from it.
const rootCAClient = "root-ca-cert-publisher"

// identities gives each controller a client of its own identity: the service
// account in kube-system that RBAC's bootstrap roles are bound to, by
// impersonation. It is what kube-controller-manager does with
// --use-service-account-credentials, as kubeadm sets it, without a Secret or a
// token to renew for each; so a controller may do here what it may do in a
// cluster and nothing else, and audit and admission see who it is.
type identities struct {
	loopback *rest.Config
	rootCA   []byte
	// privileged is for controllers that start before RBAC's bootstrap roles
	// exist: they are the server itself, where their own identities would be
	// refused at first.
	privileged bool
}

var _ clientbuilder.ControllerClientBuilder = identities{}

// Config returns the configuration for the controller that upstream calls name.
func (i identities) Config(name string) (*rest.Config, error) {
	config := i.client(name)
	if name == rootCAClient {
		config.CAData = i.rootCA
	}
	return config, nil
}

func (i identities) client(name string) *rest.Config {
	config := rest.CopyConfig(i.loopback)
	config.UserAgent += "/" + name // rest.AddUserAgent would begin with the name of this program
	if i.privileged {
		return config
	}
	config.Impersonate = rest.ImpersonationConfig{UserName: serviceaccount.MakeUsername(metav1.NamespaceSystem, name)}
	return config
}

// Client returns a clientset for the controller that upstream calls name.
func (i identities) Client(name string) (clientset.Interface, error) {
	return clientset.NewForConfig(i.client(name)) // without the CA: a transport is given, and it has no TLS
}

// DiscoveryClient is like Client.
func (i identities) DiscoveryClient(name string) (discovery.DiscoveryInterface, error) {
	return discovery.NewDiscoveryClientForConfig(i.client(name))
}

// ConfigOrDie never dies: Config does not fail.
func (i identities) ConfigOrDie(name string) *rest.Config {
	config, _ := i.Config(name)
	return config
}

// ClientOrDie never dies: what could fail is the loopback configuration, with
// which New has already made a client. It ends the goroutine and not the
// process, as upstream's would.
func (i identities) ClientOrDie(name string) clientset.Interface {
	return clientset.NewForConfigOrDie(i.client(name))
}

// DiscoveryClientOrDie is like ClientOrDie.
func (i identities) DiscoveryClientOrDie(name string) discovery.DiscoveryInterface {
	return discovery.NewDiscoveryClientForConfigOrDie(i.client(name))
}
