package node

// Idle reports whether no Pod waits for a step and no event for being written.
func (n *Nodes) Idle() bool { return n.queue.Len() == 0 && len(n.events.waiting) == 0 }
