package ptx

import "quern.dev/internal/compiler/ir"

// atomicStatement emits an atomic operation: red where the old value is not
// wanted and the operation has one.
func (g *generator) atomicStatement(s *ir.Atomic) {
	t := s.Place.Type()
	suffix, ok := g.atomicSuffix(s.Op, t)
	if !ok {
		g.fail(s.Pos, "no atomic operation of this kind on %s: use a 32- or 64-bit integer, or add and exchange on floats", t)
		return
	}
	a := g.address(s.Place)
	switch {
	case a.space == localSpace:
		g.fail(s.Pos, "atomic operation on a variable that belongs to one thread: use an ordinary assignment")
	case a.space == paramSpace || a.table != nil:
		g.fail(s.Pos, "atomic operation on constant memory")
	}
	args := make([]operand, len(s.Args))
	for i, x := range s.Args {
		args[i] = g.value(x)
	}
	if s.Op == ir.AtomicSub {
		args[0] = g.negate(t, args[0])
	}
	returns := s.Op == ir.AtomicExchange || s.Op == ir.AtomicCompareAndSwap
	if s.Dst == nil && !returns {
		g.atomic("red"+a.space.directive()+suffix, operand{}, a, args...)
		return
	}
	opcode := "atom" + a.space.directive() + suffix
	if s.Dst == nil {
		g.atomic(opcode, g.register(classOf(t)), a, args...)
		return
	}
	if v := g.variable(s.Dst); v.home == inRegisters {
		g.atomic(opcode, g.scalar(v), a, args...)
		return
	}
	old := g.register(classOf(t))
	g.atomic(opcode, old, a, args...)
	g.storePlace(&ir.VarPlace{Var: s.Dst}, old)
}

// atomicSuffix is the operation and type of the instruction.
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
		return ".min." + arithmeticType(t.Kind), t.IsInteger()
	case ir.AtomicMax:
		return ".max." + arithmeticType(t.Kind), t.IsInteger()
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
