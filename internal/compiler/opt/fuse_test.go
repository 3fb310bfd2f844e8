package opt

import (
	"strings"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

func TestFuse(t *testing.T) {
	a, b, c := Local("a", ir.TFloat32), Local("b", ir.TFloat32), Local("c", ir.TFloat32)
	s, d := Local("s", ir.SliceOf(ir.TFloat32)), Local("d", ir.TFloat64)
	get := ir.Get
	mul := func() ir.Expr { return Mul(get(a), get(b)) }
	round := func(e ir.Expr) ir.Expr { return To(e.Type(), e) }
	strict := func(e ir.Expr) ir.Expr { e.(*ir.Binary).Strict = true; return e }
	sqrt := func(e ir.Expr) ir.Expr { return &ir.Intrinsic{Op: ir.Sqrt, T: e.Type(), Args: []ir.Expr{e}} }
	for _, test := range []struct {
		name string
		x    ir.Expr
		fast bool
		want string
	}{
		{"product plus value", Add(mul(), get(c)), false, "fma(v0.a, v1.b, v2.c)"},
		{"value plus product", Add(get(c), mul()), false, "fma(v0.a, v1.b, v2.c)"},
		{"product minus value", Sub(mul(), get(c)), false, "fma(v0.a, v1.b, -v2.c)"},
		{"value minus product", Sub(get(c), mul()), false, "fma(-v0.a, v1.b, v2.c)"},
		{"product minus constant", Sub(mul(), F32(2)), false, "fma(v0.a, v1.b, -2.0f32)"},
		{"a dot product is a chain", Add(Add(get(c), mul()), Mul(get(b), get(c))), false, "fma(v1.b, v2.c, fma(v0.a, v1.b, v2.c))"},
		{"a sum of products", Add(mul(), Mul(get(b), get(c))), false, "fma(v0.a, v1.b, v1.b * v2.c)"},
		{"a converted product is rounded", Add(round(mul()), get(c)), false, "(v0.a *! v1.b) + v2.c"},
		{"a converted variable is rounded", Add(round(get(a)), get(c)), false, "float32(v0.a) +! v2.c"},
		{"a strict product is not fused", Add(strict(mul()), get(c)), false, "(v0.a *! v1.b) + v2.c"},
		{"a strict sum is not fused", strict(Add(mul(), get(c))), false, "(v0.a * v1.b) +! v2.c"},
		{"an element whose check the product may need stays first", Add(Load(Elem(s, Int(0))), mul()), false, "v3.s[?0] + (v0.a * v1.b)"},
		{"a division is exact", Op(get(a), ir.Div, get(b)), false, "v0.a / v1.b"},
		{"fastmath approximates a division", Op(get(a), ir.Div, get(b)), true, "approxDiv(v0.a, v1.b)"},
		{"fastmath approximates a reciprocal", Op(F32(1), ir.Div, get(b)), true, "approxRcp(v1.b)"},
		{"fastmath approximates a square root", sqrt(get(a)), true, "approxSqrt(v0.a)"},
		{"fastmath approximates the reciprocal of one", Op(F32(1), ir.Div, sqrt(get(a))), true, "approxRsqrt(v0.a)"},
		{"fastmath leaves float64", Op(get(d), ir.Div, sqrt(get(d))), true, "v4.d / sqrt(v4.d)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dst := c
			if test.x.Type().Kind == ir.Float64 {
				dst = d
			}
			k := Kernel("k", []*ir.Local{a, b, c, s, d}, nil, Set(dst, test.x))
			k.Options.FastMath = test.fast
			if err := fuse(k); err != nil {
				t.Fatal(err)
			}
			if err := ir.Verify(k, ir.StageFinal); err != nil {
				t.Fatal(err)
			}
			if got := k.String(); !strings.Contains(got, "= "+test.want+"\n") {
				t.Errorf("no %q in\n%s", test.want, got)
			}
		})
	}
}
