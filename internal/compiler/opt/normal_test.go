package opt

import (
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

func TestRootsOfSoftenedSquaresHaveNoSubnormalArgument(t *testing.T) {
	x, y := ir.Get(Local("x", ir.TFloat32)), ir.Get(Local("y", ir.TFloat32))
	square := func(e ir.Expr) ir.Expr { return Mul(e, e) }
	for _, c := range []struct {
		name string
		e    ir.Expr
		want bool
	}{
		{"a constant", F32(1e-3), true},
		{"a subnormal constant", F32(1e-40), false},
		{"a sum of squares and a constant", Add(Add(square(x), square(y)), F32(1e-3)), true},
		{"the same, fused", Add(fma(ir.TFloat32, x, x, square(y)), F32(1e-3)), true},
		{"the same, fused with the constant", fma(ir.TFloat32, x, x, fma(ir.TFloat32, y, y, F32(1e-3))), true},
		{"a sum of squares", Add(square(x), square(y)), false},
		{"a product of two variables", Add(Mul(x, y), F32(1e-3)), false},
		{"a difference", Op(square(x), ir.Sub, F32(1e-3)), false},
		{"a variable", x, false},
	} {
		if got := isNormal(c.e); got != c.want {
			t.Errorf("%s: isNormal = %v", c.name, got)
		}
	}
}
