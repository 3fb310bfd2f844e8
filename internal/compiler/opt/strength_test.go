package opt

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

func TestDivisionsByConstantsAreExact(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	divisors := []int64{1, 2, 3, 5, 6, 7, 9, 10, 11, 12, 14, 25, 28, 64, 100, 125, 625, 641, 1000, 1 << 31, 1<<31 - 1, 1<<32 + 1,
		1_000_000_007, 274177, 6700417, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, -1, -2, -3, -7, -10, -1 << 40, -641}
	for range 60 {
		divisors = append(divisors, rnd.Int64()>>rnd.IntN(63)|1, rnd.Int64()>>rnd.IntN(62)&^1|2)
	}
	divisors = append(divisors, math.MinInt32, math.MaxInt32, math.MinInt32+1, 38, 127, -128, math.MinInt16, 255, 1<<16-1)
	values := []int64{math.MinInt32, math.MaxInt32, math.MinInt32 + 1, -128, 127, math.MinInt16, 0, 1, 2, -1, -2, 99, -99, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1, math.MinInt64 + 1, 1 << 32, -1 << 32}
	for range 40 {
		values = append(values, rnd.Int64()>>rnd.IntN(63), -rnd.Int64()>>rnd.IntN(63))
	}
	for _, typ := range []*ir.Type{ir.TInt64, ir.TUint64, ir.TInt, ir.TUint, ir.TUint32, ir.TInt32, ir.TUint8, ir.TInt8, ir.TInt16, ir.TUint16} {
		for _, d := range divisors {
			c := ir.IntConst(typ, d)
			if c.Bits == 0 {
				continue
			}
			x, out := Local("x", typ), Local("out", ir.SliceOf(typ))
			k := Kernel("k", []*ir.Local{x, out}, nil,
				SetPlace(Elem(out, Int(0)), Op(ir.Get(x), ir.Div, c)),
				SetPlace(Elem(out, Int(1)), Op(ir.Get(x), ir.Rem, ir.CloneExpr(c))))
			s := ir.CloneKernel(k)
			if err := strength(s); err != nil {
				t.Fatal(err)
			}
			if err := ir.Verify(s, ir.StageFinal); err != nil {
				t.Fatal(err, s)
			}
			for _, v := range values {
				v = ir.IntConst(typ, v).Int64()
				want, got := SliceValue(typ, 2), SliceValue(typ, 2)
				if err := Run(k, Coordinates{}, IntValue(v), want); err != nil {
					t.Fatal(err)
				}
				if err := Run(s, Coordinates{}, IntValue(v), got); err != nil {
					t.Fatal(err)
				}
				for i := range 2 {
					if want.Object.Cells[i] != got.Object.Cells[i] {
						t.Fatalf("%s: %d by %d: %d, want %d\n%s", typ, v, d, got.Object.Cells[i].Bits, want.Object.Cells[i].Bits, s)
					}
				}
			}
		}
	}
}

func TestStrength(t *testing.T) {
	u, x, f := Local("u", ir.TUint32), Local("x", ir.TInt64), Local("f", ir.TFloat32)
	v := Local("v", ir.SliceOf(ir.TInt64))
	first := func() ir.Expr {
		return Load(&ir.ElemPlace{Slice: ir.Get(v), Index: Int(0)})
	}
	checked := func() ir.Expr { return Load(Elem(v, Int(0))) }
	i64 := func(n int64) ir.Expr { return ir.IntConst(ir.TInt64, n) }
	for _, test := range []struct {
		name string
		body ir.Stmt
		want string
	}{
		{"an unsigned division by a power of two is a shift", Set(u, Op(ir.Get(u), ir.Div, ir.IntConst(ir.TUint32, 8))), "v0.u = v0.u >> 3u32"},
		{"an unsigned remainder by a power of two is a mask", Set(u, Op(ir.Get(u), ir.Rem, ir.IntConst(ir.TUint32, 8))), "v0.u = v0.u & 7u32"},
		{"a division by another constant is a multiplication", Set(u, Op(ir.Get(u), ir.Div, ir.IntConst(ir.TUint32, 10))), "v0.u = mulHi(v0.u, 3435973837u32) >> 3u32"},
		{"a float division by a power of two is a multiplication", Set(f, Op(ir.Get(f), ir.Div, F32(-8))), "v3.f = v3.f * -0.125f32"},
		{"a float division by another constant stays", Set(f, Op(ir.Get(f), ir.Div, F32(3))), "v3.f = v3.f / 3.0f32"},
		{"a float division whose reciprocal is subnormal stays", Set(f, Op(ir.Get(f), ir.Div, F32(0x1p127))), "v3.f / 1.7014118e+38f32"},
		{"a dividend in memory is read once", Set(x, Op(first(), ir.Rem, i64(8))), "v4.dividend = v2.v[0]"},
		{"the first check may be that of a dividend", Set(x, Add(Op(checked(), ir.Rem, i64(8)), checked())), "v4.dividend = v2.v[?0]"},
		{"a dividend is not checked before what comes first", Set(x, Add(checked(), Op(checked(), ir.Rem, i64(8)))), "v1.x = v2.v[?0] + (v2.v[?0] % 8i64)"},
		{"a dividend is not read before a check", Set(x, Add(checked(), Op(first(), ir.Rem, i64(8)))), "v1.x = v2.v[?0] + (v2.v[0] % 8i64)"},
		{"a loop's condition has nothing put before it",
			&ir.Loop{Label: &ir.Label{}, Cond: Lt(Op(first(), ir.Div, i64(10)), ir.Get(x))}, "(v2.v[0] / 10i64) < v1.x"},
		{"what need not be evaluated is not evaluated before",
			If(Op(Lt(ir.Get(x), i64(3)), ir.LAnd, Lt(Op(first(), ir.Div, i64(10)), ir.Get(x)))), "(v2.v[0] / 10i64) < v1.x"},
	} {
		t.Run(test.name, func(t *testing.T) {
			k := Kernel("k", []*ir.Local{u, x, v, f}, nil, test.body)
			if err := strength(k); err != nil {
				t.Fatal(err)
			}
			if err := ir.Verify(k, ir.StageFinal); err != nil {
				t.Fatal(err)
			}
			if got := k.String(); !strings.Contains(got, test.want) {
				t.Errorf("no %q in\n%s", test.want, got)
			}
		})
	}
}
