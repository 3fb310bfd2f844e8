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

// roundFloat16 rounds a float64. Unlike the instruction for float32, this one keeps
// some of a NaN's bits on an H200.
func (g *generator) roundFloat16(x, dst operand) operand {
	rounded, number := g.register(b16Class), g.register(predClass)
	g.emit("cvt.rn.f16.f64", rounded, x)
	g.emit("setp.num.f64", number, x, x)
	dst = g.into(dst, b16Class)
	g.emit("selp.b16", dst, rounded, intOperand(b16Class, 0x7FFF), number)
	return dst
}

// halfOpcodes lists the operations that have a float16 instruction.
var halfOpcodes = map[ir.BinaryOp]string{ir.Add: "add.rn.f16", ir.Sub: "sub.rn.f16", ir.Mul: "mul.rn.f16"}

// halfArithmetic emits one instruction for a float32 operation on two float16 whose
// result is rounded to float16. The result is the same.
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

// widenedFloat16 returns the float16 whose float32 conversion e is, or nil.
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

// halfFMA emits the fused multiply-add of a 16-bit type.
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

// exactFMA emits the bfloat16 fused multiply-add in float64: the product is exact and
// the sum is rounded to odd, which is to the neighbour whose last bit is 1. The sum is
// inexact if the two directed roundings differ.
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
	// An exact zero has the sign of rounding to nearest.
	g.emit("add.rn.f64", up, product, x[2])
	g.emit("selp.f64", sum, sum, up, inexact)
	return g.roundBFloat16(g.roundToOdd(sum), dst)
}

// widenBFloat16 moves the bits of a bfloat16 to the upper half of a float32.
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

// roundBFloat16 rounds a float32 to its upper half, with one instruction if the device
// has it, otherwise with integer arithmetic: adding just under half of the last bit, or
// half if that bit is odd, carries into it if the value must be rounded up.
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

// roundToOdd converts a float64 to a float32 that rounds to the same bfloat16: if it is
// not exact, it is the neighbour whose last bit is 1 (Boldo and Melquiond, Emulation of
// FMA and correctly rounded sums, 2008).
func (g *generator) roundToOdd(x operand) operand {
	single, back := g.register(f32Class), g.register(f64Class)
	bits, odd, inexact := g.register(b32Class), g.register(b32Class), g.register(predClass)
	g.emit("cvt.rz.f32.f64", single, x)
	g.emit("cvt.f64.f32", back, single)
	g.emit("setp.ne.f64", inexact, back, x) // ordered: a NaN stays a NaN
	g.emit("mov.b32", bits, single)
	g.emit("or.b32", odd, bits, intOperand(b32Class, 1))
	g.emit("selp.b32", bits, odd, bits, inexact)
	g.emit("mov.b32", single, bits)
	return single
}

// halfBitcast moves the bits of a 16-bit float to an integer, or back.
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

// extractHalf extracts the 16-bit float number i of a word.
func (g *generator) extractHalf(dst, word operand, i int) {
	if i > 0 {
		high := g.register(b32Class)
		g.emit("shr.u32", high, word, intOperand(b32Class, 16))
		word = high
	}
	g.emit("cvt.u16.u32", dst, word)
}

// packHalves packs two 16-bit floats into a word.
func (g *generator) packHalves(parts []operand) operand {
	low, high := g.inRegister(parts[0]), g.inRegister(parts[1])
	word := g.register(b32Class)
	g.text = append(word.append(append(g.text, "\tmov.b32 "...)), ", {"...)
	g.text = append(high.append(append(low.append(g.text), ", "...)), "};\n"...)
	return word
}
