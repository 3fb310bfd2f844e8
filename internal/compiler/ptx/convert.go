package ptx

import "quern.dev/internal/compiler/ir"

func (g *generator) convert(e *ir.Convert, dst operand) operand {
	from, to := e.X.Type(), e.T
	switch {
	case from.IsHalf() || to.IsHalf():
		return g.halfConvert(e, dst)
	case from.IsFloat() && to.IsFloat():
		return g.floatToFloat(e, dst)
	case from.IsFloat() && to.IsInteger():
		return g.floatToInteger(e, dst)
	case from.IsInteger() && to.IsFloat():
		return g.integerToFloat(e, dst)
	case from.IsInteger() && to.IsInteger():
		return g.integerToInteger(e, dst)
	}
	return g.eval(e.X, dst) // only renames the type
}

func (g *generator) floatToFloat(e *ir.Convert, dst operand) operand {
	from, to := e.X.Type().Kind, e.T.Kind
	if from == to {
		if b, ok := e.X.(*ir.Binary); ok {
			return g.float(b, dst, true)
		}
		return g.eval(e.X, dst)
	}
	x := g.inRegister(g.value(e.X))
	dst = g.into(dst, classOf(e.T))
	if to == ir.Float64 {
		g.emit("cvt.f64.f32", dst, x)
	} else {
		g.emit("cvt.rn.f32.f64", dst, x)
	}
	return dst
}

// floatToInteger truncates. For a value out of range of the integer type, cvt returns
// the nearest integer. It converts a NaN to 0, but not if one of the types has 64 bits
// (PTX ISA, cvt).
func (g *generator) floatToInteger(e *ir.Convert, dst operand) operand {
	from, to := arithmeticType(e.X.Type().Kind), arithmeticType(e.T.Kind)
	if width(e.T.Kind) < 32 {
		to = memoryType(e.T.Kind)
	}
	opcode := "cvt.rzi." + to + "." + from
	x := g.inRegister(g.value(e.X))
	if e.InRange || from == "f32" && width(e.T.Kind) <= 32 {
		dst = g.into(dst, classOf(e.T))
		g.emit(opcode, dst, x)
		return dst
	}
	number := g.register(predClass)
	g.emit("setp.num."+from, number, x, x)
	if from == "f32" {
		y := g.register(f32Class)
		g.emit("selp.f32", y, x, intOperand(f32Class, 0), number)
		dst = g.into(dst, classOf(e.T))
		g.emit(opcode, dst, y)
		return dst
	}
	truncated := g.register(classOf(e.T))
	g.emit(opcode, truncated, x)
	dst = g.into(dst, classOf(e.T))
	g.emit("selp."+bitType(e.T.Kind), dst, truncated, zeroOperand(dst.class), number)
	return dst
}

func (g *generator) integerToFloat(e *ir.Convert, dst operand) operand {
	source := stripExtension(e.X)
	typ := arithmeticType(source.Type().Kind)
	var x operand
	if t, ok := source.(*ir.ThreadValue); ok {
		x, typ = g.coordinate(t.Op), "u32"
	} else {
		x = g.value(source)
	}
	x = g.inRegister(x)
	dst = g.into(dst, classOf(e.T))
	g.emit("cvt.rn."+arithmeticType(e.T.Kind)+"."+typ, dst, x)
	return dst
}

// stripExtension removes conversions between integers that preserve the value.
func stripExtension(e ir.Expr) ir.Expr {
	for {
		c, ok := e.(*ir.Convert)
		if !ok || !c.X.Type().IsInteger() || !contains(c.T.Kind, c.X.Type().Kind) {
			return e
		}
		e = c.X
	}
}

// contains reports whether integer kind k can represent all values of kind sub.
func contains(k, sub ir.Kind) bool {
	signed, subSigned := ir.Basic(k).IsSigned(), ir.Basic(sub).IsSigned()
	switch {
	case signed == subSigned:
		return width(k) >= width(sub)
	case signed:
		return width(k) > width(sub)
	}
	return false
}

func (g *generator) integerToInteger(e *ir.Convert, dst operand) operand {
	from, to := e.X.Type(), e.T
	if classOf(to) == b64Class {
		if _, ok := e.X.(*ir.ThreadValue); ok || classOf(from) == b64Class {
			return g.eval(e.X, dst)
		}
		x := g.value(e.X)
		return g.widenTo(dst, x, from.IsSigned())
	}
	if width(to.Kind) == 32 || contains(to.Kind, from.Kind) {
		return g.reinterpret(to.Kind, g.low32(e.X, dst))
	}
	x := g.low32(e.X, operand{})
	if x.immediate {
		return g.reinterpret(to.Kind, x)
	}
	dst = g.into(dst, b32Class)
	g.extend(to.Kind, dst, x)
	return dst
}

// reinterpret converts an immediate to the representation for kind k; a register is
// unchanged.
func (g *generator) reinterpret(k ir.Kind, x operand) operand {
	if x.immediate {
		x.n = ir.WrapBits(k, x.n)
	}
	return x
}

// low32 evaluates the low 32 bits of an integer, without computing the rest if that is
// easy.
func (g *generator) low32(e ir.Expr, dst operand) operand {
	if classOf(e.Type()) == b32Class {
		return g.eval(e, dst)
	}
	switch e := e.(type) {
	case *ir.ThreadValue:
		return g.coordinate(e.Op)
	case *ir.Len:
		return g.sliceLength32(g.slice(e.X))
	case *ir.Convert:
		if e.X.Type().IsInteger() {
			return g.low32(e.X, dst)
		}
	case *ir.Intrinsic:
		if e.Op.Result == ir.BitCount {
			return g.count(e, dst)
		}
	case *ir.Binary:
		if isModular(e.Op) {
			return g.lowBinary(e, dst)
		}
	}
	x := g.value(e)
	return g.lowTo(dst, x)
}

// isModular reports whether the low bits of the result depend only on the low bits of
// the operands.
func isModular(op ir.BinaryOp) bool {
	return op == ir.Add || op == ir.Sub || op == ir.Mul || op == ir.And || op == ir.Or || op == ir.Xor
}

func (g *generator) lowBinary(e *ir.Binary, dst operand) operand {
	if m, addend, ok := multiplyAdd(e); ok && e.Op == ir.Add {
		x, y, z := g.low32(m.X, operand{}), g.low32(m.Y, operand{}), g.low32(addend, operand{})
		dst = g.into(dst, b32Class)
		g.emit("mad.lo.s32", dst, x, y, z)
		return dst
	}
	typ := "s32"
	if e.Op == ir.And || e.Op == ir.Or || e.Op == ir.Xor {
		typ = "b32"
	}
	x, y := g.low32(e.X, operand{}), g.low32(e.Y, operand{})
	dst = g.into(dst, b32Class)
	g.emit(integerOpcode[e.Op]+typ, dst, x, y)
	return dst
}
