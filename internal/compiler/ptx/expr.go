package ptx

import "quern.dev/internal/compiler/ir"

// value evaluates a scalar: the result is the register of a variable, a fresh register,
// or an immediate.
func (g *generator) value(e ir.Expr) operand { return g.eval(e, operand{}) }

// eval is like value, but a result that needs a register is stored in dst, unless dst
// is none. dst may be a register that e reads, so it is written by the last instruction
// that reads an operand, or later.
func (g *generator) eval(e ir.Expr, dst operand) operand {
	if e.Type().Kind == ir.Pointer {
		p, space := g.pointer(e)
		return g.cast(p, space, genericSpace)
	}
	if x := g.negations[e]; x != nil {
		return g.complement(x, dst)
	}
	switch e := e.(type) {
	case *ir.Const:
		return constOperand(e)
	case *ir.Zero:
		return zeroOperand(classOf(e.T))
	case *ir.Load:
		return g.loadPlace(e.Place, dst)
	case *ir.Unary:
		return g.unary(e, dst)
	case *ir.Binary:
		return g.binary(e, dst)
	case *ir.Convert:
		return g.convert(e, dst)
	case *ir.Len:
		return g.sliceLength(g.slice(e.X))
	case *ir.Cap:
		return g.sliceCapacity(g.slice(e.X))
	case *ir.ThreadValue:
		return g.widenTo(dst, g.coordinate(e.Op), false)
	case *ir.Intrinsic:
		return g.intrinsic(e, dst)
	case *ir.Select:
		x, y := g.value(e.X), g.value(e.Y)
		return g.choose(dst, g.condition(e.Cond), x, y)
	}
	g.fail(ir.Pos{}, "value %T of type %s", e, e.Type())
	return zeroOperand(classOf(e.Type()))
}

// inRegister moves an immediate to a register, for instructions that do not accept
// immediates.
func (g *generator) inRegister(o operand) operand {
	if !o.immediate {
		return o
	}
	r := g.register(o.class)
	g.move(r, o)
	return r
}

// choose returns x if c holds, otherwise y.
func (g *generator) choose(dst operand, c condition, x, y operand) operand {
	if x == y {
		return x
	}
	if c.negated {
		x, y = y, x
	}
	class := x.class
	if x.immediate {
		class = y.class
	}
	if class == predClass {
		x, y = g.inRegister(x), g.inRegister(y)
		isX, isNot, isY := g.register(predClass), g.register(predClass), g.register(predClass)
		g.emit("and.pred", isX, c.pred, x)
		g.emit("not.pred", isNot, c.pred)
		g.emit("and.pred", isY, isNot, y)
		dst = g.into(dst, predClass)
		g.emit("or.pred", dst, isX, isY)
		return dst
	}
	dst = g.into(dst, class)
	g.emit("selp."+class.bits(), dst, x, y, c.pred)
	return dst
}

// condition evaluates a bool for use as a guard.
func (g *generator) condition(e ir.Expr) condition {
	if u, ok := e.(*ir.Unary); ok && u.Op == ir.LNot {
		return g.condition(u.X).not()
	}
	return condition{pred: g.inRegister(g.value(e))}
}

func (g *generator) unary(e *ir.Unary, dst operand) operand {
	t := e.Type()
	if e.Op == ir.LNot {
		c := g.condition(e)
		if !c.negated {
			return c.pred
		}
		dst = g.into(dst, predClass)
		g.emit("not.pred", dst, c.pred)
		return dst
	}
	x := g.value(e.X)
	dst = g.into(dst, classOf(t))
	switch {
	case e.Op == ir.Not:
		g.emit("not."+bitType(t.Kind), dst, x)
	case t.IsFloat():
		g.emit("neg."+arithmeticType(t.Kind), dst, x)
	default:
		g.emit("neg."+signedType(t.Kind), dst, x)
	}
	g.extend(t.Kind, dst, dst)
	return dst
}

// signedType returns the type for instructions that exist only for signed integers.
func signedType(k ir.Kind) string {
	if width(k) == 64 {
		return "s64"
	}
	return "s32"
}

// pointer evaluates a pointer to an address in the space that it points to.
func (g *generator) pointer(e ir.Expr) (operand, space) {
	switch e := e.(type) {
	case *ir.Load:
		if v, ok := e.Place.(*ir.VarPlace); ok {
			if v := g.variable(v.Var); v.home == inRegisters {
				return g.scalar(v), v.space
			}
		}
		return g.loadPlace(e.Place, operand{}), genericSpace
	case *ir.Convert:
		return g.pointer(e.X)
	case *ir.Addr:
		a := g.address(e.Place)
		return g.materialise(a), a.space
	case *ir.Intrinsic:
		return g.clusterAddress(e), genericSpace
	case *ir.Select:
		x, xs := g.pointer(e.X)
		y, ys := g.pointer(e.Y)
		space := xs.join(ys)
		return g.choose(operand{}, g.condition(e.Cond), g.cast(x, xs, space), g.cast(y, ys, space)), space
	case *ir.Zero:
		return zeroOperand(b64Class), globalSpace
	}
	g.fail(ir.Pos{}, "pointer %T", e)
	return zeroOperand(b64Class), globalSpace
}

// widen extends 32 bits to 64.
func (g *generator) widen(x operand, signed bool) operand { return g.widenTo(operand{}, x, signed) }

func (g *generator) widenTo(dst, x operand, signed bool) operand {
	switch {
	case x.class == b64Class:
		return x
	case x.immediate:
		return intOperand(b64Class, x.n)
	}
	dst = g.into(dst, b64Class)
	if signed {
		g.emit("cvt.s64.s32", dst, x)
	} else {
		g.emit("cvt.u64.u32", dst, x)
	}
	return dst
}

// value64 evaluates an integer as 64 bits.
func (g *generator) value64(e ir.Expr) operand {
	return g.widen(g.value(e), e.Type().IsSigned())
}

// low returns the low half of 64 bits.
func (g *generator) low(x operand) operand { return g.lowTo(operand{}, x) }

func (g *generator) lowTo(dst, x operand) operand {
	switch {
	case x.class == b32Class:
		return x
	case x.immediate:
		return intOperand(b32Class, uint64(int64(int32(x.n))))
	}
	dst = g.into(dst, b32Class)
	g.emit("cvt.u32.u64", dst, x)
	return dst
}

// extend sets the 32-bit register dst to the low bits of src for kind k, extended to 32
// bits. For wider kinds dst must be src.
func (g *generator) extend(k ir.Kind, dst, src operand) {
	switch k {
	case ir.Int8:
		g.emit("cvt.s32.s8", dst, src)
	case ir.Int16:
		g.emit("cvt.s32.s16", dst, src)
	case ir.Uint8:
		g.emit("and.b32", dst, src, intOperand(b32Class, 0xFF))
	case ir.Uint16:
		g.emit("and.b32", dst, src, intOperand(b32Class, 0xFFFF))
	}
}
