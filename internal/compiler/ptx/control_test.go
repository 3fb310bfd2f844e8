package ptx

import (
	"strings"
	"testing"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/ir/irtest"
)

func TestLoopsLeaveAndContinueAtTheirLabels(t *testing.T) {
	out, i, j, n, sum := irtest.Local("out", ir.SliceOf(ir.TInt)), irtest.Local("i", ir.TInt), irtest.Local("j", ir.TInt), irtest.Local("n", ir.TInt), irtest.Local("sum", ir.TInt)
	outer, inner, block := &ir.Label{Name: "outer"}, &ir.Label{Name: "inner"}, &ir.Label{Name: "block"}
	eq := func(v *ir.Local, c ir.Expr) ir.Expr { return irtest.Op(ir.Get(v), ir.Eq, c) }
	increment := func(v *ir.Local) ir.Stmt { return irtest.Set(v, irtest.Add(ir.Get(v), irtest.Int(1))) }
	body := irtest.Body(tid(i), irtest.Set(sum, irtest.Int(0)), irtest.Set(j, irtest.Int(0)),
		&ir.Loop{Label: outer, Cond: irtest.Lt(ir.Get(j), irtest.Int(10)), Post: []ir.Stmt{increment(j)}, Body: irtest.Body(
			irtest.If(eq(j, irtest.Int(3)), &ir.Continue{Label: outer}),
			irtest.Set(n, irtest.Int(0)),
			// A loop without a condition whose first part computes something.
			&ir.Loop{Label: inner, Pre: []ir.Stmt{increment(n)}, Body: irtest.Body(
				irtest.If(irtest.Op(irtest.Op(ir.Get(n), ir.Gt, ir.Get(j)), ir.LAnd, irtest.Lt(ir.Get(j), irtest.Int(9))), &ir.Break{Label: inner}),
				irtest.If(eq(n, irtest.Int(7)), irtest.Set(sum, irtest.Add(ir.Get(sum), irtest.Int(1000))), &ir.Break{Label: outer}),
				irtest.Else(irtest.If(eq(n, ir.Get(i)), &ir.Continue{Label: inner}), irtest.Set(sum, irtest.Add(ir.Get(sum), ir.Get(n)))),
				irtest.Set(sum, irtest.Add(ir.Get(sum), irtest.Int(100))),
			)},
		)},
		&ir.Block{Label: block, Body: irtest.Body(
			irtest.If(eq(i, irtest.Int(2)), irtest.Set(sum, irtest.Int(-1)), &ir.Break{Label: block}),
			irtest.Set(sum, irtest.Mul(ir.Get(sum), irtest.Int(3))))},
		irtest.SetPlace(irtest.Elem(out, ir.Get(i)), ir.Get(sum)),
		irtest.If(irtest.Lt(ir.Get(i), irtest.Int(4)), irtest.Return()),
		irtest.SetPlace(irtest.Elem(out, ir.Get(i)), irtest.Int(77)))
	same(t, irtest.Kernel("loops", []*ir.Local{out}, []*ir.Local{i, j, n, sum}, body...), 8, irtest.SliceValue(ir.TInt, 8))
}

func TestARightSideThatMayFailIsEvaluatedOnlyIfNeeded(t *testing.T) {
	in, out := irtest.Local("in", ir.SliceOf(ir.TBool)), irtest.Local("out", ir.SliceOf(ir.TBool))
	i, b := irtest.Local("i", ir.TInt), irtest.Local("b", ir.TBool)
	inside := func() ir.Expr { return irtest.Lt(ir.Get(i), irtest.Len(in)) }
	outside := func() ir.Expr { return &ir.Unary{Op: ir.LNot, X: inside()} }
	at := func() ir.Expr { return irtest.Load(irtest.Elem(in, ir.Get(i))) }
	set := func(n int64, e ir.Expr) ir.Stmt {
		return irtest.SetPlace(irtest.Elem(out, irtest.Add(irtest.Mul(ir.Get(i), irtest.Int(6)), irtest.Int(n))), e)
	}
	body := irtest.Body(tid(i),
		set(0, irtest.Op(inside(), ir.LAnd, at())),
		set(1, irtest.Op(outside(), ir.LOr, at())),
		irtest.If(irtest.Op(inside(), ir.LAnd, at()), set(2, irtest.Bool(true))),
		irtest.If(irtest.Op(outside(), ir.LOr, at()), set(3, irtest.Bool(true))),
		irtest.If(&ir.Unary{Op: ir.LNot, X: irtest.Op(outside(), ir.LOr, irtest.Op(inside(), ir.LAnd, at()))}, set(4, irtest.Bool(true))),
		// The assigned variable is read on the right.
		irtest.Set(b, irtest.Lt(ir.Get(i), irtest.Int(2))),
		irtest.Set(b, irtest.Op(inside(), ir.LAnd, irtest.Op(at(), ir.Eq, ir.Get(b)))),
		set(5, ir.Get(b)))
	same(t, irtest.Kernel("logical", []*ir.Local{in, out}, []*ir.Local{i, b}, body...), 8, ints(1, 0, 1, 0), irtest.SliceValue(ir.TBool, 48))
}

