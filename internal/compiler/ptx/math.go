package ptx

import (
	"strings"

	"quern.dev/internal/compiler/ir"
)

// intrinsic emits an operation: one instruction, or a sequence defined here.
func (g *generator) intrinsic(e *ir.Intrinsic, dst operand) operand {
	typ := arithmeticType(e.T.Kind)
	if e.Op.PTX != "" && !e.T.IsHalf() {
		return g.apply(e, dst, strings.ReplaceAll(e.Op.PTX, "T", typ))
	}
	if e.Op.Result == ir.BitCount {
		return g.countAs(e, dst)
	}
	switch e.Op {
	case ir.FMA:
		return g.halfFMA(e, dst)
	case ir.Copysign: // the instruction's first operand is the sign
		x, sign := g.value(e.Args[0]), g.value(e.Args[1])
		dst = g.into(dst, classOf(e.T))
		g.emit("copysign."+typ, dst, sign, x)
		return dst
	case ir.Min, ir.Max:
		return g.minmax(e, dst)
	case ir.Bitcast:
		return g.bitcast(e, dst)
	case ir.ReverseBits:
		return g.reverseBits(e, dst)
	case ir.ReverseBytes:
		return g.reverseBytes(e, dst)
	case ir.RotateLeft:
		return g.rotate(e, dst)
	}
	g.fail(ir.Pos{}, "intrinsic %s on %s", e.Op, e.T)
	return zeroOperand(classOf(e.T))
}

// apply emits one instruction of up to three operands.
func (g *generator) apply(e *ir.Intrinsic, dst operand, opcode string) operand {
	var args [4]operand
	n := copy(args[1:], make([]operand, len(e.Args))) + 1
	for i := 1; i < n; i++ {
		args[i] = g.value(e.Args[i-1])
		if strings.HasPrefix(opcode, "cvt.") { // does not accept constants
			args[i] = g.inRegister(args[i])
		}
	}
	args[0] = g.into(dst, classOf(e.T))
	g.emit(opcode, args[:n]...)
	return args[0]
}

// smMinMaxNaN is the compute capability, times ten, that introduced min and max for which NaN is
// the smallest and the largest number, as in Go.
const smMinMaxNaN = 80

// minmax emits min or max. Like Go, the instructions order -0 before +0, but the older ones
// prefer a number to NaN: a sum is NaN if either operand is.
func (g *generator) minmax(e *ir.Intrinsic, dst operand) operand {
	opcode := "min."
	if e.Op == ir.Max {
		opcode = "max."
	}
	typ := arithmeticType(e.T.Kind)
	if !e.T.IsFloat() {
		return g.apply(e, dst, opcode+typ)
	}
	x, y := g.value(e.Args[0]), g.value(e.Args[1])
	if x.immediate {
		x, y = y, x
	}
	class := classOf(e.T)
	if class == f32Class && g.has(smMinMaxNaN) {
		g.needVersion(70)
		dst = g.into(dst, class)
		g.emit(opcode+"NaN.f32", dst, x, y)
		return dst
	}
	number, sum, isNaN := g.register(class), x, g.register(predClass)
	g.emit(opcode+typ, number, x, y)
	if y.immediate && !isNaNBits(y) {
		g.emit("setp.nan."+typ, isNaN, x, x)
	} else {
		g.emit("setp.nan."+typ, isNaN, x, y)
		sum = g.register(class)
		g.emit("add.rn."+typ, sum, x, y)
	}
	return g.choose(dst, condition{pred: isNaN}, sum, number)
}

func isNaNBits(o operand) bool {
	if o.class == f32Class {
		return o.n&0x7FFFFFFF > 0x7F800000
	}
	return o.n&(1<<63-1) > 0x7FF<<52
}

func (g *generator) bitcast(e *ir.Intrinsic, dst operand) operand {
	from, to := e.Args[0].Type(), e.T
	x := g.value(e.Args[0])
	if from.IsHalf() || to.IsHalf() {
		return g.halfBitcast(x, to, dst)
	}
	switch {
	case x.immediate && !from.IsFloat() && !to.IsFloat():
		return g.reinterpret(to.Kind, x)
	case x.immediate:
		x.class = classOf(to)
		if !to.IsFloat() {
			x.n = ir.WrapBits(to.Kind, x.n)
		} else if to.Kind == ir.Float32 {
			x.n = uint64(uint32(x.n))
		}
		return x
	case x.class == classOf(to):
		if width(to.Kind) >= 32 || from.Kind == to.Kind {
			return x
		}
		dst = g.into(dst, b32Class)
		g.extend(to.Kind, dst, x)
		return dst
	}
	dst = g.into(dst, classOf(to))
	g.emit("mov."+bitType(to.Kind), dst, x)
	return dst
}
