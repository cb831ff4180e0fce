package main

import "fmt"

// Opcodes that are read or written by name.
const (
	opBlock         = 0x02
	opLoop          = 0x03
	opIf            = 0x04
	opEnd           = 0x0b
	opBr            = 0x0c
	opBrIf          = 0x0d
	opBrTable       = 0x0e
	opReturn        = 0x0f
	opCall          = 0x10
	opCallIndirect  = 0x11
	opDrop          = 0x1a
	opLocalGet      = 0x20
	opLocalSet      = 0x21
	opLocalTee      = 0x22
	opGlobalGet     = 0x23
	opGlobalSet     = 0x24
	opI32Load       = 0x28
	opI64Load       = 0x29
	opI32Load8U     = 0x2d
	opI32Load16U    = 0x2f
	opI32Store      = 0x36
	opI64Store      = 0x37
	opI64Store32    = 0x3e
	opMemorySize    = 0x3f
	opMemoryGrow    = 0x40
	opI32Const      = 0x41
	opI64Const      = 0x42
	opF32Const      = 0x43
	opF64Const      = 0x44
	opI32Eqz        = 0x45
	opI32LtU        = 0x49
	opI32GeU        = 0x4f
	opI64GeU        = 0x5a
	opI32Add        = 0x6a
	opI32Sub        = 0x6b
	opI32Mul        = 0x6c
	opI32And        = 0x71
	opI32Or         = 0x72
	opI32Shl        = 0x74
	opI64Or         = 0x84
	opI64Shl        = 0x86
	opI32WrapI64    = 0xa7
	opI64ExtendI32U = 0xad
	opExtend32S     = 0xc4
	opPrefixed      = 0xfc
)

// noResult is the type of a block that leaves nothing.
const noResult = 0x40

// Opcodes after opPrefixed.
const (
	opTruncSatLast = 7
	opMemoryInit   = 8
	opMemoryCopy   = 10
	opMemoryFill   = 11
)

// calls copies a function's body to the end of to, and has each call of a
// function written by call. What throughTable writes, unless it is nil, comes
// before each call through the table: the slot is what is on the stack then. It
// knows the instructions that Go's assembler has; another one is an error, for its
// length is not known.
func calls(to, body []byte, call func(to []byte, function int) []byte, throughTable func(to []byte) []byte) ([]byte, error) {
	r := &reader{rest: body}
	r.vector(func() { // locals
		r.unsigned()
		r.byte()
	})
	copied := body // what follows has not been copied yet
	for r.more() {
		at := r.rest
		op := r.byte()
		switch {
		case op == opCall:
			to = append(to, copied[:len(copied)-len(at)]...)
			to = call(to, r.unsigned())
			copied = r.rest
		case op >= opBlock && op <= opIf:
			r.signed() // block type
		case op == opBr, op == opBrIf, op >= opLocalGet && op <= opGlobalSet:
			r.unsigned()
		case op == opBrTable:
			r.vector(func() { r.unsigned() })
			r.unsigned()
		case op == opCallIndirect:
			if throughTable != nil {
				to = append(to, copied[:len(copied)-len(at)]...)
				to = throughTable(to)
				copied = at
			}
			r.unsigned()
			r.unsigned()
		case op >= opI32Load && op <= opI64Store32:
			r.unsigned()
			r.unsigned()
		case op == opMemorySize, op == opMemoryGrow:
			r.byte()
		case op == opI32Const, op == opI64Const:
			r.signed()
		case op == opF32Const:
			r.bytes(4)
		case op == opF64Const:
			r.bytes(8)
		case op == opPrefixed:
			switch sub := r.unsigned(); {
			case sub <= opTruncSatLast:
			case sub == opMemoryCopy:
				r.bytes(2)
			case sub == opMemoryFill:
				r.byte()
			default:
				return nil, fmt.Errorf("unknown instruction %#x %d", op, sub)
			}
		case op < opBlock, op == 0x05, op == opEnd, op == 0x0f, op == 0x1a, op == 0x1b, op > opF64Const && op <= opExtend32S:
			// unreachable, nop, else, end, return, drop, select, arithmetic
		default:
			return nil, fmt.Errorf("unknown instruction %#x", op)
		}
	}
	return append(to, copied...), r.err
}

// assembler writes the body of a function.
type assembler []byte

func (a *assembler) op(code ...byte) { *a = append(*a, code...) }

func (a *assembler) get(local int) { a.op(opLocalGet, byte(local)) }
func (a *assembler) set(local int) { a.op(opLocalSet, byte(local)) }
func (a *assembler) tee(local int) { a.op(opLocalTee, byte(local)) }

func (a *assembler) number(v int) { *a = signed(append(*a, opI32Const), v) }

// let sets a local to a number.
func (a *assembler) let(local, v int) {
	a.number(v)
	a.set(local)
}

// step adds a number to a local.
func (a *assembler) step(local, by int) {
	a.get(local)
	a.number(by)
	a.op(opI32Add)
	a.set(local)
}

// at appends a load or a store, of any alignment, so many bytes behind the address on the stack.
func (a *assembler) at(code byte, offset int) { *a = unsigned(append(*a, code, 0), offset) }
