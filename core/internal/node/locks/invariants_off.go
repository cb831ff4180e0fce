//go:build !race && !invariants

package locks

import "sync"

// Mutex is a sync.Mutex of a rank.
type Mutex[R Rank] = sync.Mutex
