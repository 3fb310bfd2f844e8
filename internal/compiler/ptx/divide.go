package ptx

import "quern.dev/internal/compiler/ir"

// ptxas compiles a 64-bit division to a call. In a kernel with such calls and barriers,
// ptxas 13.0 assigns a uniform register that one side of a divergent branch still needs
// to the other side, which runs first (13.5 does not). So in kernels with barriers the
// division is expanded here.

// synchronises reports whether the kernel has barriers.
func (g *generator) synchronises() bool {
	if g.barriers != nil {
		return *g.barriers
	}
	found := g.usesBulk()
	v := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		_, barrier := s.(*ir.Barrier)
		found = found || barrier
		return !found
	}}
	v.Body(g.kernel.Func.Body)
	g.barriers = &found
	return found
}

// divide64 emits a 64-bit quotient or remainder. The hardware divides numbers that fit 32 bits
// several times faster.
func (g *generator) divide64(e *ir.Binary, dst, x, y operand) operand {
	x, y = g.inRegister(x), g.inRegister(y)
	dst = g.into(dst, b64Class)
	both, high, wide := g.register(b64Class), g.register(b64Class), g.register(predClass)
	g.emit("or.b64", both, x, y)
	g.emit("shr.u64", high, both, intOperand(b32Class, 32))
	g.emit("setp.ne.u64", wide, high, intOperand(b64Class, 0))
	long, end := g.newLabel(), g.newLabel()
	g.jumpIf(condition{pred: wide}, long)
	low := [2]operand{g.register(b32Class), g.register(b32Class)}
	g.emit("cvt.u32.u64", low[0], x)
	g.emit("cvt.u32.u64", low[1], y)
	result := g.register(b32Class)
	g.emit(pickOf(e.Op, "div.u32", "rem.u32"), result, low[0], low[1])
	g.emit("cvt.u64.u32", dst, result)
	g.jump(end)
	g.place(long)
	if g.synchronises() {
		g.move(dst, g.divideLong(e, x, y))
	} else {
		g.move(dst, g.divideAtOnce(e, operand{}, x, y))
	}
	g.place(end)
	return dst
}

// divideLong emits a 64-bit quotient or remainder without a call.
func (g *generator) divideLong(e *ir.Binary, x, y operand) operand {
	if !e.Type().IsSigned() {
		quotient, rest := g.divideUnsigned(x, y)
		return pickOf(e.Op, quotient, rest)
	}
	size := func(x operand, e ir.Expr) operand {
		if _, positive := extends32(e); positive {
			return x
		}
		r := g.register(b64Class)
		g.emit("abs.s64", r, x)
		return r
	}
	quotient, rest := g.divideUnsigned(size(x, e.X), size(y, e.Y))
	result, signs := pickOf(e.Op, quotient, rest), g.inRegister(x)
	if _, positive := extends32(e.Y); e.Op == ir.Div && !positive {
		both := g.register(b64Class)
		g.emit("xor.b64", both, x, y)
		signs = both
	}
	negative, negated := g.register(predClass), g.register(b64Class)
	g.emit("setp.lt.s64", negative, signs, intOperand(b64Class, 0))
	g.emit("neg.s64", negated, result)
	return g.choose(operand{}, condition{pred: negative}, negated, result)
}

func pickOf[T any](op ir.BinaryOp, quotient, rest T) T {
	if op == ir.Rem {
		return rest
	}
	return quotient
}

// divideUnsigned emits a quotient and its remainder. The reciprocal 2**64/d, rounded
// down, has 22 bits from the hardware, and each of two Newton steps doubles the number
// of bits. The quotient is at most two too small.
func (g *generator) divideUnsigned(n, d operand) (quotient, rest operand) {
	n, d = g.inRegister(n), g.inRegister(d)
	f, near, bits, z := g.register(f32Class), g.register(f32Class), g.register(b32Class), g.register(b64Class)
	g.emit("cvt.rp.f32.u64", f, d)
	g.emit("rcp.approx.ftz.f32", near, f)
	g.emit("mov.b32", bits, near)
	const scale = 64<<23 - 2 // 2**64 less two units in the last place
	g.emit("add.u32", bits, bits, intOperand(b32Class, scale))
	g.emit("mov.b32", near, bits)
	g.emit("cvt.rzi.u64.f32", z, near)
	for range 2 {
		product, missing := g.register(b64Class), g.register(b64Class)
		g.emit("mul.lo.u64", product, z, d)
		g.emit("neg.s64", product, product)
		g.emit("mul.hi.u64", missing, z, product)
		next := g.register(b64Class)
		g.emit("add.u64", next, z, missing)
		z = next
	}
	product := g.register(b64Class)
	quotient, rest = g.register(b64Class), g.register(b64Class)
	g.emit("mul.hi.u64", quotient, n, z)
	g.emit("mul.lo.u64", product, quotient, d)
	g.emit("sub.s64", rest, n, product) // see differenceType
	for range 2 {
		more := g.register(predClass)
		less, one := g.register(b64Class), g.register(b64Class)
		g.emit("setp.ge.u64", more, rest, d)
		g.emit("sub.s64", less, rest, d)
		g.emit("add.u64", one, quotient, intOperand(b64Class, 1))
		rest = g.choose(operand{}, condition{pred: more}, less, rest)
		quotient = g.choose(operand{}, condition{pred: more}, one, quotient)
	}
	return quotient, rest
}
