package core

import (
	"context"
	"net"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/kubernetes/pkg/controlplane/controller/defaultservicecidr"
)

// Where the controller's informer hears of the default ServiceCIDR after the
// second sync, that sync finds the object that exists, too: it applies its status
// once more. It did not when it took an empty one for it, and made a Warning event.
func TestDefaultServiceCIDRIsConsistent(t *testing.T) {
	client := fake.NewClientset()
	client.PrependWatchReactor("servicecidrs", func(clienttesting.Action) (bool, watch.Interface, error) {
		silent := watch.NewFakeWithChanSize(1, false)
		silent.Action(watch.Bookmark, &networkingv1.ServiceCIDR{ObjectMeta: metav1.ObjectMeta{
			ResourceVersion: "1", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
		}})
		return true, silent, nil
	})
	_, services, err := net.ParseCIDR("10.0.0.0/24")
	if err != nil {
		t.Fatal(err)
	}
	defaultservicecidr.NewController(*services, net.IPNet{}, serviceCIDRClient{client}).Start(t.Context())
	eventually(t, "the second sync applies the status", func(context.Context) (bool, error) {
		applied := 0
		for _, action := range client.Actions() {
			if action.Matches("patch", "servicecidrs/status") {
				applied++
			}
		}
		return applied == 2, nil
	})
}
