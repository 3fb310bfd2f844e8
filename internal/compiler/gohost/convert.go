package gohost

import (
	"fmt"

	"quern.dev/internal/compiler/ir"
)

func (e *emitter) convert(x *ir.Convert) string {
	if x.X.Type().IsHalf() || x.T.IsHalf() {
		return e.halfConvert(x)
	}
	if x.T.IsInteger() && x.X.Type().IsFloat() && !x.InRange {
		return e.truncation(x)
	}
	if c, ok := constant(x.X); ok && !representable(c, x.T) {
		return e.conversion(x.T, e.opaque(x.X, precOr))
	}
	if _, ok := constant(x.X); ok && x.T.Kind == ir.Bool {
		return e.conversion(x.T, e.expr(x.X, precOr))
	}
	if isConst(x.X) {
		return e.conversion(x.T, e.value(x.X, x.X.Type(), precOr))
	}
	return e.conversion(x.T, e.expr(x.X, precOr))
}

// representable reports whether Go accepts the conversion of a constant.
func representable(c *ir.Const, t *ir.Type) bool {
	switch {
	case c.T.Kind == t.Kind:
		return true
	case c.T.IsInteger() && t.IsInteger():
		v := ir.WrapBits(t.Kind, c.Bits)
		return v == c.Bits && (c.T.IsSigned() == t.IsSigned() || c.Int64() >= 0)
	case c.T.IsInteger() && t.IsFloat():
		return int64(float32(c.Int64())) == c.Int64() && c.Int64() >= 0
	}
	return false
}

// truncation prints the conversion of a float to an integer that may be out of range,
// where processors differ.
func (e *emitter) truncation(x *ir.Convert) string {
	name := "Narrow"
	switch {
	case x.T.Size() == 8 && x.T.IsSigned():
		name = "Int64"
	case x.T.Size() == 8:
		name = "Uint64"
	}
	return fmt.Sprintf("%s[%s](%s)", e.member(hostPath, name), e.typ(x.T), e.expr(x.X, precOr))
}
