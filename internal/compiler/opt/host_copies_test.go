package opt

import (
	"strings"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

func TestVariablesThatOnlyPassValuesOnAreRemoved(t *testing.T) {
	type variables struct{ out, n, a, b, c *ir.Local }
	for _, c := range []struct {
		name string
		body func(v variables) []ir.Stmt
		want string // the body, without spaces at the beginning of lines
	}{
		{"a copy of a parameter", func(v variables) []ir.Stmt {
			return Body(Set(v.a, ir.Get(v.n)), SetPlace(Elem(v.out, Int(0)), ir.Get(v.a)))
		}, "out[?0] = n"},
		{"a copy of a copy, used in a loop", func(v variables) []ir.Stmt {
			return Body(Set(v.a, ir.Get(v.n)), Set(v.b, ir.Get(v.a)),
				For(v.c, Int(0), ir.Get(v.b), SetPlace(Elem(v.out, ir.Get(v.c)), ir.Get(v.b))))
		}, "out[?c] = n"},
		{"a value that is only copied", func(v variables) []ir.Stmt {
			return Body(Set(v.b, Int(0)), Set(v.a, Add(ir.Get(v.b), ir.Get(v.n))), Set(v.b, ir.Get(v.a)),
				SetPlace(Elem(v.out, Int(0)), ir.Get(v.b)))
		}, "b = b + n"},
		{"the old value of a variable that changes stays", func(v variables) []ir.Stmt {
			return Body(Set(v.b, Int(0)), Set(v.a, ir.Get(v.b)), Set(v.b, Add(ir.Get(v.b), ir.Get(v.n))),
				SetPlace(Elem(v.out, ir.Get(v.b)), ir.Get(v.a)))
		}, "a = b"},
		{"one that changes in a loop stays", func(v variables) []ir.Stmt {
			return Body(Set(v.b, Int(0)), Set(v.a, ir.Get(v.b)),
				For(v.c, Int(0), ir.Get(v.n), SetPlace(Elem(v.out, ir.Get(v.a)), Int(1)), Set(v.b, Add(ir.Get(v.b), Int(1)))),
				SetPlace(Elem(v.out, Int(0)), ir.Get(v.b)))
		}, "a = b"},
		{"values that change places", func(v variables) []ir.Stmt {
			return Body(Set(v.b, Int(0)), Set(v.c, Int(1)), Set(v.a, ir.Get(v.b)), Set(v.b, ir.Get(v.c)), Set(v.c, ir.Get(v.a)),
				SetPlace(Elem(v.out, ir.Get(v.b)), ir.Get(v.c)))
		}, "a = b"},
		{"a value does not overtake a jump", func(v variables) []ir.Stmt {
			return Body(Set(v.b, Int(0)), Set(v.a, Add(ir.Get(v.n), Int(1))),
				If(Lt(ir.Get(v.n), Int(3)), SetPlace(Elem(v.out, Int(1)), ir.Get(v.b)), Return()),
				Set(v.b, ir.Get(v.a)), SetPlace(Elem(v.out, Int(0)), ir.Get(v.b)))
		}, "b = a"},
		{"a copy whose address is taken stays", func(v variables) []ir.Stmt {
			return Body(Set(v.a, ir.Get(v.n)), SetPlace(&ir.DerefPlace{Ptr: Addr(Var(v.a))}, Int(1)),
				SetPlace(Elem(v.out, ir.Get(v.n)), ir.Get(v.a)))
		}, "a = n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := variables{Local("out", ints), Local("n", ir.TInt), Local("a", ir.TInt), Local("b", ir.TInt), Local("c", ir.TInt)}
			k := Kernel("k", locals(v.out, v.n), locals(v.a, v.b, v.c), c.body(v)...)
			removeCopies(k.Func)
			if err := ir.Verify(k, ir.StageFront); err != nil {
				t.Fatal(err)
			}
			if text := variableNumber.ReplaceAllString(k.String(), ""); !strings.Contains(text, c.want+"\n") {
				t.Errorf("got\n%swant %q", text, c.want)
			}
		})
	}
}
