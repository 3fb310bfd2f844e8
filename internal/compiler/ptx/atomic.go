package ptx

import "quern.dev/internal/compiler/ir"

// atomicStatement emits an atomic operation: red if the old value is not used and the
// operation has a red form.
func (g *generator) atomicStatement(s *ir.Atomic) {
	t := s.Place.Type()
	if t.IsFloat() && (s.Op == ir.AtomicMin || s.Op == ir.AtomicMax) {
		g.floatExtreme(s)
		return
	}
	if t.IsHalf() && s.Op == ir.AtomicAdd {
		g.halfAdd(s)
		return
	}
	suffix, ok := g.atomicSuffix(s.Op, t)
	if !ok {
		g.fail(s.Pos, "no atomic operation of this kind on %s: use a 32- or 64-bit integer, or add and exchange on floats", t)
		return
	}
	a := g.atomicAddress(s)
	args := make([]operand, len(s.Args))
	for i, x := range s.Args {
		args[i] = g.value(x)
	}
	if s.Op == ir.AtomicSub {
		args[0] = g.negate(t, args[0])
	}
	where := g.atomicScope(s.Scope, a.space) + a.space.directive()
	returns := s.Op == ir.AtomicExchange || s.Op == ir.AtomicCompareAndSwap
	if s.Dst == nil && !returns {
		g.atomic("red"+where+suffix, operand{}, a, args...)
		return
	}
	opcode := "atom" + where + suffix
	if s.Dst == nil {
		g.atomic(opcode, g.register(classOf(t)), a, args...)
		return
	}
	g.resultTo(s.Dst, func(dst operand) { g.atomic(opcode, dst, a, args...) })
}

// atomicAddress returns the address of an atomic operation's place.
func (g *generator) atomicAddress(s *ir.Atomic) address {
	a := g.address(s.Place)
	switch {
	case a.space == localSpace:
		g.fail(s.Pos, "atomic operation on a variable that belongs to one thread: use an ordinary assignment")
	case a.space == paramSpace || a.table != nil:
		g.fail(s.Pos, "atomic operation on constant memory")
	}
	return a
}

// atomicScope returns the modifier for a scope. The device scope is the default, and
// only threads of the block access shared memory.
func (g *generator) atomicScope(s ir.Scope, sp space) string {
	if s == ir.DeviceScope || sp == sharedSpace {
		return ""
	}
	g.need(60)
	return "." + scopeNames[s]
}

// floatExtreme emits the minimum or maximum of floats as an integer operation. Ignoring
// the sign, floats are ordered like their bits. A positive operand is compared as
// signed: all negative numbers are smaller. A negative operand is compared as unsigned:
// the negative numbers are larger than all positive ones, in reverse order. A NaN is
// the largest positive number.
func (g *generator) floatExtreme(s *ir.Atomic) {
	a := g.atomicAddress(s)
	v := g.inRegister(g.value(s.Args[0]))
	size := v.class.bits()[1:]
	isNaN, negative := g.register(predClass), g.register(predClass)
	g.emit("setp.nan.f"+size, isNaN, v, v)
	integer := b32Class
	largest := intOperand(b32Class, 1<<31-1)
	if size == "64" {
		integer, largest = b64Class, intOperand(b64Class, 1<<63-1)
	}
	word := g.register(integer)
	g.emit("mov.b"+size, word, v)
	x := g.register(integer)
	g.emit("selp.b"+size, x, largest, word, isNaN)
	g.emit("setp.lt.s"+size, negative, x, zeroOperand(integer))

	signed, reverse := ".min.s"+size, ".max.u"+size
	if s.Op == ir.AtomicMax {
		signed, reverse = ".max.s"+size, ".min.u"+size
	}
	kind := "red"
	var old operand
	if s.Dst != nil {
		kind, old = "atom", g.register(integer)
	}
	opcode := kind + g.atomicScope(s.Scope, a.space) + a.space.directive()
	g.atomicIf(condition{pred: negative, negated: true}, opcode+signed, old, a, x)
	g.atomicIf(condition{pred: negative}, opcode+reverse, old, a, x)
	if s.Dst != nil {
		g.resultTo(s.Dst, func(dst operand) { g.emit("mov.b"+size, dst, old) })
	}
}

// atomicIf is atomic under a guard.
func (g *generator) atomicIf(c condition, opcode string, dst operand, a address, args ...operand) {
	g.text = append(g.text, '\t')
	g.guard(c)
	start := len(g.text)
	g.atomic(opcode, dst, a, args...)
	g.text = append(g.text[:start], g.text[start+1:]...) // remove its tab
}

// atomicSuffix returns the operation and type of the instruction.
func (g *generator) atomicSuffix(op ir.AtomicOp, t *ir.Type) (suffix string, ok bool) {
	if !t.IsInteger() && !t.IsFloat() || width(t.Kind) < 32 {
		return "", false
	}
	switch op {
	case ir.AtomicAdd, ir.AtomicSub:
		if t.Kind == ir.Float64 {
			g.need(60)
		}
		if width(t.Kind) == 64 && t.IsInteger() {
			return ".add.u64", true
		}
		return ".add." + arithmeticType(t.Kind), true
	case ir.AtomicExchange:
		return ".exch." + bitType(t.Kind), true
	case ir.AtomicCompareAndSwap:
		return ".cas." + bitType(t.Kind), true
	case ir.AtomicMin:
		return ".min." + arithmeticType(t.Kind), true
	case ir.AtomicMax:
		return ".max." + arithmeticType(t.Kind), true
	case ir.AtomicAnd:
		return ".and." + bitType(t.Kind), t.IsInteger()
	case ir.AtomicOr:
		return ".or." + bitType(t.Kind), t.IsInteger()
	case ir.AtomicXor:
		return ".xor." + bitType(t.Kind), t.IsInteger()
	}
	return "", false
}

func (g *generator) negate(t *ir.Type, x operand) operand {
	if x.immediate && t.IsInteger() {
		x.n = ir.WrapBits(t.Kind, -x.n)
		return x
	}
	r := g.register(x.class)
	if t.IsFloat() {
		g.emit("neg."+arithmeticType(t.Kind), r, x)
	} else {
		g.emit("neg."+signedType(t.Kind), r, x)
	}
	return r
}
