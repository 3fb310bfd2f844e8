package opt

import (
	"strings"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

func TestShortArraysBecomeVariablesInGo(t *testing.T) {
	four, long := ir.ArrayOf(4, ir.TInt), ir.ArrayOf(maxHostArray+1, ir.TInt)
	at := func(v *ir.Local, i int64) ir.Expr { return Load(Index(Var(v), Int(i))) }
	for _, c := range []struct {
		name   string
		kernel func() *ir.Kernel
		want   string
	}{
		{"an array with constant indices", func() *ir.Kernel {
			out, a := Local("out", ints), Local("a", four)
			return Kernel("k", locals(out), locals(a),
				Set(a, &ir.Zero{T: four}),
				SetPlace(Index(Var(a), Int(1)), Int(7)),
				SetPlace(Elem(out, Int(0)), at(a, 1)))
		}, "out[?0] = a_1"},
		{"one that a variable indexes stays", func() *ir.Kernel {
			out, n, a := Local("out", ints), Local("n", ir.TInt), Local("a", four)
			return Kernel("k", locals(out, n), locals(a),
				Set(a, &ir.Zero{T: four}),
				SetPlace(Elem(out, Int(0)), Load(Index(Var(a), ir.Get(n)))))
		}, "out[?0] = a[?n]"},
		{"a copy of one that stays is whole", func() *ir.Kernel {
			out, n, a, b := Local("out", ints), Local("n", ir.TInt), Local("a", four), Local("b", four)
			return Kernel("k", locals(out, n), locals(a, b),
				Set(a, &ir.Zero{T: four}),
				SetPlace(Index(Var(a), ir.Get(n)), Int(1)),
				Set(b, ir.Get(a)),
				SetPlace(Elem(out, Int(0)), at(b, 2)))
		}, "b = a"},
		{"a copy of one in memory becomes variables", func() *ir.Kernel {
			in, out, a := Local("in", ir.SliceOf(four)), Local("out", ints), Local("a", four)
			return Kernel("k", locals(in, out), locals(a),
				SetPlace(Var(a), Load(Elem(in, Int(2)))),
				SetPlace(Elem(out, Int(0)), at(a, 1)))
		}, "a_1 = in[2][1]"},
		{"one that is stored whole stays", func() *ir.Kernel {
			out, a := Local("out", ir.SliceOf(four)), Local("a", four)
			return Kernel("k", locals(out), locals(a),
				Set(a, &ir.Zero{T: four}),
				SetPlace(Index(Var(a), Int(1)), Int(7)),
				SetPlace(Elem(out, Int(0)), ir.Get(a)))
		}, "out[?0] = a"},
		{"a long one stays", func() *ir.Kernel {
			out, a := Local("out", ints), Local("a", long)
			return Kernel("k", locals(out), locals(a),
				Set(a, &ir.Zero{T: long}),
				SetPlace(Elem(out, Int(0)), at(a, 1)))
		}, "out[?0] = a["},
		{"an index out of range keeps its check", func() *ir.Kernel {
			out, a := Local("out", ints), Local("a", four)
			return Kernel("k", locals(out), locals(a),
				Set(a, &ir.Zero{T: four}),
				SetPlace(Elem(out, Int(0)), at(a, 4)))
		}, "out[?0] = a[?4]"},
		{"an array of vectors becomes variables of the vector type", func() *ir.Kernel {
			vector := &ir.Type{Kind: ir.Struct, Fields: []ir.Field{{Name: "X", Type: ir.TInt}, {Name: "Y", Type: ir.TInt}}}
			two := ir.ArrayOf(2, vector)
			out, a, b := Local("out", ir.SliceOf(vector)), Local("a", two), Local("b", two)
			return Kernel("k", locals(out), locals(a, b),
				Set(a, &ir.Zero{T: two}),
				SetPlace(&ir.FieldPlace{X: Index(Var(a), Int(1)), Field: 0}, Int(7)),
				Set(b, ir.Get(a)),
				SetPlace(Elem(out, Int(0)), at(b, 1)))
		}, "b_1 = a_1"},
		{"a rotation reads all elements before it writes one", func() *ir.Kernel {
			out, a := Local("out", ints), Local("a", four)
			return Kernel("k", locals(out), locals(a),
				Set(a, &ir.Zero{T: four}),
				Set(a, Composite(four, at(a, 1), at(a, 2), at(a, 3), at(a, 0))),
				SetPlace(Elem(out, Int(0)), at(a, 3)))
		}, "a_3 = part"},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := c.kernel()
			splitArrays(k)
			if got := k.String(); !strings.Contains(variableNumber.ReplaceAllString(got, ""), c.want) {
				t.Errorf("got:\n%s\nwant in it:\n%s", got, c.want)
			}
		})
	}
}