func TestIfElseWithEmptyAndLeavingBranches(t *testing.T) {
	out, i := irtest.Local("out", ir.SliceOf(ir.TInt)), irtest.Local("i", ir.TInt)
	set := func(v int64) ir.Stmt { return irtest.SetPlace(irtest.Elem(out, ir.Get(i)), irtest.Int(v)) }
	less := func(v int64) ir.Expr { return irtest.Lt(ir.Get(i), irtest.Int(v)) }
	body := irtest.Body(tid(i), set(1),
		&ir.If{Cond: less(6), Else: []ir.Stmt{set(2)}},
		&ir.If{Cond: irtest.Bool(true), Then: []ir.Stmt{}},
		irtest.Else(irtest.If(less(4), irtest.Else(irtest.If(less(2), set(3)), set(4), irtest.Return())), set(5), irtest.Return()),
		set(6))
	same(t, irtest.Kernel("branches", []*ir.Local{out}, []*ir.Local{i}, body...), 8, irtest.SliceValue(ir.TInt, 8))
}

func TestNegationsThatLoopsCompareWith(t *testing.T) {
	neg := func(e ir.Expr) ir.Expr { return &ir.Unary{Op: ir.Neg, X: e} }
	for _, typ := range []*ir.Type{ir.TInt, ir.TInt32} {
		out, i, v, x, end := irtest.Local("out", ir.SliceOf(typ)), irtest.Local("i", ir.TInt), irtest.Local("v", typ), irtest.Local("x", typ), irtest.Local("end", typ)
		at := func() ir.Expr { return irtest.Load(irtest.Elem(out, ir.Get(i))) }
		down := func(to ir.Expr) []ir.Stmt {
			list := irtest.For(v, ir.IntConst(typ, 0), to, irtest.SetPlace(irtest.Elem(out, ir.Get(i)), irtest.Add(at(), ir.Get(v))))
			l := list[1].(*ir.Loop)
			l.Cond.(*ir.Binary).Op = ir.Gt
			l.Post = []ir.Stmt{irtest.Set(v, irtest.Add(ir.Get(v), ir.IntConst(typ, -1)))}
			return list
		}
		for _, c := range []struct {
			name    string
			body    []ir.Stmt
			negates bool
		}{
			{"a condition", down(neg(ir.Get(x))), false},
			{"a product", down(irtest.Mul(ir.Get(x), ir.IntConst(typ, -1))), false},
			{"a variable", append([]ir.Stmt{irtest.Set(end, neg(ir.Get(x)))}, down(ir.Get(end))...), false},
			{"a variable by way of another", append([]ir.Stmt{irtest.Set(x, neg(ir.Get(x))), irtest.Set(end, ir.Get(x))}, down(ir.Get(end))...), false},
			{"a loop's exit", []ir.Stmt{irtest.Set(v, ir.IntConst(typ, 0)), &ir.Loop{Label: &ir.Label{Name: "l"}, Body: []ir.Stmt{
				irtest.If(irtest.Op(ir.Get(v), ir.Le, neg(ir.Get(x))), irtest.Return()),
				irtest.SetPlace(irtest.Elem(out, ir.Get(i)), ir.Get(v)),
				irtest.Set(v, irtest.Add(ir.Get(v), ir.IntConst(typ, -1)))}}}, false},
			{"what no loop compares", append(down(ir.IntConst(typ, -3)), irtest.SetPlace(irtest.Elem(out, ir.Get(i)), neg(at()))), true},
		} {
			k := irtest.Kernel("negations", []*ir.Local{out}, []*ir.Local{i, v, x, end}, irtest.Body(tid(i), irtest.Set(x, at()), irtest.Set(end, ir.Get(x)), c.body)...)
			if got := strings.Contains(emit(t, k).Text, "\tneg.s"); got != c.negates {
				t.Errorf("%s, %s: a negation: %t, want %t", typ, c.name, got, c.negates)
			}
			same(t, k, 8, irtest.SliceValue(typ, 8))
		}
	}
}
