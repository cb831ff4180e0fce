package main

// ownFunction is a function that the rest has beside the program's.
type ownFunction struct {
	name string // under which it is exported
	typ  int
	body []byte
}

// What ownFunctions returns, in this order: a function for the slot gate; and if
// the rest brings tables one that it starts with, and two for wasm/rest.mjs.
const (
	ownStart    = 1
	ownExported = 2
)

func (c *cutter) ownFunctions() []ownFunction {
	own := []ownFunction{{typ: c.gateType, body: callGate(-1, c.goType)}}
	if c.tables == nil {
		return own
	}
	return append(own,
		ownFunction{typ: c.plainType, body: c.tables.arrive()},
		ownFunction{"settle", c.plainType, c.tables.settle()},
		ownFunction{"leave", c.sizeType, c.tables.leave()},
	)
}

// arrive takes memory for the block and has the runtime find what is in it. It
// traps if there is no memory.
func (t *tables) arrive() []byte {
	const block = 0 // the local that holds where it is
	pages := (len(t.block) + memoryPage - 1) / memoryPage
	body := signed([]byte{1, 1, typeI32, opI32Const}, pages)
	body = append(body, opMemoryGrow, 0)
	body = append(body, opI32Const, 16, opI32Shl, opLocalTee, block)
	body = signed(append(body, opI32Const, 0, opI32Const), len(t.block))
	body = append(body, opPrefixed, opMemoryInit, 0, 0)
	for _, s := range t.stores {
		body = signed(append(body, opI32Const), s.address)
		if s.inBlock {
			body = append(body, opLocalGet, block)
			body = append(signed(append(body, opI32Const), s.value), opI32Add, opI64ExtendI32U)
		} else {
			body = signed(append(body, opI64Const), s.value)
		}
		body = append(body, opI64Store, 3, 0)
	}
	return append(body, opEnd)
}

// settle tells the runtime that memory ends behind the block, so that the heap goes
// on there: at once, unless it still is in what is free between data.
func (t *tables) settle() []byte {
	body := []byte{0}
	end := func(variable int) {
		body = signed(append(body, opI32Const), variable)
		body = append(body, opMemorySize, 0, opI32Const, 16, opI32Shl, opI64ExtendI32U, opI64Store, 3, 0)
	}
	end(t.behind)
	end(t.blocMax)
	body = signed(append(body, opI32Const), t.bloc)
	body = signed(append(body, opI64Load, 3, 0, opI64Const), t.end)
	body = append(body, opI64GeU, opIf, noResult)
	end(t.bloc)
	return append(body, opEnd, opEnd)
}

// leave makes the runtime forget the block, for a snapshot, and returns where the
// memory ends that it knows of.
func (t *tables) leave() []byte {
	body := []byte{0}
	forget := func(variable int) {
		body = signed(append(body, opI32Const), variable)
		body = append(body, opI64Const, 0, opI64Store, 3, 0)
	}
	forget(t.next)
	for _, s := range t.stores {
		if s.inBlock {
			forget(s.address)
		}
	}
	body = signed(append(body, opI32Const), t.blocMax)
	return append(body, opI64Load, 3, 0, opI32WrapI64, opEnd)
}
