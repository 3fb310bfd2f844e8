package gohost

import (
	"fmt"

	"quern.dev/internal/compiler/ir"
)

// halfNames are the names of the 16-bit types in package kernel.
var halfNames = map[ir.Kind]string{ir.Float16: "Float16", ir.BFloat16: "BFloat16"}

// halfType returns the type of package kernel that t is or is based on.
func halfType(t *ir.Type) *ir.Type {
	if t.Kind == ir.Float16 {
		return ir.TFloat16
	}
	return ir.TBFloat16
}

// halfLiteral prints a constant of a 16-bit type. Unlike other literals, it has a type.
func (e *emitter) halfLiteral(c *ir.Const) string {
	return e.halfResult(c.T, fmt.Sprintf("%s(%#04x)", e.member(kernelPath, halfNames[c.T.Kind]+"FromBits"), c.Bits))
}

// halfResult converts a value of kernel's type to a type based on it.
func (e *emitter) halfResult(t *ir.Type, s string) string {
	if identical(t, halfType(t)) {
		return s
	}
	return e.conversion(t, s)
}

// halfOperand prints a value of a 16-bit type as kernel's type, so that a selector can
// follow.
func (e *emitter) halfOperand(x ir.Expr) string {
	if t := goType(x); !isConst(x) && !identical(t, halfType(t)) {
		return e.conversion(halfType(t), e.expr(x, precOr))
	}
	return e.expr(x, precPrimary)
}

// halfConvert prints a conversion from or to a 16-bit type.
func (e *emitter) halfConvert(x *ir.Convert) string {
	from, to := x.X.Type(), x.T
	if from.IsHalf() && to.IsHalf() {
		return e.conversion(to, e.expr(x.X, precOr))
	}
	if from.IsHalf() {
		method, result := ".Float32()", ir.TFloat32
		if to.Kind == ir.Float64 {
			method, result = ".Float64()", ir.TFloat64
		}
		s := e.halfOperand(x.X) + method
		if identical(to, result) {
			return s
		}
		return e.conversion(to, s)
	}
	return e.halfResult(to, fmt.Sprintf("%s[%s](%s)", e.member(kernelPath, "To"+halfNames[to.Kind]), e.typ(from), e.value(x.X, from, precOr)))
}

// halfBitcast prints a bit cast between a 16-bit float and an integer.
func (e *emitter) halfBitcast(x *ir.Intrinsic) string {
	if !x.T.IsHalf() {
		s := e.halfOperand(x.Args[0]) + ".Bits()"
		if identical(x.T, ir.TUint16) {
			return s
		}
		return e.conversion(x.T, s)
	}
	return e.halfResult(x.T, fmt.Sprintf("%s(%s)", e.member(kernelPath, halfNames[x.T.Kind]+"FromBits"), e.as(x.Args[0], ir.TUint16)))
}

// halfFMA prints a fused multiply-add.
func (e *emitter) halfFMA(x *ir.Intrinsic) string {
	return e.halfResult(x.T, fmt.Sprintf("%s.FMA(%s, %s)", e.halfOperand(x.Args[0]), e.halfOperand(x.Args[1]), e.halfOperand(x.Args[2])))
}
