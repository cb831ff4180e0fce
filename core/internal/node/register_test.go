package node_test

import (
	"context"
	"sync"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/kubetab/kubetab/core/internal/node"
)

// contested is a client whose Nodes somebody else writes just before it does.
type contested struct {
	kubernetes.Interface
	somebody func()
}

type contestedCore struct {
	corev1.CoreV1Interface
	contested
}

type contestedNodes struct {
	corev1.NodeInterface
	contested
}

func (c contested) CoreV1() corev1.CoreV1Interface {
	return contestedCore{c.Interface.CoreV1(), c}
}

func (c contestedCore) Nodes() corev1.NodeInterface {
	return contestedNodes{c.CoreV1Interface.Nodes(), c.contested}
}

func (c contestedNodes) UpdateStatus(ctx context.Context, n *v1.Node, options metav1.UpdateOptions) (*v1.Node, error) {
	c.somebody()
	return c.NodeInterface.UpdateStatus(ctx, n, options)
}

// TestNodeIsTakenOverInSpiteOfAConflict: a kubelet that finds its Node registers
// it, although a controller writes it at the same moment.
func TestNodeIsTakenOverInSpiteOfAConflict(t *testing.T) {
	c := start(t, func(config *node.Config) {
		nodes := config.Client.CoreV1().Nodes()
		if _, err := nodes.Create(t.Context(), &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		config.Client = contested{config.Client, sync.OnceFunc(func() {
			if _, err := nodes.Patch(t.Context(), "node-1", types.MergePatchType, []byte(`{"metadata":{"labels":{"by":"another"}}}`), metav1.PatchOptions{}); err != nil {
				t.Error(err)
			}
		})}
	})
	c.until("node-1 is ready", func() bool {
		n, err := c.client.CoreV1().Nodes().Get(t.Context(), "node-1", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, condition := range n.Status.Conditions {
			if condition.Type == v1.NodeReady && condition.Status == v1.ConditionTrue {
				return n.Labels["by"] == "another"
			}
		}
		return false
	})
}
