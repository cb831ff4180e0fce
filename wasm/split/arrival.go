package main

// ownFunction is a function that a part has beside the program's.
type ownFunction struct {
	name string // under which it is exported
	typ  int
	body []byte
}

// What engineFunctions, soonFunctions and restFunctions return if there are tables, in this order:
// a function for the index, one that the part starts with, in the engine one for columns, and in the rest two for
// wasm/split/rest.mjs.
const (
	ownIndex = iota
	ownStart
	ownExported
	ownColumns = ownExported // of the engine alone
)

// first is the number of the first.
func (c *cutter) engineFunctions(first int) []ownFunction {
	if c.tables == nil {
		return nil
	}
	return []ownFunction{
		{typ: c.indexType, body: c.tables.fillIndex()},
		{typ: c.plainType, body: append(callFillIndex(unsigned([]byte{0, opCall}, first+ownColumns), c.tables.engine, nil, first+ownIndex), opEnd)},
		{typ: c.plainType, body: c.tables.columns.decode()},
	}
}

// first is the number of the first. What comes soon needs none when the engine knows all of its functions.
func (c *cutter) soonFunctions(first int) []ownFunction {
	if c.tables == nil || c.tables.soon.records == c.tables.soon.end {
		return nil
	}
	return []ownFunction{
		{typ: c.indexType, body: c.tables.fillIndex()},
		{typ: c.plainType, body: append(callFillIndex([]byte{0}, c.tables.soon, nil, first+ownIndex), opEnd)},
	}
}

// first is the number of the first.
func (c *cutter) restFunctions(first int) []ownFunction {
	if c.tables == nil {
		return nil
	}
	return []ownFunction{
		{typ: c.indexType, body: c.tables.fillIndex()},
		{typ: c.plainType, body: c.tables.arrive(first + ownIndex)},
		{"settle", c.plainType, c.tables.settle()},
		{"leave", c.sizeType, c.tables.leave(first + ownIndex)},
	}
}

// indexParameters is how many fillIndex has: an index.
const indexParameters = 5

// fillIndex is the body of a function that writes an index: for each function what
// it is, unless the index has no functions, and of those that have a record where that is.
func (t *tables) fillIndex() []byte {
	const (
		address = iota // and then where the next entry is
		base
		records // and then where the next record is
		end
		functions // and then what remains of them
		first
		entry
	)
	a := &assembler{1, 2, typeI32}
	a.get(address)
	a.set(first)
	a.number(t.firstEntry)
	a.set(entry)
	a.get(functions)
	a.op(opIf, noResult, opLoop, noResult)
	a.get(address)
	a.get(entry)
	a.at(opI32Store, 0)
	a.get(address)
	a.number(t.entrySize)
	a.op(opI32Add)
	a.set(address)
	a.get(entry)
	a.number(1)
	a.op(opI32Add)
	a.set(entry)
	a.get(functions)
	a.number(1)
	a.op(opI32Sub, opLocalTee, functions, opBrIf, 0, opEnd, opEnd)

	a.op(opLoop, noResult)
	a.get(records)
	a.at(opI32Load, 0)
	a.number(t.firstEntry)
	a.op(opI32Sub)
	a.number(3)
	a.op(opI32Shl)
	a.get(first)
	a.op(opI32Add)
	a.get(records)
	a.get(base)
	a.op(opI32Sub)
	a.at(opI32Store, 4)
	a.get(records)
	a.get(records)
	a.at(opI32Load, t.recordNPCData)
	a.get(records)
	a.at(opI32Load8U, t.recordNFunc)
	a.op(opI32Add)
	a.number(2)
	a.op(opI32Shl)
	a.number(t.recordSize + 7)
	a.op(opI32Add)
	a.number(-8)
	a.op(opI32And, opI32Add, opLocalTee, records)
	a.get(end)
	a.op(opI32GeU, opI32Eqz, opBrIf, 0, opEnd)
	a.op(opEnd)
	return *a
}

// callFillIndex appends a call of a function with the body of fillIndex. What is in
// memory is where the index says, plus what add appends unless it is nil.
func callFillIndex(to []byte, i index, add func(to []byte) []byte, function int) []byte {
	for _, address := range []int{i.address, i.base, i.records, i.end} {
		to = signed(append(to, opI32Const), address)
		if add != nil {
			to = append(add(to), opI32Add)
		}
	}
	to = signed(append(to, opI32Const), i.functions)
	return unsigned(append(to, opCall), function)
}

// arrive takes memory for the block, has the runtime find what is in it, and puts
// late bytes in their places. It traps if there is no memory.
func (t *tables) arrive(fillIndex int) []byte {
	const block = 0 // the local that holds where it is
	pages := (t.room + memoryPage - 1) / memoryPage
	body := signed([]byte{1, 1, typeI32, opI32Const}, pages)
	body = append(body, opMemoryGrow, 0)
	body = append(body, opI32Const, 16, opI32Shl, opLocalTee, block)
	body = signed(append(body, opI32Const, 0, opI32Const), t.brought)
	body = append(body, opPrefixed, opMemoryInit, 0, 0)
	for _, l := range t.late {
		for _, n := range []int{l.address, l.offset, l.size} {
			body = signed(append(body, opI32Const), n)
		}
		body = append(body, opPrefixed, opMemoryInit, 0, 0)
	}
	body = callFillIndex(body, t.rest, func(to []byte) []byte { return append(to, opLocalGet, block) }, fillIndex)
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

// leave makes the runtime forget the block and what came soon and takes late bytes away, for a snapshot,
// and returns where the memory ends that the runtime knows of.
func (t *tables) leave(fillIndex int) []byte {
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
	clear := func(address, size int) {
		for _, n := range []int{address, 0, size} {
			body = signed(append(body, opI32Const), n)
		}
		body = append(body, opPrefixed, opMemoryFill, 0)
	}
	for _, l := range t.late {
		clear(l.address, l.size)
	}
	if len(t.withSoon) > 0 {
		for _, piece := range t.withSoon {
			clear(piece.address, len(piece.content))
		}
		clear(t.engine.address, t.entrySize*t.engine.functions)
		body = callFillIndex(body, t.engine, nil, fillIndex)
	}
	body = signed(append(body, opI32Const), t.blocMax)
	return append(body, opI64Load, 3, 0, opI32WrapI64, opEnd)
}
