package node

// Idle reports whether no Pod takes a step or waits for one, and no event waits
// for being written or is.
func (n *Nodes) Idle() bool {
	return n.queue.Len() == 0 && n.stepping.Load() == 0 && n.events.unwritten.Load() == 0
}
