package opt

import (
	"strings"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

func TestComparisonsWithConstantsBecomeTestsOfABit(t *testing.T) {
	any := func(op, join ir.BinaryOp, v *ir.Local, values ...int64) ir.Expr {
		var x ir.Expr
		for _, n := range values {
			c := &ir.Binary{Op: op, X: ir.Get(v), Y: ir.IntConst(v.Type, n)}
			if x == nil {
				x = c
			} else {
				x = &ir.Binary{Op: join, X: x, Y: c}
			}
		}
		return x
	}
	for _, c := range []struct {
		name string
		typ  *ir.Type
		cond func(v *ir.Local) ir.Expr
		want string // "" if the condition stays
	}{
		{"one of four letters", ir.TUint8, func(v *ir.Local) ir.Expr { return any(ir.Eq, ir.LOr, v, 'A', 'C', 'G', 'T') }, "& 524357u64) != 0u64"},
		{"none of three letters", ir.TUint8, func(v *ir.Local) ir.Expr { return any(ir.Ne, ir.LAnd, v, 'c', 'a', 'b') }, "& 7u64) == 0u64"},
		{"signed constants around zero", ir.TInt32, func(v *ir.Local) ir.Expr { return any(ir.Eq, ir.LOr, v, 1, -2, 0) }, "& 13u64) != 0u64"},
		{"two constants stay", ir.TInt, func(v *ir.Local) ir.Expr { return any(ir.Eq, ir.LOr, v, 1, 2) }, ""},
		{"constants far apart stay", ir.TInt, func(v *ir.Local) ir.Expr { return any(ir.Eq, ir.LOr, v, 1, 2, 65) }, ""},
		{"a contradiction stays", ir.TInt, func(v *ir.Local) ir.Expr { return any(ir.Eq, ir.LAnd, v, 1, 2, 3) }, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, out := Local("v", c.typ), Local("out", ints)
			k := Kernel("k", locals(v, out), nil, &ir.If{Cond: c.cond(v), Then: []ir.Stmt{SetPlace(Elem(out, Int(0)), Int(1))}})
			before := k.String()
			sets(k)
			got := k.String()
			if c.want == "" && got != before || !strings.Contains(got, c.want) {
				t.Errorf("got:\n%s\nwant in it: %s", got, c.want)
			}
		})
	}
}
