package opt

import (
	"math"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

func TestExpressionsFoldExactly(t *testing.T) {
	x, f, u, b := Local("x", ir.TInt), Local("f", ir.TFloat32), Local("u", ir.TUint8), Local("b", ir.TBool)
	s := Local("s", ints)
	X, F, U, B := func() ir.Expr { return ir.Get(x) }, func() ir.Expr { return ir.Get(f) }, func() ir.Expr { return ir.Get(u) }, func() ir.Expr { return ir.Get(b) }
	i8 := func(v int64) ir.Expr { return ir.IntConst(ir.TInt8, v) }
	u8 := func(v int64) ir.Expr { return ir.IntConst(ir.TUint8, v) }
	not := func(e ir.Expr) ir.Expr { return &ir.Unary{Op: ir.LNot, X: e} }
	neg := func(e ir.Expr) ir.Expr { return &ir.Unary{Op: ir.Neg, X: e} }
	checked := func() ir.Expr { return Load(Elem(s, X())) }
	for _, c := range []struct {
		name string
		in   ir.Expr
		want string
	}{
		{"an int8 sum wraps", Add(i8(127), i8(1)), "-128i8"},
		{"the quotient of the least int8 by -1 wraps", Op(i8(-128), ir.Div, i8(-1)), "-128i8"},
		{"a shift by the width gives zero", Op(Int(1), ir.Shl, Int(64)), "0"},
		{"an arithmetic shift keeps the sign", Op(Int(-5), ir.Shr, Int(70)), "-1"},
		{"a remainder has the dividend's sign", Op(Int(-7), ir.Rem, Int(4)), "-3"},
		{"a division by zero stays", Op(Int(1), ir.Div, Int(0)), "1 /? 0"},
		{"a float32 sum rounds", Add(F32(1<<24), F32(1)), "1.6777216e+07f32"},
		{"a uint8 conversion truncates", To(ir.TUint8, Int(300)), "44u8"},
		{"a float above the range is the greatest integer", To(ir.TUint8, F64(300)), "255u8"},
		{"a float below the range is the least integer", To(ir.TInt16, F32(-1e9)), "-32768i16"},
		{"a negative float is zero without a sign", To(ir.TUint64, F64(-0.5)), "0u64"},
		{"the largest float is the greatest uint64", To(ir.TUint64, F64(math.MaxFloat64)), "18446744073709551615u64"},
		{"what is below the greatest int64 is itself", To(ir.TInt64, F64(0x1p63-1024)), "9223372036854774784i64"},
		{"NaN is zero", To(ir.TInt, F64(math.NaN())), "0"},
		{"a large float fits uint64", To(ir.TUint64, F64(1<<63)), "9223372036854775808u64"},
		{"adding zero to an int is nothing", Add(X(), Int(0)), "x"},
		{"adding zero to a float is not nothing: -0+0 is 0", Add(F(), F32(0)), "f + 0.0f32"},
		{"subtracting zero from a float is nothing", Sub(F(), F32(0)), "f"},
		{"adding minus zero to a float is nothing", Add(F(), F32(math.Copysign(0, -1))), "f"},
		{"a float times zero is not zero", Mul(F(), F32(0)), "f * 0.0f32"},
		{"a float times one is itself", Mul(F(), F32(1)), "f"},
		{"a division by a power of two is a multiplication", Op(F(), ir.Div, F32(8)), "f * 0.125f32"},
		{"a division by three stays", Op(F(), ir.Div, F32(3)), "f / 3.0f32"},
		{"an int times zero is zero", Mul(X(), Int(0)), "0"},
		{"a checked load times zero is still checked", Mul(checked(), Int(0)), "s[?x] * 0"},
		{"constants move right and join", Add(Int(3), Sub(X(), Int(5))), "x - 2"},
		{"products of constants join", Mul(Mul(X(), Int(3)), Int(5)), "x * 15"},
		{"a comparison turns round", Lt(Int(3), X()), "x > 3"},
		{"a negated comparison of ints is the inverse", not(Lt(X(), Int(3))), "x >= 3"},
		{"a negated comparison of floats stays", not(Lt(F(), F32(3))), "!(f < 3.0f32)"},
		{"two negations are none", neg(neg(F())), "f"},
		{"a bool that is true is itself", Op(B(), ir.Eq, Bool(true)), "b"},
		{"true and b is b", Op(Bool(true), ir.LAnd, B()), "b"},
		{"b and false is false", Op(B(), ir.LAnd, Bool(false)), "false"},
		{"an unsigned number is not negative", Op(U(), ir.Ge, u8(0)), "true"},
		{"a conversion to the own int kind goes", To(ir.TInt, X()), "x"},
		{"a conversion to the own float kind stays", To(ir.TFloat32, Mul(F(), F())), "float32(f * f)"},
		{"a widening in between goes", To(ir.TInt, To(ir.TInt32, U())), "int(u)"},
		{"a truncation in between stays", To(ir.TInt, To(ir.TUint8, X())), "int(uint8(x))"},
		{"a wider type before a truncation goes", To(ir.TUint8, To(ir.TInt32, X())), "uint8(x)"},
		{"the smaller of constants is a constant", &ir.Intrinsic{Op: ir.Min, T: ir.TInt, Args: []ir.Expr{Int(4), Int(-4)}}, "-4"},
		{"a float's bits are a constant", &ir.Intrinsic{Op: ir.Bitcast, T: ir.TUint32, Args: []ir.Expr{F32(1)}}, "1065353216u32"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := ir.Rewriter{Expr: simplifyExpr}
			out := Local("out", c.in.Type())
			k := Kernel("k", locals(x, f, u, b, s, out), nil, Set(out, r.Value(c.in)))
			if got := text(k); got != "out = "+c.want {
				t.Errorf("got %s, want out = %s", got, c.want)
			}
		})
	}
}

