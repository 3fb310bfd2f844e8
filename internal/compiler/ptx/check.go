package ptx

import (
	"fmt"

	"quern.dev/internal/compiler/ir"
)

// SiteKind is the kind of failure at a site.
type SiteKind uint8

// Kinds of sites.
const (
	IndexSite  SiteKind = iota // index out of range
	SliceSite                  // slice bounds out of range
	DivideSite                 // integer division by zero
	ShiftSite                  // negative shift count
	PanicSite                  // a panic in the kernel
	NilSite                    // nil pointer
)

func (k SiteKind) String() string {
	return [...]string{"index", "slice", "divide", "shift", "panic", "nil"}[k]
}

// Site is a position in the source that can fail at run time.
type Site struct {
	Kind SiteKind
	File string
	Line int
	Col  int
	Text string // message of a panic; "kernel.Dynamic" for an index or bound of its slice
}

// faults is the state of failing paths.
type faults struct {
	sites   []Site
	numbers map[Site]int
	blocks  int
	handler bool // a failing path uses the handler
	// Registers in which a failing path passes the reason to the handler.
	site, index, length operand
}

// siteNumber returns the number of a site; equal sites share one.
func (g *generator) siteNumber(kind SiteKind, pos ir.Pos, text string) int {
	s := Site{kind, pos.File, pos.Line, pos.Col, text}
	if n, ok := g.faults.numbers[s]; ok {
		return n
	}
	if g.faults.numbers == nil {
		g.faults.numbers = map[Site]int{}
	}
	n := len(g.faults.sites)
	g.faults.numbers[s] = n
	g.faults.sites = append(g.faults.sites, s)
	return n
}

// faultIf ends the thread if c holds: a cold block outside the body passes site, index
// and length to the handler. A condition without a register always holds. A 32-bit
// index is extended by its signedness; lengths are not negative.
func (g *generator) faultIf(c condition, site int, index operand, signed bool, length operand) {
	f := &g.faults
	if !f.handler {
		f.handler = true
		f.site, f.index, f.length = g.register(b32Class), g.register(b64Class), g.register(b64Class)
	}
	name := fmt.Sprintf("$F%d", f.blocks)
	f.blocks++
	g.text = append(g.text, '\t')
	opcode := "bra.uni "
	if !c.pred.isNone() {
		g.guard(c)
		opcode = "bra "
	}
	g.text = append(append(append(g.text, opcode...), name...), ";\n"...)

	text := g.text
	g.text = append(append(g.cold, name...), ":\n"...)
	g.emit("mov.u32", f.site, intOperand(b32Class, uint64(site)))
	g.move(f.index, g.widenTo(f.index, index, signed))
	g.move(f.length, g.widenTo(f.length, length, false))
	g.text = append(g.text, "\tbra.uni $fault;\n"...)
	g.cold, g.text = g.text, text
}

// checkIndex stops the thread unless 0 <= index < n. Comparing as unsigned, with
// a length below 1<<31, tests both ends at once.
func (g *generator) checkIndex(index operand, signed bool, n length, pos ir.Pos) {
	site := g.siteNumber(IndexSite, pos, n.text)
	var bound operand
	typ := "u64"
	switch {
	case n.slice == nil && index.class == b32Class && n.constant <= 1<<31-1:
		bound, typ = intOperand(b32Class, uint64(n.constant)), "u32"
	case n.slice == nil:
		bound = intOperand(b64Class, uint64(n.constant))
	case index.class == b32Class && n.most <= 1<<31-1:
		bound, typ = g.sliceLength32(*n.slice), "u32"
	default:
		bound = g.sliceLength(*n.slice)
	}
	if index.immediate && bound.immediate {
		if index.n >= bound.n {
			g.faultIf(condition{}, site, index, signed, bound)
		}
		return
	}
	x := index
	if typ == "u64" {
		x = g.widen(index, signed)
	}
	out := g.register(predClass)
	g.emit("setp.ge."+typ, out, x, bound)
	g.faultIf(condition{pred: out}, site, index, signed, bound)
}

// checkBound stops the thread unless 0 <= bound <= limit, both 64-bit values. The text is
// that of the site.
func (g *generator) checkBound(bound, limit operand, pos ir.Pos, text string) {
	site := g.siteNumber(SliceSite, pos, text)
	if bound.immediate && limit.immediate {
		if bound.n > limit.n {
			g.faultIf(condition{}, site, bound, true, limit)
		}
		return
	}
	out := g.register(predClass)
	g.emit("setp.gt.u64", out, bound, limit)
	g.faultIf(condition{pred: out}, site, bound, true, limit)
}

