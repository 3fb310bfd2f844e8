package ptx

import "quern.dev/internal/compiler/ir"

// halfAdd emits an addition to a 16-bit float: one instruction if there is one,
// otherwise a loop that replaces the 32-bit word around it.
func (g *generator) halfAdd(s *ir.Atomic) {
	a := g.atomicAddress(s)
	v := g.inRegister(g.value(s.Args[0]))
	sm, version, suffix := 70, 63, ".add.noftz.f16"
	if s.Place.Type().Kind == ir.BFloat16 {
		sm, version, suffix = 90, 78, ".add.noftz.bf16"
	}
	where := g.atomicScope(s.Scope, a.space) + a.space.directive()
	if g.has(sm) {
		g.needVersion(version)
		if s.Dst == nil {
			g.atomic("red"+where+suffix, operand{}, a, v)
			return
		}
		g.resultTo(s.Dst, func(dst operand) { g.atomic("atom"+where+suffix, dst, a, v) })
		return
	}
	old := g.replaceHalf(a, where, s.Place.Type(), v)
	if s.Dst != nil {
		g.resultTo(s.Dst, func(dst operand) { g.move(dst, old) })
	}
}

// replaceHalf adds v to the 16-bit float at a by compare-and-swap of its word, and
// returns the old value. The last word may extend beyond the end of a buffer: the
// driver's allocations are larger.
func (g *generator) replaceHalf(a address, where string, t *ir.Type, v operand) operand {
	at := g.materialise(a)
	size := at.class.bits()
	base := g.register(at.class)
	g.emit("and."+size, base, at, intOperand(at.class, ^uint64(3)))
	shift, keep := g.register(b32Class), g.register(b32Class)
	g.emit("and.b32", shift, g.low(at), intOperand(b32Class, 2))
	g.emit("shl.b32", shift, shift, intOperand(b32Class, 3))
	g.emit("shl.b32", keep, g.inRegister(intOperand(b32Class, 0xFFFF)), shift)
	g.emit("not.b32", keep, keep)
	word := address{space: a.space, base: base}
	seen := g.register(b32Class)
	g.load("ld.volatile"+a.space.directive()+".u32", seen, word)

	again, differs := g.newLabel(), g.register(predClass)
	g.placeHead(again)
	part, old := g.register(b32Class), g.register(b16Class)
	g.emit("shr.u32", part, seen, shift)
	g.emit("cvt.u16.u32", old, part)
	sum := g.halfSum(t, old, v)
	next, found := g.register(b32Class), g.register(b32Class)
	g.emit("cvt.u32.u16", next, sum)
	g.emit("shl.b32", next, next, shift)
	g.emit("and.b32", part, seen, keep)
	g.emit("or.b32", next, next, part)
	g.atomic("atom"+where+".cas.b32", found, word, seen, next)
	g.emit("setp.ne.u32", differs, found, seen)
	g.move(seen, found)
	g.jumpIf(condition{pred: differs}, again)
	return old
}

// halfSum adds two 16-bit floats in registers. float32 has more than twice their bits,
// so the second rounding is harmless.
func (g *generator) halfSum(t *ir.Type, x, y operand) operand {
	single := func(h operand) operand {
		f := g.register(f32Class)
		if t.Kind == ir.Float16 {
			g.emit("cvt.f32.f16", f, h)
			return f
		}
		bits := g.register(b32Class)
		g.emit("cvt.u32.u16", bits, h)
		g.emit("shl.b32", bits, bits, intOperand(b32Class, 16))
		g.emit("mov.b32", f, bits)
		return f
	}
	sum := g.register(f32Class)
	g.emit("add.rn.f32", sum, single(x), single(y))
	if t.Kind == ir.BFloat16 {
		return g.roundBFloat16(sum, operand{})
	}
	out := g.register(b16Class)
	g.emit("cvt.rn.f16.f32", out, sum)
	return out
}
