package ir_test

import (
	"fmt"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

func ExampleKernel_String() {
	a, x, y := Local("a", ir.TFloat32), Local("x", ir.SliceOf(ir.TFloat32)), Local("y", ir.SliceOf(ir.TFloat32))
	i := Local("i", ir.TInt)
	k := Kernel("saxpy", []*ir.Local{a, x, y}, []*ir.Local{i},
		Set(i, Global()),
		If(Lt(ir.Get(i), Len(y)),
			SetPlace(Elem(y, ir.Get(i)), Add(Load(Elem(y, ir.Get(i))), Mul(ir.Get(a), Load(Elem(x, ir.Get(i))))))))
	fmt.Print(k)
	// Output:
	// kernel saxpy(v0.a float32, v1.x []float32, v2.y []float32) {
	// 	var v3.i int
	// 	v3.i = (BlockIdx.X * BlockDim.X) + ThreadIdx.X
	// 	if v3.i < len(v2.y) {
	// 		v2.y[?v3.i] = v2.y[?v3.i] + (v0.a * v1.x[?v3.i])
	// 	}
	// }
}

func TestStatementsPrintAsGo(t *testing.T) {
	point := ir.StructOf("geo.Point", ir.Field{Name: "x", Type: ir.TFloat32}, ir.Field{Name: "tag", Type: ir.ArrayOf(2, ir.TUint8)})
	n, s, p := Local("n", ir.TInt32), Local("s", ir.SliceOf(ir.TInt)), Local("p", point)
	q, u := Local("q", ir.PointerTo(ir.TInt)), Local("u", ir.TUint64)
	tile := &ir.SharedVar{Name: "tile", Type: ir.ArrayOf(4, ir.TInt)}
	table := &ir.Table{Name: "geo.table", Type: ir.ArrayOf(4, ir.TInt)}
	label := &ir.Label{Name: "outer"}
	n0 := ir.IntConst(ir.TInt32, 0)
	for _, c := range []struct {
		stmt ir.Stmt
		want string
	}{
		{SetPlace(Index(Field(Var(p), 1), Int(1)), ir.IntConst(ir.TUint8, 200)), "v2.p.tag[?1] = 200u8"},
		{Set(q, Addr(Index(Shared(tile), ir.Get(n)))), "v3.q = &shared tile.0[?v0.n]"},
		{SetPlace(Deref(q), Load(&ir.IndexPlace{X: &ir.TablePlace{Table: table}, Index: Int(3)})), "(*v3.q) = geo.table[3]"},
		{Set(s, &ir.SliceExpr{T: s.Type, X: ir.Get(s), Lo: ir.Get(n), Max: Int(9), Check: true}), "v1.s = v1.s[?v0.n::9]"},
		{Set(n, &ir.Binary{Op: ir.Div, X: n0, Y: ir.Get(n), Check: true}), "v0.n = 0i32 /? v0.n"},
		{Set(p, Composite(point, F32(1.5), nil)), "v2.p = geo.Point{1.5f32, }"},
		{Set(u, &ir.Intrinsic{Op: ir.Bitcast, T: ir.TUint64, Args: []ir.Expr{F64(1)}}), "v4.u = bitcast uint64(1.0)"},
		{Set(u, To(ir.TUint64, &ir.Unary{Op: ir.Not, X: ir.Get(n)})), "v4.u = uint64(^v0.n)"},
		{&ir.Atomic{Op: ir.AtomicCompareAndSwap, Place: Deref(q), Args: []ir.Expr{Int(0), Int(1)}}, "_ = atomic compareAndSwap(&(*v3.q), 0, 1)"},
		{&ir.Loop{Label: label, Pre: []ir.Stmt{Set(n, ir.IntConst(ir.TInt32, 1))}, Cond: Bool(true), Body: []ir.Stmt{&ir.Continue{Label: label}}},
			"pre L0.outer {\n\t\tv0.n = 1i32\n\t} for L0.outer true {\n\t\tcontinue L0.outer\n\t}"},
		{&ir.Panic{Reason: "no \"luck\""}, `panic("no \"luck\"")`},
		{&ir.Check{Place: Elem(s, Int(1))}, "check v1.s[?1]"},
	} {
		k := Kernel("k", []*ir.Local{n, s, p, q, u}, nil, c.stmt)
		want := "kernel k(v0.n int32, v1.s []int, v2.p geo.Point, v3.q *int, v4.u uint64) {\n\t" + c.want + "\n}\n"
		if got := k.String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestLimitsPrintAsFormulas(t *testing.T) {
	c := func(op ir.SymOp, v int64) *ir.Sym { return &ir.Sym{Op: op, Value: v} }
	s := &ir.Sym{Op: ir.SymMax, X: &ir.Sym{Op: ir.SymMul, X: c(ir.SymArg, 2), Y: c(ir.SymDim, 3)},
		Y: &ir.Sym{Op: ir.SymDiv, X: c(ir.SymConst, -1), Y: c(ir.SymDim, 1)}}
	if got, want := s.String(), "max((p2 * BlockDim.X), (-1 / GridDim.Y))"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
