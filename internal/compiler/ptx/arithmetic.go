package ptx

import "quern.dev/internal/compiler/ir"

func (g *generator) binary(e *ir.Binary, dst operand) operand {
	switch {
	case e.Op.IsLogical():
		return g.logical(e, dst)
	case e.Op.IsComparison():
		return g.compare(e, dst)
	case e.Op.IsShift():
		return g.shift(e, dst)
	case e.Type().IsFloat():
		return g.float(e, dst, e.Strict)
	case e.Op == ir.Div || e.Op == ir.Rem:
		return g.divide(e, dst)
	}
	return g.integer(e, dst)
}

// float emits the four operations. ptxas may contract only operations without a
// rounding modifier.
func (g *generator) float(e *ir.Binary, dst operand, strict bool) operand {
	t := e.Type()
	if one, ok := e.X.(*ir.Const); ok && e.Op == ir.Div && one.Float == 1 && !t.IsHalf() {
		// Same result with fewer instructions.
		y := g.inRegister(g.value(e.Y))
		dst = g.into(dst, classOf(t))
		g.emit("rcp.rn."+arithmeticType(t.Kind), dst, y)
		return dst
	}
	x, y := g.value(e.X), g.value(e.Y)
	dst = g.into(dst, classOf(t))
	opcode, rounding := "", ""
	if strict || isRounded(e.X) || isRounded(e.Y) {
		rounding = ".rn"
	}
	switch e.Op {
	case ir.Add:
		opcode = "add"
	case ir.Sub:
		opcode = "sub"
	case ir.Mul:
		opcode = "mul"
	case ir.Div:
		opcode, rounding = "div", ".rn"
	default:
		g.fail(e.Pos, "operator %d on %s", e.Op, t)
	}
	g.emit(opcode+rounding+"."+arithmeticType(t.Kind), dst, x, y)
	return dst
}

// isRounded reports whether an explicit conversion prevents fusing e with its user.
func isRounded(e ir.Expr) bool {
	c, ok := e.(*ir.Convert)
	return ok && c.T.IsFloat() && c.T.Kind == c.X.Type().Kind
}

var integerOpcode = map[ir.BinaryOp]string{
	ir.Add: "add.", ir.Sub: "sub.", ir.Mul: "mul.lo.", ir.And: "and.", ir.Or: "or.", ir.Xor: "xor.",
}

func (g *generator) integer(e *ir.Binary, dst operand) operand {
	t := e.Type()
	typ := arithmeticType(t.Kind)
	switch e.Op {
	case ir.Add:
		if m, addend, ok := multiplyAdd(e); ok {
			if d, ok := g.wideProduct("mad.wide.", m, addend, dst); ok {
				return d
			}
			if d, ok := g.productInHalves(m, addend, dst); ok {
				return d
			}
			x, y, z := g.value(m.X), g.value(m.Y), g.value(addend)
			dst = g.into(dst, classOf(t))
			g.emit("mad.lo."+typ, dst, x, y, z)
			g.extend(t.Kind, dst, dst)
			return dst
		}
	case ir.Mul:
		if d, ok := g.wideProduct("mul.wide.", e, nil, dst); ok {
			return d
		}
		if d, ok := g.productInHalves(e, nil, dst); ok {
			return d
		}
	case ir.Sub:
		typ = differenceType(t.Kind)
	case ir.And, ir.Or, ir.Xor:
		typ = bitType(t.Kind)
	case ir.AndNot:
		return g.andNot(e, dst)
	}
	x, y := g.value(e.X), g.value(e.Y)
	if e.Op == ir.And && (x.isZero() || y.isZero()) {
		return intOperand(classOf(t), 0) // see compareWithZero
	}
	dst = g.into(dst, classOf(t))
	g.emit(integerOpcode[e.Op]+typ, dst, x, y)
	if e.Op == ir.Add || e.Op == ir.Sub || e.Op == ir.Mul {
		g.extend(t.Kind, dst, dst)
	}
	return dst
}

// differenceType returns the type for subtractions. The result does not depend on the sign, but
// ptxas (13.0, 13.5) compiles q + ((0-x)<<n), where the subtraction is of u64 and it finds the
// first 0, to one instruction that negates x. If it finds that the low half of x is 0, too, it
// folds the negation without its carry into the upper half.
func differenceType(k ir.Kind) string {
	if width(k) == 64 {
		return "s64"
	}
	return arithmeticType(k)
}

func (g *generator) andNot(e *ir.Binary, dst operand) operand {
	typ := bitType(e.Type().Kind)
	x, y := g.value(e.X), g.value(e.Y)
	if x.isZero() {
		return x // see compareWithZero
	}
	if y.immediate {
		y.n = ir.WrapBits(e.Type().Kind, ^y.n)
	} else {
		mask := g.register(y.class)
		g.emit("not."+typ, mask, y)
		y = mask
	}
	dst = g.into(dst, x.class)
	g.emit("and."+typ, dst, x, y)
	return dst
}

// multiplyAdd splits x*y+z or z+x*y into product and addend. An addend that comes first is
// evaluated last, so it must not have checks: the product's loads may rely on them.
func multiplyAdd(e *ir.Binary) (product *ir.Binary, addend ir.Expr, ok bool) {
	if m, ok := e.X.(*ir.Binary); ok && m.Op == ir.Mul {
		return m, e.Y, true
	}
	if m, ok := e.Y.(*ir.Binary); ok && m.Op == ir.Mul && !ir.MayFault(e.X) {
		return m, e.X, true
	}
	return nil, nil, false
}

