package core

import (
	"context"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	networkingv1client "k8s.io/client-go/kubernetes/typed/networking/v1"
)

// serviceCIDRClient is the client of upstream's controller of the default
// ServiceCIDR. A create that answers AlreadyExists returns the object that
// exists, where client-go's returns an empty one.
//
// The controller syncs twice at its start. The second time, its informer may not
// have heard yet of what the first has created, and then it creates the object
// again, takes the answer AlreadyExists for success, and compares what came with
// it to its flags: an empty object is reported by a Warning event of the reason
// KubernetesDefaultServiceCIDRInconsistent. A kube-apiserver is too slow for
// that: its first sync takes longer than the 10 ms that a new watch cache waits
// before it sends events. This can go when upstream's sync reads the object after
// AlreadyExists.
type serviceCIDRClient struct{ kubernetes.Interface }

func (c serviceCIDRClient) NetworkingV1() networkingv1client.NetworkingV1Interface {
	return serviceCIDRNetworking{c.Interface.NetworkingV1()}
}

type serviceCIDRNetworking struct {
	networkingv1client.NetworkingV1Interface
}

func (c serviceCIDRNetworking) ServiceCIDRs() networkingv1client.ServiceCIDRInterface {
	return serviceCIDRs{c.NetworkingV1Interface.ServiceCIDRs()}
}

type serviceCIDRs struct {
	networkingv1client.ServiceCIDRInterface
}

// Create returns the error of the create, or that of reading what exists.
func (c serviceCIDRs) Create(ctx context.Context, s *networkingv1.ServiceCIDR, o metav1.CreateOptions) (*networkingv1.ServiceCIDR, error) {
	created, err := c.ServiceCIDRInterface.Create(ctx, s, o)
	if !apierrors.IsAlreadyExists(err) {
		return created, err
	}
	exists, getErr := c.Get(ctx, s.Name, metav1.GetOptions{})
	if getErr != nil {
		return created, getErr
	}
	return exists, err
}
