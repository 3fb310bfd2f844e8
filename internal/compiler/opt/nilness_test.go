package opt

import (
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

func TestPointersAssignedOnEveryPathAreNotChecked(t *testing.T) {
	pointer := ir.PointerTo(ir.TInt)
	pair := ir.StructOf("t.Pair", ir.Field{Name: "a", Type: pointer}, ir.Field{Name: "b", Type: pointer})
	none := &ir.Zero{T: pointer}
	type variables struct {
		x, p, q, i, s *ir.Local
	}
	read := func(p *ir.Local) ir.Expr { return Load(&ir.DerefPlace{Ptr: ir.Get(p), Check: true}) }
	for _, c := range []struct {
		name string
		body func(v variables) []ir.Stmt
		want int // checks that are left
	}{
		{"never assigned", func(v variables) []ir.Stmt {
			return Body(Set(v.p, none), Set(v.i, read(v.p)))
		}, 1},
		{"assigned before", func(v variables) []ir.Stmt {
			return Body(Set(v.p, Addr(Elem(v.x, Int(1)))), Set(v.i, read(v.p)))
		}, 0},
		{"a copy", func(v variables) []ir.Stmt {
			return Body(Set(v.p, Addr(Elem(v.x, Int(1)))), Set(v.q, ir.Get(v.p)), Set(v.i, read(v.q)))
		}, 0},
		{"assigned in one branch", func(v variables) []ir.Stmt {
			return Body(Set(v.p, none), If(Lt(Len(v.x), Int(3)), Set(v.p, Addr(Elem(v.x, Int(1))))), Set(v.i, read(v.p)))
		}, 1},
		{"assigned in both branches", func(v variables) []ir.Stmt {
			return Body(Set(v.p, none),
				Else(If(Lt(Len(v.x), Int(3)), Set(v.p, Addr(Elem(v.x, Int(1))))), Set(v.p, Addr(Elem(v.x, Int(2))))),
				Set(v.i, read(v.p)))
		}, 0},
		{"the other branch returns", func(v variables) []ir.Stmt {
			return Body(Set(v.p, none),
				Else(If(Lt(Len(v.x), Int(3)), Set(v.p, Addr(Elem(v.x, Int(1))))), Return()), Set(v.i, read(v.p)))
		}, 0},
		{"checked before", func(v variables) []ir.Stmt {
			return Body(Set(v.p, none), Set(v.i, read(v.p)), Set(v.i, read(v.p)))
		}, 1},
		{"checked on the right side of && before", func(v variables) []ir.Stmt {
			return Body(Set(v.p, none),
				If(Op(Lt(Len(v.x), Int(3)), ir.LAnd, Lt(read(v.p), Int(5))), Set(v.i, Int(1))), Set(v.i, read(v.p)))
		}, 2},
		{"assigned in a loop that may not run", func(v variables) []ir.Stmt {
			return Body(Set(v.p, none), For(v.i, Int(0), Len(v.x), Set(v.p, Addr(Elem(v.x, ir.Get(v.i))))), Set(v.i, read(v.p)))
		}, 1},
		{"used before it becomes nil in a loop", func(v variables) []ir.Stmt {
			return Body(Set(v.p, Addr(Elem(v.x, Int(0)))),
				For(v.i, Int(0), Len(v.x), SetPlace(Elem(v.x, Int(3)), read(v.p)), Set(v.p, none)))
		}, 1},
		{"used in a loop that always assigns it", func(v variables) []ir.Stmt {
			return Body(Set(v.p, Addr(Elem(v.x, Int(0)))),
				For(v.i, Int(0), Len(v.x), SetPlace(Elem(v.x, Int(3)), read(v.p)), Set(v.p, Addr(Elem(v.x, ir.Get(v.i))))))
		}, 0},
		{"nil goes from variable to variable in a loop", func(v variables) []ir.Stmt {
			return Body(Set(v.p, Addr(Elem(v.x, Int(0)))), Set(v.q, Addr(Elem(v.x, Int(0)))),
				For(v.i, Int(0), Len(v.x), SetPlace(Elem(v.x, Int(3)), read(v.p)), Set(v.p, ir.Get(v.q)), Set(v.q, none)))
		}, 1},
		{"a break with nil", func(v variables) []ir.Stmt {
			out := &ir.Label{Name: "out"}
			return Body(Set(v.p, none),
				&ir.Block{Label: out, Body: Body(If(Lt(Len(v.x), Int(3)), &ir.Break{Label: out}), Set(v.p, Addr(Elem(v.x, Int(1)))))},
				Set(v.i, read(v.p)))
		}, 1},
		{"a continue with nil", func(v variables) []ir.Stmt {
			next := &ir.Label{Name: "next"}
			return Body(Set(v.p, Addr(Elem(v.x, Int(0)))), &ir.Loop{Label: next, Cond: Lt(read(v.p), Int(7)),
				Body: Body(Set(v.p, none), If(Lt(Len(v.x), Int(3)), &ir.Continue{Label: next}), Set(v.p, Addr(Elem(v.x, Int(1)))))})
		}, 1},
		{"a variable whose address is taken", func(v variables) []ir.Stmt {
			return Body(Set(v.p, Addr(Elem(v.x, Int(0)))), SetPlace(&ir.DerefPlace{Ptr: Addr(Var(v.p))}, none), Set(v.i, read(v.p)))
		}, 1},
		{"a full struct", func(v variables) []ir.Stmt {
			return Body(Set(v.s, Composite(pair, Addr(Elem(v.x, Int(0))), Addr(Elem(v.x, Int(1))))),
				Set(v.i, Load(&ir.DerefPlace{Ptr: Load(Field(Var(v.s), 1)), Check: true})))
		}, 0},
		{"a struct with a nil pointer", func(v variables) []ir.Stmt {
			return Body(Set(v.s, Composite(pair, Addr(Elem(v.x, Int(0))), nil)),
				Set(v.i, Load(&ir.DerefPlace{Ptr: Load(Field(Var(v.s), 1)), Check: true})))
		}, 1},
		{"a field becomes nil", func(v variables) []ir.Stmt {
			return Body(Set(v.s, Composite(pair, Addr(Elem(v.x, Int(0))), Addr(Elem(v.x, Int(1))))),
				SetPlace(Field(Var(v.s), 0), none),
				Set(v.i, Load(&ir.DerefPlace{Ptr: Load(Field(Var(v.s), 0)), Check: true})))
		}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := variables{Local("x", ints), Local("p", pointer), Local("q", pointer), Local("i", ir.TInt), Local("s", pair)}
			k := Kernel("k", locals(v.x), locals(v.p, v.q, v.i, v.s), c.body(v)...)
			if err := ir.Verify(k, ir.StageInlined); err != nil {
				t.Fatal(err)
			}
			if err := nilChecks(k); err != nil {
				t.Fatal(err)
			}
			got := 0
			ir.EachNilCheck(k.Func.Body, func(*ir.DerefPlace) { got++ })
			if got != c.want {
				t.Errorf("%d checks are left, want %d:\n%s", got, c.want, k)
			}
		})
	}
}
