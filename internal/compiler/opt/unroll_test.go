package opt

import (
	"strings"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

func TestLoopsUnrollWhereIndicesBecomeConstant(t *testing.T) {
	arr := ir.ArrayOf(3, ir.TInt)
	out, n := func() *ir.Local { return Local("out", ints) }, func() *ir.Local { return Local("n", ir.TInt) }
	checkPass(t, "unroll", []passCase{
		{"a counted loop becomes copies", func() *ir.Kernel {
			out, i := out(), Local("i", ir.TInt)
			return Kernel("k", locals(out), locals(i), For(i, Int(0), Int(3), SetPlace(Elem(out, ir.Get(i)), Mul(ir.Get(i), ir.Get(i))))...)
		}, lines("out[?0] = 0", "out[?1] = 1", "out[?2] = 4")},
		{"a loop over powers of two is counted too", func() *ir.Kernel {
			out, i := out(), Local("i", ir.TInt)
			return Kernel("k", locals(out), locals(i), Set(i, Int(4)),
				&ir.Loop{Label: &ir.Label{}, Cond: Op(ir.Get(i), ir.Gt, Int(0)),
					Body: []ir.Stmt{SetPlace(Elem(out, ir.Get(i)), Int(1))},
					Post: []ir.Stmt{Set(i, Op(ir.Get(i), ir.Shr, Int(1)))}})
		}, lines("out[?4] = 1", "out[?2] = 1", "out[?1] = 1")},
		{"each copy has its own variables", func() *ir.Kernel {
			out, i, x := out(), Local("i", ir.TInt), Local("x", ir.TInt)
			return Kernel("k", locals(out), locals(i, x), For(i, Int(0), Int(2),
				Set(x, Load(Elem(out, ir.Get(i)))),
				SetPlace(Elem(out, ir.Get(i)), Add(ir.Get(x), ir.Get(x))))...)
		}, lines("x = out[?0]", "out[?0] = x + x", "x = out[?1]", "out[?1] = x + x")},
		{"nested loops whose inner bound is the outer variable", func() *ir.Kernel {
			out, i, j := out(), Local("i", ir.TInt), Local("j", ir.TInt)
			return Kernel("k", locals(out), locals(i, j), For(i, Int(1), Int(3),
				For(j, Int(0), ir.Get(i), SetPlace(Elem(out, ir.Get(j)), ir.Get(i)))...)...)
		}, lines("out[?0] = 1", "out[?0] = 2", "out[?1] = 2")},
		{"a continue skips the rest of its copy, a break the other copies", func() *ir.Kernel {
			out, n, i := out(), n(), Local("i", ir.TInt)
			list := For(i, Int(0), Int(2))
			l := list[1].(*ir.Loop)
			l.Body = []ir.Stmt{
				If(Op(ir.Get(n), ir.Eq, ir.Get(i)), &ir.Continue{Label: l.Label}),
				If(Op(ir.Get(n), ir.Eq, Int(7)), &ir.Break{Label: l.Label}),
				SetPlace(Elem(out, ir.Get(i)), Int(1))}
			return Kernel("k", locals(out, n), locals(i), Body(list, SetPlace(Elem(out, Int(5)), ir.Get(i)))...)
		}, lines(
			"i = 0", "block L0.i {",
			"i = 0", "if n != 0 {", "if n == 7 {", "break L0.i", "out[?0] = 1",
			"i = 1", "if n != 1 {", "if n == 7 {", "break L0.i", "out[?1] = 1",
			"i = 2", "out[?5] = i")},
		{"a loop over a parameter stays", func() *ir.Kernel {
			out, n, i := out(), n(), Local("i", ir.TInt)
			return Kernel("k", locals(out, n), locals(i), For(i, Int(0), ir.Get(n), SetPlace(Elem(out, ir.Get(i)), Int(1)))...)
		}, lines("i = 0", "for L0.i i < n {", "out[?i] = 1", "} post {", "i = i + 1")},
		{"a long loop stays", func() *ir.Kernel {
			out, i := out(), Local("i", ir.TInt)
			return Kernel("k", locals(out), locals(i), For(i, Int(0), Int(1000), SetPlace(Elem(out, ir.Get(i)), Int(1)))...)
		}, lines("i = 0", "for L0.i i < 1000 {", "out[?i] = 1", "} post {", "i = i + 1")},
	})
	checkPass(t, "late fold", []passCase{
		{"an array that a loop fills becomes variables", func() *ir.Kernel {
			out, i, a := out(), Local("i", ir.TInt), Local("a", arr)
			return Kernel("k", locals(out), locals(i, a), Body(
				Set(a, &ir.Zero{T: arr}),
				For(i, Int(0), Int(3), SetPlace(Index(Var(a), ir.Get(i)), Load(Elem(out, ir.Get(i))))),
				SetPlace(Elem(out, Int(9)), Add(Load(Index(Var(a), Int(0))), Load(Index(Var(a), Int(2))))))...)
		}, lines("a_0 = out[?0]", "a_1 = out[?1]", "out[?9] = a_0 + out[?2]")},
	})
}

// A long body is copied if conditions depend on what the body only sets and counts.
func TestLongLoopsUnrollWhereConditionsBecomeKnown(t *testing.T) {
	state := ir.StructOf("state", ir.Field{Name: "left", Type: ir.TInt}, ir.Field{Name: "word", Type: ir.TInt})
	refilled := func(trips int64, next ir.Expr) int {
		out, i, r := Local("out", ints), Local("i", ir.TInt), Local("r", state)
		left := func() ir.Place { return &ir.FieldPlace{X: Var(r)} }
		if next == nil {
			next = Add(Load(left()), Int(-1))
		}
		long := []ir.Stmt{SetPlace(left(), Int(2))}
		for range smallBudget / 16 {
			long = append(long, SetPlace(&ir.FieldPlace{X: Var(r), Field: 1}, Mul(Load(&ir.FieldPlace{X: Var(r), Field: 1}), Int(3))))
		}
		k := Kernel("k", locals(out), locals(i, r), Body(Set(r, &ir.Zero{T: state}), For(i, Int(0), Int(trips), Body(
			If(Op(Load(left()), ir.Eq, Int(0)), long...),
			SetPlace(left(), next),
			SetPlace(Elem(out, Int(0)), Load(&ir.FieldPlace{X: Var(r), Field: 1})))...))...)
		if err := unroll(k); err != nil {
			t.Fatal(err)
		}
		n := 0
		leaves(k.Func.Body, func(s ir.Stmt) bool {
			if i, ok := s.(*ir.If); ok && len(i.Then) > 1 {
				n++
			}
			return false
		})
		return n
	}
	if n := refilled(4, nil); n != 4 {
		t.Errorf("%d copies of a body that counts, want 4", n)
	}
	if n := refilled(maxStateTrips+1, nil); n != 1 {
		t.Errorf("%d copies of many iterations, want 1", n)
	}
	if n := refilled(4, Thread(ir.ThreadIdxX)); n != 1 {
		t.Errorf("%d copies of a body whose condition varies, want 1", n)
	}
}

func TestTheRegisterTileOfAMatrixProductBecomesRegisters(t *testing.T) {
	row, tile := ir.ArrayOf(8, ir.TFloat32), ir.ArrayOf(8, ir.ArrayOf(8, ir.TFloat32))
	shared := &ir.SharedVar{Name: "s", Type: ir.ArrayOf(16, ir.ArrayOf(128, ir.TFloat32))}
	out := Local("out", ir.SliceOf(ir.TFloat32))
	acc, a, b := Local("acc", tile), Local("a", row), Local("b", row)
	p, i, j := Local("p", ir.TInt), Local("i", ir.TInt), Local("j", ir.TInt)
	cell := func(v *ir.Local, at ...*ir.Local) ir.Place {
		pl := Var(v)
		for _, i := range at {
			pl = Index(pl, ir.Get(i))
		}
		return pl
	}
	operand := func(v *ir.Local, of ir.ThreadOp) ir.Stmt {
		return SetPlace(cell(v, i), Load(Index(Index(Shared(shared), ir.Get(p)), Add(Mul(Thread(of), Int(8)), ir.Get(i)))))
	}
	k := Kernel("k", locals(out), locals(acc, a, b, p, i, j), Body(
		Set(acc, &ir.Zero{T: tile}),
		For(p, Int(0), Int(16), Body(
			Set(a, &ir.Zero{T: row}), Set(b, &ir.Zero{T: row}),
			For(i, Int(0), Int(8), operand(a, ir.ThreadIdxX), operand(b, ir.ThreadIdxY)),
			For(i, Int(0), Int(8), For(j, Int(0), Int(8),
				SetPlace(cell(acc, i, j), Add(Load(cell(acc, i, j)), Mul(Load(cell(a, i)), Load(cell(b, j))))))...))...),
		For(i, Int(0), Int(8), For(j, Int(0), Int(8),
			SetPlace(Elem(out, Add(Mul(ir.Get(i), Int(8)), ir.Get(j))), Load(cell(acc, i, j))))...))...)
	k.Shared = []*ir.SharedVar{shared}
	if err := all.run(k, common, target{}); err != nil {
		t.Fatal(err)
	}
	products := 0
	v := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			if _, ok := s.(*ir.Loop); ok {
				t.Error("a loop is left")
			}
			return true
		},
		Expr: func(e ir.Expr) bool {
			if b, ok := e.(*ir.Binary); ok && b.Op == ir.Mul && b.Type().IsFloat() {
				products++
			}
			return true
		},
	}
	v.Body(k.Func.Body)
	if want := 16 * 8 * 8; products != want {
		t.Errorf("%d products, want %d", products, want)
	}
	for _, v := range k.Func.Locals {
		if v.Type.IsAggregate() {
			t.Errorf("variable %s is in memory", v.Name)
		}
	}
}

