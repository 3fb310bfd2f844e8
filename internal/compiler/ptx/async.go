package ptx

import (
	"strconv"

	"quern.dev/internal/compiler/ir"
)

// smAsyncCopy is the compute capability, times ten, that introduced asynchronous
// copies.
const smAsyncCopy = 80

// asyncCopy emits a copy from global to shared memory. If the addresses are not known
// to be multiples of the copy's size, it checks at run time and copies unaligned data
// element by element; that code is outside the body.
func (g *generator) asyncCopy(s *ir.Memory) {
	t := s.Places[0].Type()
	dst, src := g.address(s.Places[0]), g.address(s.Places[1])
	switch {
	case dst.space != sharedSpace:
		g.fail(s.Pos, "the destination of kernel.AsyncCopy is not known to be in shared memory; use a part of a kernel.Shared or kernel.Dynamic variable directly")
		return
	case src.space != globalSpace || src.table != nil:
		g.fail(s.Pos, "the source of kernel.AsyncCopy is not known to be in global memory; use a part of a slice parameter directly")
		return
	}
	back := g.newLabel()
	if bits := g.strayBits(s, dst, src); !bits.isNone() {
		stray, slow := g.register(predClass), g.newLabel()
		g.emit("setp.ne.u32", stray, bits, zeroOperand(b32Class))
		g.jumpIf(condition{pred: stray}, slow)
		g.beside(func() {
			g.placeHead(slow)
			g.copyWords(dst, src, t.Size(), min(unitOf(t), 4))
			g.jump(back)
		})
	}
	if g.has(smAsyncCopy) {
		g.needVersion(70)
		g.asyncInstruction(dst, src, t.Size())
	} else {
		g.copyWords(dst, src, t.Size(), t.Size())
	}
	g.place(back)
}

// unitOf returns the access size that a value of type t allows at any address: 1, 2, 4
// or 8 bytes.
func unitOf(t *ir.Type) int64 { return max(t.Align(), 1) }

// beside puts what f emits into the cold stream.
func (g *generator) beside(f func()) {
	text := g.text
	g.text = g.cold
	f()
	g.cold, g.text = g.text, text
}

// asyncInstruction starts a copy. Data copied in the largest unit is mostly read once
// and bypasses the first-level cache.
func (g *generator) asyncInstruction(dst, src address, size int64) {
	cache := "ca"
	if size == 16 {
		cache = "cg"
	}
	b := append(g.text, "\tcp.async."+cache+".shared.global "...)
	b = append(dst.append(b), ", "...)
	b = append(src.append(b), ", "...)
	g.text = append(strconv.AppendInt(b, size, 10), ";\n"...)
}

// copyWords copies size bytes in units of at most unit bytes.
func (g *generator) copyWords(dst, src address, size, unit int64) {
	if unit == 16 {
		g.copyVector(dst, src)
		return
	}
	kind := [...]ir.Kind{1: ir.Uint8, 2: ir.Uint16, 4: ir.Uint32, 8: ir.Uint64}[unit]
	for at := int64(0); at < size; at += unit {
		r := g.register(classOf(ir.Basic(kind)))
		g.load("ld.global."+memoryType(kind), r, src.plus(at))
		g.store("st.shared."+memoryType(kind), dst.plus(at), r)
	}
}

// copyVector copies 16 bytes in one access.
func (g *generator) copyVector(dst, src address) {
	var list []byte
	for i := range 4 {
		if i > 0 {
			list = append(list, ", "...)
		}
		list = g.register(b32Class).append(list)
	}
	b := append(append(append(g.text, "\tld.global.v4.u32 {"...), list...), "}, "...)
	b = append(src.append(b), ";\n\tst.shared.v4.u32 "...)
	b = append(dst.append(b), ", {"...)
	g.text = append(append(b, list...), "};\n"...)
}

// strayBits returns a value that is zero if both addresses of a copy are multiples of
// its size, or none if they are known to be.
func (g *generator) strayBits(s *ir.Memory, dst, src address) operand {
	size := s.Places[0].Type().Size()
	var bits operand
	for i, a := range []address{dst, src} {
		if g.alignment(s.Places[i])%size == 0 {
			continue
		}
		if a.offset%size == 0 {
			a.offset = 0
		}
		x := g.low(g.materialise(a))
		if !bits.isNone() {
			both := g.register(b32Class)
			g.emit("or.b32", both, bits, x)
			x = both
		}
		bits = x
	}
	if bits.isNone() {
		return bits
	}
	r := g.register(b32Class)
	g.emit("and.b32", r, bits, intOperand(b32Class, uint64(size-1)))
	return r
}
