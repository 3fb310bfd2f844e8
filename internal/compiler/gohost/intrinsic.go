package gohost

import (
	"fmt"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// intrinsic prints an operation: a call of the corresponding Go function, or an inline
// expression.
func (e *emitter) intrinsic(x *ir.Intrinsic) (string, int) {
	switch x.Op {
	case ir.FMA:
		switch {
		case x.T.IsHalf():
			return e.halfFMA(x), precPrimary
		case x.T.Kind == ir.Float64:
			return e.mathCall("FMA", x), precPrimary
		}
	case ir.ClusterAddress:
		return fmt.Sprintf("%s(r, %s, %s)", e.member(hostPath, "ClusterShared"), e.expr(x.Args[0], precOr), e.value(x.Args[1], ir.TInt, precOr)), precPrimary
	case ir.Min:
		return e.minMax("min", x), precPrimary
	case ir.Max:
		return e.minMax("max", x), precPrimary
	case ir.Bitcast:
		return e.bitcast(x), precPrimary
	case ir.MulHi:
		return e.mulHi(x), precPrimary
	case ir.ApproxRcp:
		return "1 / " + e.opaque(x.Args[0], precUnary), precMul
	case ir.ApproxDiv:
		return e.opaque(x.Args[0], precMul) + " / " + e.opaque(x.Args[1], precUnary), precMul
	case ir.Sqrt:
		if !x.T.IsHalf() {
			return e.sqrt(x), precPrimary
		}
	}
	switch pkg, name, _ := strings.Cut(x.Op.Go, "."); pkg {
	case "math":
		return e.mathCall(name, x), precPrimary
	case "bits":
		return e.bitCall(name, x), precPrimary
	case "kernel":
		return fmt.Sprintf("%s[%s](%s)", e.member(kernelPath, name), e.typ(x.T), e.values(x.Args, x.T)), precPrimary
	}
	e.failf("unknown intrinsic %s", x.Op)
	return "0", precPrimary
}

func (e *emitter) values(list []ir.Expr, t *ir.Type) string {
	s := ""
	for i, x := range list {
		if i > 0 {
			s += ", "
		}
		s += e.value(x, t, precOr)
	}
	return s
}

// mathCall calls a float64 function. For float32, the function is exact between
// conversions, which the Go compiler removes if the machine has the instruction.
func (e *emitter) mathCall(name string, x *ir.Intrinsic) string {
	args := ""
	for i, a := range x.Args {
		if i > 0 {
			args += ", "
		}
		args += e.as(a, ir.TFloat64)
	}
	s := e.member("math", name) + "(" + args + ")"
	if identical(x.T, ir.TFloat64) {
		return s
	}
	return e.conversion(x.T, s)
}

// sqrt prints a square root. On amd64, the instruction keeps a part of its destination
// register and waits for the last value there, which may be the result of the previous
// iteration of a loop. The subtraction, which changes nothing, computes the operand in
// a fresh register, which Go then uses for the result.
func (e *emitter) sqrt(x *ir.Intrinsic) string {
	arg := e.opaque(x.Args[0], precAdd) + " - 0"
	if !identical(goType(x.Args[0]), ir.TFloat64) {
		arg = e.conversion(ir.TFloat64, arg)
	}
	s := e.member("math", "Sqrt") + "(" + arg + ")"
	if identical(x.T, ir.TFloat64) {
		return s
	}
	return e.conversion(x.T, s)
}

// as prints a number converted to a predeclared type unless it already has that type.
func (e *emitter) as(x ir.Expr, t *ir.Type) string {
	if identical(goType(x), t) {
		return e.value(x, t, precOr)
	}
	return e.conversion(t, e.opaque(x, precOr))
}

func (e *emitter) bitCall(name string, x *ir.Intrinsic) string {
	arg := x.Args[0].Type()
	width := arg.Size() * 8
	unsigned := map[int64]*ir.Type{8: ir.TUint8, 16: ir.TUint16, 32: ir.TUint32, 64: ir.TUint64}[width]
	args := e.as(x.Args[0], unsigned)
	if x.Op.Count {
		args += ", " + e.as(x.Args[1], ir.TInt)
	}
	result := unsigned
	if x.Op.Result == ir.BitCount {
		result = ir.TInt
	}
	s := fmt.Sprintf("%s%d(%s)", e.member("math/bits", name), width, args)
	if identical(result, x.T) {
		return s
	}
	return e.conversion(x.T, s)
}

// minMax uses Go's builtin functions, which need one typed operand.
func (e *emitter) minMax(name string, x *ir.Intrinsic) string {
	t := x.T
	left, right := e.value(x.Args[0], t, precOr), e.value(x.Args[1], t, precOr)
	if isConst(x.Args[0]) && isConst(x.Args[1]) {
		left = e.conversion(t, left)
	}
	return fmt.Sprintf("%s(%s, %s)", name, left, right)
}

func (e *emitter) bitcast(x *ir.Intrinsic) string {
	from, to := x.Args[0].Type(), x.T
	if from.IsHalf() || to.IsHalf() {
		return e.halfBitcast(x)
	}
	width := to.Size() * 8
	bits := ir.TUint32
	float := ir.TFloat32
	if width == 64 {
		bits, float = ir.TUint64, ir.TFloat64
	}
	switch {
	case from.IsFloat() && !to.IsFloat():
		s := fmt.Sprintf("%s(%s)", e.member("math", fmt.Sprintf("Float%dbits", width)), e.as(x.Args[0], float))
		if identical(to, bits) {
			return s
		}
		return e.conversion(to, s)
	case to.IsFloat() && !from.IsFloat():
		s := fmt.Sprintf("%s(%s)", e.member("math", fmt.Sprintf("Float%dfrombits", width)), e.as(x.Args[0], bits))
		if identical(to, float) {
			return s
		}
		return e.conversion(to, s)
	}
	return e.conversion(to, e.opaque(x.Args[0], precOr))
}

func (e *emitter) mulHi(x *ir.Intrinsic) string {
	if x.T.Size() == 4 {
		return e.conversion(x.T, fmt.Sprintf("uint64(%s) * uint64(%s) >> 32", e.opaque(x.Args[0], precOr), e.opaque(x.Args[1], precOr)))
	}
	s := fmt.Sprintf("func() uint64 { hi, _ := %s(%s, %s); return hi }()", e.member("math/bits", "Mul64"),
		e.as(x.Args[0], ir.TUint64), e.as(x.Args[1], ir.TUint64))
	if identical(x.T, ir.TUint64) {
		return s
	}
	return e.conversion(x.T, s)
}
