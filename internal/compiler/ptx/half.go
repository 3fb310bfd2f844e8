package ptx

import "quern.dev/internal/compiler/ir"

// halfConvert converts between a 16-bit float and a wider one.
func (g *generator) halfConvert(e *ir.Convert, dst operand) operand {
	from, to := e.X.Type(), e.T
	switch {
	case from.IsHalf() && to.IsHalf():
		return g.eval(e.X, dst)
	case from.Kind == ir.Float16:
		x := g.inRegister(g.value(e.X))
		dst = g.into(dst, classOf(to))
		g.emit("cvt."+arithmeticType(to.Kind)+".f16", dst, x)
		return dst
	case from.Kind == ir.BFloat16:
		return g.widenBFloat16(e, dst)
	}
	if d, ok := g.halfArithmetic(e, dst); ok {
		return d
	}
	if to.Kind == ir.Float16 {
		x := g.inRegister(g.value(e.X))
		if from.Kind == ir.Float64 {
			return g.roundFloat16(x, dst)
		}
		dst = g.into(dst, b16Class)
		g.emit("cvt.rn.f16.f32", dst, x)
		return dst
	}
	if from.Kind == ir.Float64 {
		return g.roundBFloat16(g.roundToOdd(g.inRegister(g.value(e.X))), dst)
	}
	return g.roundBFloat16(g.inRegister(g.value(e.X)), dst)
}

// roundFloat16 rounds a float64. The instruction, unlike that from float32, keeps
// some of a NaN's bits on an H200.
func (g *generator) roundFloat16(x, dst operand) operand {
	rounded, number := g.register(b16Class), g.register(predClass)
	g.emit("cvt.rn.f16.f64", rounded, x)
	g.emit("setp.num.f64", number, x, x)
	dst = g.into(dst, b16Class)
	g.emit("selp.b16", dst, rounded, intOperand(b16Class, 0x7FFF), number)
	return dst
}

// halfOpcodes are operations that have an instruction for float16.
var halfOpcodes = map[ir.BinaryOp]string{ir.Add: "add.rn.f16", ir.Sub: "sub.rn.f16", ir.Mul: "mul.rn.f16"}

// halfArithmetic emits one instruction for a float32 operation on two float16
// that is rounded to float16, which gives the same.
func (g *generator) halfArithmetic(e *ir.Convert, dst operand) (operand, bool) {
	b, ok := e.X.(*ir.Binary)
	if !ok || e.T.Kind != ir.Float16 {
		return operand{}, false
	}
	opcode := halfOpcodes[b.Op]
	x, y := widenedFloat16(b.X), widenedFloat16(b.Y)
	if opcode == "" || x == nil || y == nil {
		return operand{}, false
	}
	g.need(53)
	left, right := g.inRegister(g.value(x)), g.inRegister(g.value(y))
	dst = g.into(dst, b16Class)
	g.emit(opcode, dst, left, right)
	return dst, true
}

// widenedFloat16 returns the float16 that e is the float32 of, nil if it is none.
func widenedFloat16(e ir.Expr) ir.Expr {
	switch e := e.(type) {
	case *ir.Convert:
		if e.X.Type().Kind == ir.Float16 && e.T.Kind == ir.Float32 {
			return e.X
		}
	case *ir.Const:
		if h := ir.HalfConst(ir.TFloat16, e.Float); e.T.Kind == ir.Float32 && h.Half() == e.Float {
			return h
		}
	}
	return nil
}

// halfFMA is the fused multiply-add of a 16-bit type.
func (g *generator) halfFMA(e *ir.Intrinsic, dst operand) operand {
	opcode := "fma.rn.f16"
	switch {
	case e.T.Kind == ir.Float16:
		g.need(53)
	case g.has(80):
		opcode = "fma.rn.bf16"
		g.needVersion(70)
	default:
		return g.exactFMA(e, dst)
	}
	var args [4]operand
	for i, a := range e.Args {
		args[i+1] = g.inRegister(g.value(a))
	}
	args[0] = g.into(dst, b16Class)
	g.emit(opcode, args[:]...)
	return args[0]
}

// exactFMA is the fused multiply-add of bfloat16 in float64, in which the
// product is exact and the sum is rounded to odd: to the neighbour whose last bit
// is 1, which the two directed roundings differ to tell.
func (g *generator) exactFMA(e *ir.Intrinsic, dst operand) operand {
	var x [3]operand
	for i, a := range e.Args {
		x[i] = g.widenBFloat16(&ir.Convert{T: ir.TFloat64, X: a}, operand{})
	}
	product, sum, up, down := g.register(f64Class), g.register(f64Class), g.register(f64Class), g.register(f64Class)
	bits, odd, inexact := g.register(b64Class), g.register(b64Class), g.register(predClass)
	g.emit("mul.rn.f64", product, x[0], x[1])
	g.emit("add.rz.f64", sum, product, x[2])
	g.emit("add.rp.f64", up, product, x[2])
	g.emit("add.rm.f64", down, product, x[2])
	g.emit("setp.ne.f64", inexact, up, down)
	g.emit("mov.b64", bits, sum)
	g.emit("or.b64", odd, bits, intOperand(b64Class, 1))
	g.emit("selp.b64", bits, odd, bits, inexact)
	g.emit("mov.b64", sum, bits)
	// An exact zero has the sign that rounding to the nearest gives.
	g.emit("add.rn.f64", up, product, x[2])
	g.emit("selp.f64", sum, sum, up, inexact)
	return g.roundBFloat16(g.roundToOdd(sum), dst)
}

