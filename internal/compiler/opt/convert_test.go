package opt

import (
	"math"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

func TestConversionsInRangeAreKnown(t *testing.T) {
	f, d := Local("f", ir.TFloat32), Local("d", ir.TFloat64)
	b, n, u := Local("b", ir.TUint8), Local("n", ir.TInt), Local("u", ir.TUint64)
	once, twice := Local("once", ir.TFloat32), Local("twice", ir.TFloat32)
	f32 := func(x ir.Expr) ir.Expr { return To(ir.TFloat32, x) }
	f64 := func(x ir.Expr) ir.Expr { return To(ir.TFloat64, x) }
	call := func(op *ir.IntrinsicOp, args ...ir.Expr) ir.Expr {
		return &ir.Intrinsic{Op: op, T: args[0].Type(), Args: args}
	}
	B := func() ir.Expr { return f32(ir.Get(b)) }
	for _, c := range []struct {
		name string
		t    *ir.Type
		x    ir.Expr
		want bool
	}{
		{"any float", ir.TInt64, ir.Get(f), false},
		{"a constant", ir.TUint8, F32(255.5), true},
		{"a constant above", ir.TUint8, F32(256), false},
		{"a constant that drops its fraction", ir.TUint8, F32(-0.5), true},
		{"a constant below", ir.TUint8, F32(-1), false},
		{"NaN", ir.TInt, F64(math.NaN()), false},
		{"a byte", ir.TUint8, B(), true},
		{"a byte as int8", ir.TInt8, B(), false},
		{"a byte times a constant", ir.TInt8, Mul(B(), F32(0.4999)), true},
		{"a byte times one too many", ir.TInt8, Mul(B(), F32(0.51)), false},
		{"a weighted sum", ir.TUint8, Add(Add(Mul(B(), F32(0.299)), Mul(B(), F32(0.587))), Mul(B(), F32(0.113))), true},
		{"a difference", ir.TUint8, Sub(B(), F32(1)), false},
		{"a difference as int16", ir.TInt16, Sub(B(), F32(1)), true},
		{"a quotient", ir.TUint8, Op(B(), ir.Div, F32(2)), true},
		{"a quotient by what may be 0", ir.TUint8, Op(B(), ir.Div, B()), false},
		{"a negated byte", ir.TInt16, &ir.Unary{Op: ir.Neg, X: B()}, true},
		{"an int", ir.TInt, f64(ir.Get(n)), false},
		{"the low bits of an int", ir.TInt32, f64(Op(ir.Get(n), ir.And, Int(1<<31-1))), true},
		{"a coordinate", ir.TInt32, f64(Thread(ir.BlockIdxX)), true},
		{"a coordinate that is rounded up", ir.TInt32, f32(Thread(ir.BlockIdxX)), false},
		{"a uint64", ir.TUint64, f64(ir.Get(u)), false},
		{"a clamped float, which may be NaN", ir.TUint8, call(ir.Min, call(ir.Max, ir.Get(f), F32(0)), F32(255)), false},
		{"a clamped number", ir.TUint8, call(ir.Min, call(ir.Max, Sub(B(), F32(9)), F32(0)), F32(99)), true},
		{"a rounded byte", ir.TUint8, call(ir.Floor, B()), true},
		{"a root", ir.TUint8, call(ir.Sqrt, Mul(B(), B())), true},
		{"a fused sum", ir.TUint16, call(ir.FMA, B(), B(), B()), true},
		{"a sum of large numbers, which may be infinite", ir.TUint64, Add(F32(3e38), F32(3e38)), false},
		{"a choice", ir.TUint8, &ir.Select{Cond: Lt(ir.Get(n), Int(0)), X: B(), Y: F32(3)}, true},
		{"a variable of one value", ir.TUint8, ir.Get(once), true},
		{"a variable of several values", ir.TUint8, ir.Get(twice), false},
		{"a float of another width", ir.TUint8, To(ir.TFloat32, ir.Get(d)), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Local("v", c.t)
			convert := To(c.t, c.x).(*ir.Convert)
			k := Kernel("k", []*ir.Local{f, d, b, n, u}, []*ir.Local{v, once, twice},
				Set(once, B()), Set(twice, B()), Set(twice, F32(1)), Set(v, convert))
			conversions(k.Func)
			if convert.InRange != c.want {
				t.Errorf("in range: %v, want %v", convert.InRange, c.want)
			}
		})
	}
}