func TestHintedLoopsWithBarriersUnrollInGo(t *testing.T) {
	out, i, n, known := Local("out", ints), Local("i", ir.TInt), Local("n", ir.TInt), Local("known", ir.TInt)
	list := For(i, Int(0), Int(3))
	l := list[1].(*ir.Loop)
	l.Unroll = ir.UnrollAll
	l.Body = []ir.Stmt{
		Set(n, Op(Int(1), ir.Shl, ir.Get(i))),
		If(Op(ir.Get(i), ir.Eq, Int(2)), &ir.Break{Label: l.Label}),
		&ir.Barrier{},
		SetPlace(Elem(out, Thread(ir.ThreadIdxX)), Op(Thread(ir.ThreadIdxY), ir.Rem, ir.Get(n))),
	}
	k := Kernel("k", locals(out), locals(i, n, known), Body(Set(known, Int(5)), list, SetPlace(Elem(out, ir.Get(known)), Int(1)))...)
	unrollForGo(k)
	deadStores(k.Func)
	text := variableNumber.ReplaceAllString(k.String(), "")
	for _, want := range []string{"= ThreadIdx.Y % 2", "out[?known] = 1"} { // variables of no copy stay
		if !strings.Contains(text, want) {
			t.Errorf("got:\n%s\nwant in it: %s", text, want)
		}
	}
	for _, not := range []string{"for ", "if ", "1 << ", "break"} {
		if strings.Contains(text, not) {
			t.Errorf("got:\n%s\nwant no %q in it", text, not)
		}
	}
}