// wideProduct multiplies two 64-bit values that are extended from 32 bits, with a
// widening instruction: opcode is mul.wide, or mad.wide with an addend.
func (g *generator) wideProduct(opcode string, m *ir.Binary, addend ir.Expr, dst operand) (operand, bool) {
	if classOf(m.Type()) != b64Class {
		return operand{}, false
	}
	xs, xu := extends32(m.X)
	ys, yu := extends32(m.Y)
	switch {
	case xs && ys:
		opcode += "s32"
	case xu && yu:
		opcode += "u32"
	default:
		return operand{}, false
	}
	x, y := g.low32(m.X, operand{}), g.low32(m.Y, operand{})
	if addend == nil {
		dst = g.into(dst, b64Class)
		g.emit(opcode, dst, x, y)
		return dst, true
	}
	z := g.value(addend)
	dst = g.into(dst, b64Class)
	g.emit(opcode, dst, x, y, z)
	return dst, true
}

// extends32 reports whether a 64-bit value is the sign or the zero extension of its low
// half. Thread coordinates are below 1<<31 and are both.
func extends32(e ir.Expr) (signed, unsigned bool) {
	switch e := e.(type) {
	case *ir.ThreadValue:
		return true, true
	case *ir.Const:
		v := e.Int64()
		return v == int64(int32(v)), v == int64(uint32(v))
	case *ir.Convert:
		if !e.X.Type().IsInteger() || classOf(e.X.Type()) != b32Class {
			return false, false
		}
		k := e.X.Type().Kind
		small := k == ir.Uint8 || k == ir.Uint16
		return e.X.Type().IsSigned() || small, !e.X.Type().IsSigned()
	}
	return false, false
}

// divide emits a quotient or remainder.
func (g *generator) divide(e *ir.Binary, dst operand) operand {
	x, y := g.value(e.X), g.value(e.Y)
	if e.Check {
		g.at(e.Pos)
		g.checkDivisor(y, e.Pos)
	}
	if width(e.Type().Kind) == 64 && !y.immediate {
		return g.divide64(e, dst, x, y)
	}
	return g.divideAtOnce(e, dst, x, y)
}

// divideAtOnce emits a quotient or remainder by one instruction, which is a call if the numbers
// have 64 bits. The hardware's result for the smallest integer divided by -1 is undocumented;
// in Go it is the dividend.
func (g *generator) divideAtOnce(e *ir.Binary, dst, x, y operand) operand {
	t := e.Type()
	typ := arithmeticType(t.Kind)
	opcode := "div."
	if e.Op == ir.Rem {
		opcode = "rem."
	}
	overflows := t.IsSigned() && width(t.Kind) >= 32
	switch {
	case !overflows || y.immediate && int64(y.n) != -1:
		dst = g.into(dst, classOf(t))
		g.emit(opcode+typ, dst, x, y)
		g.extend(t.Kind, dst, dst)
		return dst
	case y.immediate && e.Op == ir.Rem:
		return zeroOperand(classOf(t))
	case y.immediate:
		dst = g.into(dst, classOf(t))
		g.emit("neg."+typ, dst, x)
		return dst
	}
	minusOne := g.register(predClass)
	g.emit("setp.eq."+typ, minusOne, y, intOperand(y.class, ^uint64(0)))
	divisor := g.choose(operand{}, condition{pred: minusOne}, intOperand(y.class, 1), y)
	if e.Op == ir.Rem {
		dst = g.into(dst, classOf(t))
		g.emit("rem."+typ, dst, x, divisor)
		return dst
	}
	quotient, negated := g.register(y.class), g.register(y.class)
	g.emit("div."+typ, quotient, x, divisor)
	g.emit("neg."+typ, negated, x)
	return g.choose(dst, condition{pred: minusOne}, negated, quotient)
}

// shift emits a shift. PTX clamps counts, which are unsigned 32-bit numbers, to the
// width, like Go. A 64-bit count is clamped before it is truncated to 32 bits.
func (g *generator) shift(e *ir.Binary, dst operand) operand {
	t := e.Type()
	x := g.value(e.X)
	count := g.shiftCount(e)
	if n := uint64(classBits(classOf(t))); count.immediate && count.n >= n {
		// ptxas 13.0 computes x*c<<64 as x*c.
		if e.Op == ir.Shl || !t.IsSigned() {
			return zeroOperand(classOf(t))
		}
		count.n = n - 1
	}
	dst = g.into(dst, classOf(t))
	if e.Op == ir.Shr {
		g.emit("shr."+arithmeticType(t.Kind), dst, x, count)
		return dst
	}
	if dst.class == b64Class && g.trailing().of(e) >= 64 {
		g.shiftInHalves(dst, x, count)
		return dst
	}
	g.emit("shl."+bitType(t.Kind), dst, x, count)
	g.extend(t.Kind, dst, dst)
	return dst
}

// classBits returns the register width of an integer class.
func classBits(c class) int {
	if c == b64Class {
		return 64
	}
	return 32
}

func (g *generator) shiftCount(e *ir.Binary) operand {
	const most = 64
	if c, ok := e.Y.(*ir.Const); ok {
		if e.Check && c.T.IsSigned() && c.Int64() < 0 {
			g.at(e.Pos)
			g.checkShift(g.inRegister(g.value(c)), e.Pos)
		}
		return intOperand(b32Class, min(c.Bits, most))
	}
	y := stripWidening(e.Y)
	count := g.value(y)
	// An omitted conversion may have made a uint64 negative.
	if e.Check && (y.Type().IsSigned() || count.class == b64Class) {
		g.at(e.Pos)
		g.checkShift(count, e.Pos)
	}
	if count.class == b32Class {
		return count
	}
	clamped := g.register(b64Class)
	g.emit("min.u64", clamped, count, intOperand(b64Class, most))
	return g.low(clamped)
}
