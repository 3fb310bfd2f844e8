package opt

import (
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

// Neighbours at the index of a variable move together if its value is known to be aligned.
func TestVectorsAtTheIndexOfAVariable(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(at, i *ir.Local) []ir.Stmt
		want string
	}{
		{"a multiple of two", func(at, i *ir.Local) []ir.Stmt { return []ir.Stmt{Set(at, Mul(ir.Get(i), Int(2)))} },
			lines("limit 1 <= 1", "limit &p0%16 <= 0", "at = i * 2", "part, part = vector x[at]", "v = part", "w = part")},
		{"any index", func(at, i *ir.Local) []ir.Stmt { return []ir.Stmt{Set(at, Mul(ir.Get(i), Int(3)))} },
			lines("limit 1 <= 1", "at = i * 3", "v = x[at]", "w = x[at + 1]")},
		{"two values", func(at, i *ir.Local) []ir.Stmt {
			return []ir.Stmt{Set(at, Mul(ir.Get(i), Int(2))), If(Lt(ir.Get(i), Int(5)), Set(at, ir.Get(i)))}
		}, lines("limit 1 <= 1", "at = i * 2", "if i < 5 {", "at = i", "v = x[at]", "w = x[at + 1]")},
	} {
		t.Run(c.name, func(t *testing.T) {
			x, i, at := Local("x", ir.SliceOf(ir.TFloat64)), Local("i", ir.TInt), Local("at", ir.TInt)
			v, w := Local("v", ir.TFloat64), Local("w", ir.TFloat64)
			element := func(index ir.Expr) ir.Expr { return Load(&ir.ElemPlace{Slice: ir.Get(x), Index: index}) }
			body := append(c.set(at, i), Set(v, element(ir.Get(at))), Set(w, element(Add(ir.Get(at), Int(1)))))
			k := Kernel("k", locals(x, i), locals(at, v, w), body...)
			k.Limits = ir.Limits{{X: &ir.Sym{Value: 1}, Max: 1}} // it has launch conditions
			vectorise(k)
			if err := ir.Verify(k, ir.StageFinal); err != nil {
				t.Error(err)
			}
			if got := text(k); got != c.want {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}
