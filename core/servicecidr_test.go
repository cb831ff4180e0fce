package core

import (
	"slices"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What upstream's controller compares to its flags when it creates the default
// ServiceCIDR again is the one that exists. Without serviceCIDRClient it is empty,
// and the controller makes a Warning event of that.
func TestDefaultServiceCIDRIsConsistent(t *testing.T) {
	client := serviceCIDRClient{clientFor(t, sharedEngine(t))}.NetworkingV1().ServiceCIDRs()
	want, err := client.Get(t.Context(), "kubernetes", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := client.Create(t.Context(), &networkingv1.ServiceCIDR{
		ObjectMeta: metav1.ObjectMeta{Name: want.Name}, Spec: networkingv1.ServiceCIDRSpec{CIDRs: []string{"10.99.0.0/16"}},
	}, metav1.CreateOptions{})
	if !apierrors.IsAlreadyExists(err) {
		t.Fatalf("%v, want AlreadyExists", err)
	}
	if got.UID != want.UID || !slices.Equal(got.Spec.CIDRs, want.Spec.CIDRs) || len(want.Spec.CIDRs) == 0 {
		t.Errorf("%q of %q, want %q of %q", got.Spec.CIDRs, got.UID, want.Spec.CIDRs, want.UID)
	}
}
