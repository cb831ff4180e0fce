// Package locks has the mutexes of the nodes, and the order in which one goroutine takes them:
//
//	Pod ──▶ Part ──▶ Inbox
//
// A goroutine that holds a mutex takes only mutexes of ranks to the right of it, none of the same rank. Two goroutines that
// both keep to the order cannot wait for each other.
//
// Builds with -race or -tags invariants check the order: Lock panics before it waits, whether or not another goroutine holds
// the mutex. In other builds a Mutex is a sync.Mutex.
package locks

// Rank is the place of a mutex in the order.
type Rank interface{ rank() int }

type (
	// Pod is the rank of lifecycle.Pod.mu.
	Pod struct{}
	// Part is the rank of what Pods share or have beside themselves: node.Nodes.mu, node.kubelet.state and
	// lifecycle.volumes.mu. A goroutine holds one of them at a time.
	Part struct{}
	// Inbox is the rank of lifecycle.Pod.inbox.
	Inbox struct{}
)

func (Pod) rank() int   { return 0 }
func (Part) rank() int  { return 1 }
func (Inbox) rank() int { return 2 }