func TestFoldKeepsSideEffects(t *testing.T) {
	n, out := Local("n", ir.TInt), Local("out", ints)
	a, b, c := Local("a", ir.TInt), Local("b", ir.TInt), Local("c", ir.TInt)
	build := func(body ...ir.Stmt) func() *ir.Kernel {
		return func() *ir.Kernel { return Kernel("k", locals(n, out), locals(a, b, c), body...) }
	}
	at := func(i int64) ir.Place { return Elem(out, Int(i)) }
	label := &ir.Label{Name: "l"}
	checkPass(t, "fold", []passCase{
		{"constants and copies propagate", build(
			Set(a, Int(2)), Set(b, Add(ir.Get(a), Int(3))), Set(c, ir.Get(n)),
			SetPlace(at(0), Add(Mul(ir.Get(b), ir.Get(c)), ir.Get(c)))),
			"out[?0] = (n * 5) + n"},
		{"a temporary moves to its only use", build(
			Set(a, Load(at(1))), Set(b, Load(at(2))),
			SetPlace(at(0), Mul(ir.Get(a), ir.Get(b)))),
			"out[?0] = out[?1] * out[?2]"},
		{"a load does not move over a store", build(
			Set(a, Load(at(1))), SetPlace(at(1), Int(7)), SetPlace(at(2), ir.Get(a))),
			lines("a = out[?1]", "out[?1] = 7", "out[?2] = a")},
		{"a checked load does not move behind an operator that may skip it", build(
			Set(a, Load(at(1))),
			If(Op(Lt(ir.Get(n), Int(3)), ir.LAnd, Lt(ir.Get(a), Int(4))), SetPlace(at(2), Int(1)))),
			lines("a = out[?1]", "if (n < 3) && (a < 4) {", "out[?2] = 1")},
		{"a value does not move over an assignment to what it reads", build(
			Set(a, ir.Get(n)), Set(a, Add(ir.Get(a), Len(out))), Set(b, Mul(ir.Get(a), Int(3))), Set(a, Load(at(0))),
			SetPlace(at(1), Add(ir.Get(a), Add(ir.Get(b), ir.Get(a))))),
			lines("a = n", "a = a + len(out)", "b = a * 3", "a = out[?0]", "out[?1] = a + (b + a)")},
		{"a constant condition selects a branch", build(
			Set(a, Int(1)),
			Else(If(Lt(ir.Get(a), Int(2)), SetPlace(at(0), Int(1))), SetPlace(at(0), Int(2)))),
			"out[?0] = 1"},
		{"an unused value goes, a check does not", build(
			Set(a, Add(ir.Get(n), Int(1))), Set(b, Op(ir.Get(n), ir.Div, Len(out))), SetPlace(at(0), Int(1))),
			lines("b = n /? len(out)", "out[?0] = 1")},
		{"an overwritten value goes", build(
			Set(a, Int(0)), Set(a, Load(at(1))), SetPlace(at(0), Add(ir.Get(a), ir.Get(a)))),
			lines("a = out[?1]", "out[?0] = a + a")},
		{"code behind a jump goes", build(
			&ir.Block{Label: label, Body: []ir.Stmt{
				If(Lt(ir.Get(n), Int(1)), SetPlace(at(0), Int(1)), &ir.Break{Label: label}, SetPlace(at(5), Int(1))),
				SetPlace(at(1), Int(2)),
			}}),
			lines("if n < 1 {", "out[?0] = 1", "} else {", "out[?1] = 2")},
		{"a loop that never runs goes", build(Body(
			For(a, Int(3), Int(3), SetPlace(at(0), Int(1))),
			&ir.Loop{Label: &ir.Label{}, Cond: Lt(Int(3), Int(2)), Body: []ir.Stmt{SetPlace(at(1), Int(1))}},
			SetPlace(at(2), Int(1)))...),
			lines("a = 3", "for L0.a a < 3 {", "out[?0] = 1", "} post {", "a = a + 1", "out[?2] = 1")},
	})
}
