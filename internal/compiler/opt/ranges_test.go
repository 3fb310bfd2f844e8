package opt

import (
	"testing"

	"quern.dev/internal/compiler/ir"
	. "quern.dev/internal/compiler/ir/irtest"
)

var floats = ir.SliceOf(ir.TFloat32)

func saxpy(stride bool) *ir.Kernel {
	a, x, y, i := Local("a", ir.TFloat32), Local("x", floats), Local("y", floats), Local("i", ir.TInt)
	body := SetPlace(Elem(y, ir.Get(i)), Add(Load(Elem(y, ir.Get(i))), Mul(ir.Get(a), Load(Elem(x, ir.Get(i))))))
	params, locals := []*ir.Local{a, x, y}, []*ir.Local{i}
	if !stride {
		return Kernel("saxpy", params, locals, Set(i, Global()), If(Lt(ir.Get(i), Len(y)), body))
	}
	return Kernel("saxpy", params, locals, Set(i, Global()), &ir.Loop{Label: &ir.Label{Name: "for"}, Cond: Lt(ir.Get(i), Len(y)),
		Body: []ir.Stmt{body}, Post: []ir.Stmt{Set(i, Add(ir.Get(i), Stride()))}})
}

func TestLook(t *testing.T) {
	for _, k := range []*ir.Kernel{saxpy(false), saxpy(true)} {
		for _, v := range []variant{narrow, wide} {
			c := ir.CloneKernel(k)
			if err := ranges(c, v); err != nil {
				t.Fatal(err)
			}
			t.Log(c)
			t.Log(EncodeLimits(c.Limits))
			if err := ir.Verify(c, ir.StageFinal); err != nil {
				t.Error(err)
			}
		}
	}
}