// widenBFloat16 puts the bits of a bfloat16 into the upper half of a float32.
func (g *generator) widenBFloat16(e *ir.Convert, dst operand) operand {
	x := g.inRegister(g.value(e.X))
	low := g.register(b32Class)
	g.emit("cvt.u32.u16", low, x)
	g.emit("shl.b32", low, low, intOperand(b32Class, 16))
	if e.T.Kind == ir.Float32 {
		dst = g.into(dst, f32Class)
		g.emit("mov.b32", dst, low)
		return dst
	}
	single := g.register(f32Class)
	g.emit("mov.b32", single, low)
	dst = g.into(dst, f64Class)
	g.emit("cvt.f64.f32", dst, single)
	return dst
}

// roundBFloat16 rounds a float32 to its upper half. On devices that have the
// instruction that is one, elsewhere integer arithmetic: adding just under half
// of the last bit, or half where it is odd, carries into it where the value is
// to be rounded up.
func (g *generator) roundBFloat16(x, dst operand) operand {
	if g.has(80) {
		g.needVersion(70)
		dst = g.into(dst, b16Class)
		g.emit("cvt.rn.bf16.f32", dst, x)
		return dst
	}
	bits, odd, number := g.register(b32Class), g.register(b32Class), g.register(predClass)
	g.emit("mov.b32", bits, x)
	g.emit("bfe.u32", odd, bits, intOperand(b32Class, 16), intOperand(b32Class, 1))
	g.emit("add.u32", bits, bits, odd)
	g.emit("add.u32", bits, bits, intOperand(b32Class, 0x7FFF))
	g.emit("shr.u32", bits, bits, intOperand(b32Class, 16))
	g.emit("setp.num.f32", number, x, x)
	g.emit("selp.b32", bits, bits, intOperand(b32Class, 0x7FFF), number)
	dst = g.into(dst, b16Class)
	g.emit("cvt.u16.u32", dst, bits)
	return dst
}

// roundToOdd makes a float64 a float32 that rounds to a bfloat16 as it does:
// where it is not exact, the neighbour whose last bit is 1 (Boldo and Melquiond,
// Emulation of FMA and correctly rounded sums, 2008).
func (g *generator) roundToOdd(x operand) operand {
	single, back := g.register(f32Class), g.register(f64Class)
	bits, odd, inexact := g.register(b32Class), g.register(b32Class), g.register(predClass)
	g.emit("cvt.rz.f32.f64", single, x)
	g.emit("cvt.f64.f32", back, single)
	g.emit("setp.ne.f64", inexact, back, x) // ordered: a NaN stays one
	g.emit("mov.b32", bits, single)
	g.emit("or.b32", odd, bits, intOperand(b32Class, 1))
	g.emit("selp.b32", bits, odd, bits, inexact)
	g.emit("mov.b32", single, bits)
	return single
}

// halfBitcast moves the bits of a 16-bit float to an integer, or the other way.
func (g *generator) halfBitcast(x operand, to *ir.Type, dst operand) operand {
	c := classOf(to)
	switch {
	case x.class == c:
		return x
	case x.immediate:
		return operand{class: c, immediate: true, n: ir.WrapBits(to.Kind, x.n)}
	}
	dst = g.into(dst, c)
	switch {
	case c == b16Class:
		g.emit("cvt.u16.u32", dst, x)
	case to.IsSigned():
		g.emit("cvt.s32.s16", dst, x)
	default:
		g.emit("cvt.u32.u16", dst, x)
	}
	return dst
}

// extractHalf takes 16-bit float i of a word.
func (g *generator) extractHalf(dst, word operand, i int) {
	if i > 0 {
		high := g.register(b32Class)
		g.emit("shr.u32", high, word, intOperand(b32Class, 16))
		word = high
	}
	g.emit("cvt.u16.u32", dst, word)
}

// packHalves makes a word of two 16-bit floats.
func (g *generator) packHalves(parts []operand) operand {
	low, high := g.inRegister(parts[0]), g.inRegister(parts[1])
	word := g.register(b32Class)
	g.text = append(word.append(append(g.text, "\tmov.b32 "...)), ", {"...)
	g.text = append(high.append(append(low.append(g.text), ", "...)), "};\n"...)
	return word
}