// checkDivisor stops the thread if y is zero.
func (g *generator) checkDivisor(y operand, pos ir.Pos) {
	site := g.siteNumber(DivideSite, pos, "")
	zero := zeroOperand(y.class)
	if y.immediate {
		if y.n == 0 {
			g.faultIf(condition{}, site, zero, false, zero)
		}
		return
	}
	isZero := g.register(predClass)
	g.emit("setp.eq.u"+y.class.bits()[1:], isZero, y, zero)
	g.faultIf(condition{pred: isZero}, site, zero, false, zero)
}

// checkShift stops the thread if a signed shift count is negative.
func (g *generator) checkShift(count operand, pos ir.Pos) {
	site := g.siteNumber(ShiftSite, pos, "")
	zero := zeroOperand(count.class)
	negative := g.register(predClass)
	g.emit("setp.lt.s"+count.class.bits()[1:], negative, count, zero)
	g.faultIf(condition{pred: negative}, site, count, true, zero)
}

// checkNil stops the thread if a pointer is nil, which is 0 in the global and generic
// spaces. A pointer that may be nil is in one of these (see spaceOf).
func (g *generator) checkNil(pointer operand, s space, pos ir.Pos) {
	if s.class() == b32Class {
		return
	}
	site := g.siteNumber(NilSite, pos, "")
	zero := zeroOperand(b64Class)
	if pointer.immediate {
		g.faultIf(condition{}, site, zero, false, zero)
		return
	}
	isNil := g.register(predClass)
	g.emit("setp.eq.u64", isNil, pointer, zero)
	g.faultIf(condition{pred: isNil}, site, zero, false, zero)
}

// panics stops the thread.
func (g *generator) panics(s *ir.Panic) {
	site := g.siteNumber(PanicSite, s.Pos, s.Reason)
	g.faultIf(condition{}, site, zeroOperand(b64Class), false, zeroOperand(b64Class))
}

// Offsets in the control block that quern_fault points to, and in the record that the
// control block points to.
const (
	controlClaim  = 0
	controlRecord = 8

	recordState  = 0
	recordSite   = 4
	recordKernel = 8
	recordIndex  = 16
	recordLength = 24
	recordBlock  = 32
)

// faultHandler emits the end of every failing path. The first failing thread of the
// launch claims the control block and writes the record, setting the record's state to
// 1 last; all failing threads end.
func (g *generator) faultHandler() {
	f := &g.faults
	if !f.handler {
		return
	}
	text := g.text
	g.text = append(g.cold, "$fault:\n"...)
	control, record := g.register(b64Class), g.register(b64Class)
	claimed, lost := g.register(b32Class), g.register(predClass)
	at := func(base operand, offset int64) address {
		return address{space: globalSpace, base: base, offset: offset}
	}
	g.load("ld.param.u64", control, address{space: paramSpace, symbol: faultParam})
	g.emit("cvta.to.global.u64", control, control)
	g.atomic("atom.global.cas.b32", claimed, at(control, controlClaim), intOperand(b32Class, 0), intOperand(b32Class, 1))
	g.emit("setp.ne.u32", lost, claimed, intOperand(b32Class, 0))
	g.emitIf(condition{pred: lost}, "exit")
	g.load("ld.global.u64", record, at(control, controlRecord))
	g.emit("cvta.to.global.u64", record, record)

	number := g.register(b32Class)
	g.load("ld.param.u32", number, address{space: paramSpace, symbol: kernelParam})
	g.store("st.volatile.global.u32", at(record, recordSite), f.site)
	g.store("st.volatile.global.u32", at(record, recordKernel), number)
	g.store("st.volatile.global.u64", at(record, recordIndex), f.index)
	g.store("st.volatile.global.u64", at(record, recordLength), f.length)
	var block, thread operand
	if c := g.kernel.Coarse; c != nil {
		block, thread = g.failingThread(c)
	}
	for i, special := range []string{"%ctaid.x", "%ctaid.y", "%ctaid.z", "%tid.x", "%tid.y", "%tid.z"} {
		r := g.register(b32Class)
		switch {
		case i == 0 && !block.isNone():
			r = block
		case i == 3 && !thread.isNone():
			r = thread
		default:
			g.emitSymbol("mov.u32", r, special)
		}
		g.store("st.volatile.global.u32", at(record, recordBlock+4*int64(i)), r)
	}
	g.emit("membar.sys")
	g.store("st.volatile.global.u32", at(record, recordState), intOperand(b32Class, 1))
	g.emit("exit")
	g.cold, g.text = g.text, text
}
