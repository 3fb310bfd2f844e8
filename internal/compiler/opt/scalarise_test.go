package opt

import (
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

func TestAggregatesBecomeScalars(t *testing.T) {
	vec := ir.StructOf("t.Vec", ir.Field{Name: "x", Type: ir.TFloat32}, ir.Field{Name: "y", Type: ir.TFloat32})
	view := ir.StructOf("t.View", ir.Field{Name: "data", Type: ints}, ir.Field{Name: "n", Type: ir.TInt})
	big := ir.ArrayOf(100, ir.TInt)
	holder := ir.StructOf("t.Holder", ir.Field{Name: "n", Type: ir.TInt}, ir.Field{Name: "a", Type: big})
	vecs := ir.SliceOf(vec)
	get := func(v *ir.Local, f int) ir.Expr { return Load(Field(Var(v), f)) }
	window := func(n int64, s *ir.Local) ir.Place {
		return &ir.ArrayPlace{T: ir.ArrayOf(n, ir.TInt), Slice: ir.Get(s), Check: true}
	}
	checkPass(t, "scalarise", []passCase{
		{"a swap of fields reads both before it writes one", func() *ir.Kernel {
			s, v := Local("s", vecs), Local("v", vec)
			return Kernel("k", locals(s), locals(v),
				Set(v, Load(Elem(s, Int(0)))),
				Set(v, Composite(vec, get(v, 1), get(v, 0))),
				SetPlace(Elem(s, Int(1)), ir.Get(v)))
		}, lines(
			"check s[?0]", "v_x = s[0].x", "v_y = s[0].y",
			"part = v_y", "part = v_x", "v_x = part", "v_y = part",
			"check s[?1]", "s[1].x = v_x", "s[1].y = v_y")},
		{"an index that the copy changes is read first", func() *ir.Kernel {
			pair := ir.StructOf("t.Pair", ir.Field{Name: "i", Type: ir.TInt}, ir.Field{Name: "j", Type: ir.TInt})
			s, v := Local("s", ir.SliceOf(pair)), Local("v", pair)
			return Kernel("k", locals(s), locals(v),
				Set(v, Load(Elem(s, Int(0)))),
				Set(v, Load(Elem(s, get(v, 0)))),
				SetPlace(Elem(s, Int(1)), ir.Get(v)))
		}, lines(
			"check s[?0]", "v_i = s[0].i", "v_j = s[0].j",
			"part = v_i", "check s[?part]", "v_i = s[part].i", "v_j = s[part].j",
			"check s[?1]", "s[1].i = v_i", "s[1].j = v_j")},
		{"an element is read before the one it is copied to is written", func() *ir.Kernel {
			s := Local("s", vecs)
			return Kernel("k", locals(s), nil, SetPlace(Elem(s, Int(0)), Load(Elem(s, Int(1)))))
		}, lines("check s[?0]", "check s[?1]", "part = s[1].x", "part = s[1].y", "s[0].x = part", "s[0].y = part")},
		{"arrays in slices that may overlap are read before they are written", func() *ir.Kernel {
			s, u := Local("s", ints), Local("u", ints)
			return Kernel("k", locals(s, u), nil, SetPlace(window(2, s), Load(window(2, u))))
		}, lines("check s[?:2]", "check u[?:2]", "part = u[:2][0]", "part = u[:2][1]", "s[:2][0] = part", "s[:2][1] = part")},
		{"large ones that may overlap are copied from the end that is not written first", func() *ir.Kernel {
			s, u := Local("s", ints), Local("u", ints)
			return Kernel("k", locals(s, u), nil, SetPlace(window(100, s), Load(window(100, u))))
		}, lines("check s[?:100]", "check u[?:100]", "part = &s[:100] > &u[:100]", "part = 0", "for L0.copy part < 100 {",
			"s[:100][select(part, 99 - part, part)] = u[:100][select(part, 99 - part, part)]",
			"} post {", "part = part + 1")},
		{"large ones of different variables are not", func() *ir.Kernel {
			s, u, v := Local("s", ints), Local("u", ints), Local("v", ints)
			a := Local("a", big)
			return Kernel("k", locals(s), []*ir.Local{a, u, v},
				Set(a, &ir.Zero{T: big}),
				Set(v, &ir.SliceExpr{T: ints, Array: Var(a), Lo: Load(Elem(s, Int(0)))}),
				Set(u, &ir.SliceExpr{T: ints, X: ir.Get(s), Lo: Int(5)}),
				SetPlace(window(70, u), Load(window(70, v))))
		}, lines("part = 0", "for L0.copy part < 100 {", "a[part] = 0", "} post {", "part = part + 1",
			"v = a[s[?0]:]", "u = s[5:]",
			"check u[?:70]", "check v[?:70]", "part = 0", "for L1.copy part < 70 {", "u[:70][part] = v[:70][part]", "} post {", "part = part + 1")},
		{"slices in structs become variables", func() *ir.Kernel {
			s, v := Local("s", ints), Local("v", view)
			return Kernel("k", locals(s), locals(v),
				Set(v, Composite(view, ir.Get(s), Len(s))),
				SetPlace(&ir.ElemPlace{Slice: get(v, 0), Index: get(v, 1), Check: true}, Int(1)))
		}, lines("v_data = s", "v_n = len(s)", "v_data[?v_n] = 1")},
		{"an array that a variable indexes stays in memory, its neighbours do not", func() *ir.Kernel {
			s, n, v := Local("s", ir.SliceOf(holder)), Local("n", ir.TInt), Local("v", holder)
			return Kernel("k", locals(s, n), locals(v),
				Set(v, Load(Elem(s, Int(0)))),
				SetPlace(Index(Field(Var(v), 1), ir.Get(n)), get(v, 0)),
				SetPlace(Elem(s, Int(1)), ir.Get(v)))
		}, lines(
			"check s[?0]", "v_n = s[0].n", "part = 0",
			"for L0.copy part < 100 {", "v_a[part] = s[0].a[part]", "} post {", "part = part + 1",
			"v_a[?n] = v_n",
			"check s[?1]", "s[1].n = v_n", "part = 0",
			"for L1.copy part < 100 {", "s[1].a[part] = v_a[part]", "} post {", "part = part + 1")},
		{"a parameter that is only read stays", func() *ir.Kernel {
			s, p := Local("s", ir.SliceOf(ir.TFloat32)), Local("p", vec)
			return Kernel("k", locals(s, p), nil, SetPlace(Elem(s, Int(0)), get(p, 1)))
		}, "s[?0] = p.y"},
		{"a parameter that is changed is copied", func() *ir.Kernel {
			s, p := Local("s", ir.SliceOf(ir.TFloat32)), Local("p", vec)
			return Kernel("k", locals(s, p), nil,
				SetPlace(Field(Var(p), 0), F32(2)),
				SetPlace(Elem(s, Int(0)), get(p, 0)))
		}, lines("p_x = p.x", "p_y = p.y", "p_x = 2.0f32", "s[?0] = p_x")},
		{"a constant index out of range keeps the array and its check", func() *ir.Kernel {
			a, n := Local("a", ir.ArrayOf(2, ir.TInt)), Local("n", ir.TInt)
			return Kernel("k", locals(n), locals(a), Set(a, &ir.Zero{T: a.Type}), SetPlace(Index(Var(a), Int(2)), ir.Get(n)))
		}, "a[?2] = n"},
	})
}
