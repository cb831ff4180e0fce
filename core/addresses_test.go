package core_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/kubetab/kubetab/core"
)

// TestNewServicesHaveTheirAddresses: who repair allocations find that of each new Service. They take Services in their order, so
// that they have looked at all when they tell of one whose address is really gone. Without ownWrites one or two of a hundred are
// warned of: one run in three fails.
func TestNewServicesHaveTheirAddresses(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	_, client := living(t, core.Config{})
	services := client.CoreV1().Services("default")
	const writers, each = 4, 50
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := range each {
				if _, err := services.Create(ctx, service(fmt.Sprintf("s-%d-%d", w, i)), metav1.CreateOptions{}); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	last, err := services.Create(ctx, service("last"), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := client.NetworkingV1().IPAddresses().Delete(ctx, last.Spec.ClusterIP, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	warned := map[string]int{}
	for n := 0; warned["last"] == 0; n++ {
		// They look when a Service changes.
		change := fmt.Appendf(nil, `{"metadata": {"labels": {"n": "%d"}}}`, n)
		if _, err := services.Patch(ctx, "last", types.MergePatchType, change, metav1.PatchOptions{}); err != nil {
			t.Fatal(err)
		}
		warned = warnings(ctx, t, client)
	}
	if len(warned) != 1 {
		t.Errorf("warned of %v", warned)
	}
}

func service(name string) *v1.Service {
	return &v1.Service{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.ServiceSpec{Ports: []v1.ServicePort{{Port: 80}}}}
}

// warnings returns how often each Service is warned of, whose address is not allocated.
func warnings(ctx context.Context, t *testing.T, client kubernetes.Interface) map[string]int {
	list, err := client.EventsV1().Events("default").List(ctx, metav1.ListOptions{FieldSelector: "reason=ClusterIPNotAllocated"})
	if err != nil {
		t.Fatal(err)
	}
	warned := map[string]int{}
	for _, e := range list.Items {
		warned[e.Regarding.Name]++
	}
	return warned
}
