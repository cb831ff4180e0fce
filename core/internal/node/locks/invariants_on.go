//go:build race || invariants

package locks

import (
	"fmt"
	"sync"

	"github.com/kubetab/kubetab/internal/goroutine"
)

// Mutex is a sync.Mutex of a rank, which panics when it is taken in the wrong order.
type Mutex[R Rank] struct {
	mu     sync.Mutex
	holder uint64 // the number of the goroutine that has locked it
}

// Lock waits until it has the mutex. It panics when the calling goroutine holds a mutex of the same rank or of a later one.
func (m *Mutex[R]) Lock() {
	id := goroutine.Number()
	var r R
	held.take(id, r.rank())
	m.mu.Lock()
	m.holder = id
}

// Unlock gives the mutex back. Any goroutine may call it, as sync.Mutex's.
func (m *Mutex[R]) Unlock() {
	var r R
	held.giveBack(m.holder, r.rank())
	m.mu.Unlock()
}

// names are the mutexes of each rank.
var names = [...]string{"Pod.mu", "Nodes.mu, kubelet.state or volumes.mu", "Pod.inbox"}

// held has what the goroutines hold or wait for.
var held = holdings{by: map[uint64]uint{}}

type holdings struct {
	mu sync.Mutex
	by map[uint64]uint // goroutine -> a bit for each rank
}

func (h *holdings) take(id uint64, rank int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for later := rank; later < len(names); later++ {
		if h.by[id]&(1<<later) != 0 {
			panic(fmt.Sprintf("locks: a goroutine that holds %s takes %s", names[later], names[rank]))
		}
	}
	h.by[id] |= 1 << rank
}

func (h *holdings) giveBack(id uint64, rank int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.by[id] &^= 1 << rank; h.by[id] == 0 {
		delete(h.by, id)
	}
}
