package controllers

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"sync"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	corelisters "k8s.io/client-go/listers/core/v1"
	cloudprovider "k8s.io/cloud-provider"
	"k8s.io/cloud-provider/controllers/service"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"k8s.io/utils/ptr"
)

// balancerRange are the addresses of load balancers. They are in the network of the nodes, whose own addresses
// core/internal/node/network gives out from its beginning.
var balancerRange = netip.MustParsePrefix("172.18.255.0/24")

// balancer gives Services of the type LoadBalancer addresses, as the cloud-controller-manager of a cloud does. The
// controller is upstream's and the cloud ours: what an address leads to is a matter of the network.
func (c *Controllers) balancer() app.ControllerConstructor {
	return func(_ context.Context, shared app.ControllerContext, name string) (app.Controller, error) {
		client, err := shared.NewClient("service-controller")
		if err != nil {
			return nil, err
		}
		core := shared.InformerFactory.Core().V1()
		balancers := &balancers{services: core.Services().Lister(), given: map[types.UID]string{}}
		controller, err := service.New(cloud{balancers: balancers}, client, core.Services(), core.Nodes(), "kubetab", utilfeature.DefaultFeatureGate)
		if err != nil {
			return nil, err
		}
		return loop{name, func(ctx context.Context) { controller.Run(ctx, 1, shared.ControllerManagerMetrics) }}, nil
	}
}

// cloud is one that has load balancers and nothing else: the controller asks it for nothing else.
type cloud struct {
	cloudprovider.Interface
	balancers *balancers
}

func (c cloud) LoadBalancer() (cloudprovider.LoadBalancer, bool) { return c.balancers, true }
func (cloud) ProviderName() string                               { return "kubetab" }

// balancers are the cloud's. It implements cloudprovider.LoadBalancer.
type balancers struct {
	services corelisters.ServiceLister

	mu    sync.Mutex
	given map[types.UID]string // addresses that Services have or are about to have
}

// GetLoadBalancer returns the addresses that a Service has.
func (b *balancers) GetLoadBalancer(_ context.Context, _ string, s *v1.Service) (*v1.LoadBalancerStatus, bool, error) {
	return &s.Status.LoadBalancer, own(s) != "", nil
}

// GetLoadBalancerName returns upstream's default name.
func (b *balancers) GetLoadBalancerName(_ context.Context, _ string, s *v1.Service) string {
	return cloudprovider.DefaultLoadBalancerName(s)
}

// EnsureLoadBalancer gives a Service an address, unless it has one. It fails when spec.loadBalancerIP is another Service's or
// out of the range, and when there is no address left.
func (b *balancers) EnsureLoadBalancer(_ context.Context, _ string, s *v1.Service, _ []*v1.Node) (*v1.LoadBalancerStatus, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	taken, err := b.takenLocked(s)
	if err != nil {
		return nil, err
	}
	address, err := choose(s, taken)
	if err != nil {
		return nil, err
	}
	b.given[s.UID] = address
	return &v1.LoadBalancerStatus{Ingress: []v1.LoadBalancerIngress{{IP: address, IPMode: ptr.To(v1.LoadBalancerIPModeVIP)}}}, nil
}

// takenLocked returns the addresses of all other Services.
func (b *balancers) takenLocked(s *v1.Service) (map[string]bool, error) {
	taken := map[string]bool{}
	for uid, address := range b.given {
		if uid != s.UID {
			taken[address] = true
		}
	}
	all, err := b.services.List(labels.Everything())
	if err != nil {
		return nil, err
	}
	for _, other := range all {
		if other.UID != s.UID {
			taken[own(other)] = true
		}
	}
	return taken, nil
}

// choose returns the address that a Service asks for, that it has, or the first that nobody has taken.
func choose(s *v1.Service, taken map[string]bool) (string, error) {
	if asked := s.Spec.LoadBalancerIP; asked != "" {
		if ip, err := netip.ParseAddr(asked); err != nil || !balancerRange.Contains(ip) {
			return "", fmt.Errorf("requested loadBalancer IP %q is not in %s", asked, balancerRange)
		}
		if taken[asked] {
			return "", fmt.Errorf("requested loadBalancer IP %q is not available", asked)
		}
		return asked, nil
	}
	if have := own(s); have != "" && !taken[have] {
		return have, nil
	}
	first := balancerRange.Addr().Next()
	for ip := first; balancerRange.Contains(ip.Next()); ip = ip.Next() {
		if !taken[ip.String()] {
			return ip.String(), nil
		}
	}
	return "", fmt.Errorf("no available IPs in %s", balancerRange)
}

// own returns the Service's address in the range, empty if it has none.
func own(s *v1.Service) string {
	i := slices.IndexFunc(s.Status.LoadBalancer.Ingress, func(i v1.LoadBalancerIngress) bool {
		ip, err := netip.ParseAddr(i.IP)
		return err == nil && balancerRange.Contains(ip)
	})
	if i < 0 {
		return ""
	}
	return s.Status.LoadBalancer.Ingress[i].IP
}

// UpdateLoadBalancer has nothing to do: the network knows the nodes.
func (b *balancers) UpdateLoadBalancer(context.Context, string, *v1.Service, []*v1.Node) error {
	return nil
}

// EnsureLoadBalancerDeleted gives the Service's address back.
func (b *balancers) EnsureLoadBalancerDeleted(_ context.Context, _ string, s *v1.Service) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.given, s.UID)
	return nil
}
