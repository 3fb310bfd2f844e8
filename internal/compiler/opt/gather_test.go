package opt

import (
	"slices"
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

func TestGatherKeepsUsesThroughPointersInOrder(t *testing.T) {
	n, x, y := Local("n", ir.TInt), Local("x", ints), Local("y", ints)
	a, b, p := Local("a", ir.TInt), Local("b", ir.TInt), Local("p", ir.PointerTo(ir.TInt))
	store := SetPlace(&ir.DerefPlace{Ptr: ir.Get(p)}, Load(&ir.ElemPlace{Slice: ir.Get(x), Index: Int(1), Check: true}))
	read := Set(b, ir.Get(a))
	k := Kernel("k", []*ir.Local{n, x, y}, []*ir.Local{a, b, p},
		Set(a, Int(0)),
		Set(p, &ir.Addr{T: p.Type, Place: &ir.VarPlace{Var: a}}),
		store,
		read,
		SetPlace(&ir.ElemPlace{Slice: ir.Get(y), Index: ir.Get(n), Check: true}, ir.Get(b)))
	if err := gather(k); err != nil {
		t.Fatal(err)
	}
	if slices.Index(k.Func.Body, read) < slices.Index(k.Func.Body, store) {
		t.Errorf("the read of a is in front of the store to it:\n%s", k)
	}
}
