package opt

import (
	"slices"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/ranges"
)

// asyncSources has the launch conditions of a variant promise that the slice
// parameters which asynchronous copies read begin at multiples of 16 bytes. All
// do but parts of buffers; where nothing is promised each copy looks itself.
func asyncSources(k *ir.Kernel, v ranges.Variant) {
	if v == ranges.Wide {
		return
	}
	var asked []int
	visitor := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		m, ok := s.(*ir.Memory)
		if !ok || m.Op != ir.AsyncCopy {
			return true
		}
		t := m.Places[1].Type()
		if i := parameterOf(k, m.Places[1]); i >= 0 && t.Size() > t.Align() && !slices.Contains(asked, i) {
			asked = append(asked, i)
		}
		return true
	}}
	visitor.Body(k.Func.Body)
	for _, i := range asked {
		k.Limits = append(k.Limits, alignment(i, ir.VectorBytes))
	}
}

// parameterOf is the index of the slice parameter that a place is in, -1 if it
// is in none.
func parameterOf(k *ir.Kernel, p ir.Place) int {
	var slice ir.Expr
	switch root := ir.Root(p).(type) {
	case *ir.ElemPlace:
		slice = root.Slice
	case *ir.ArrayPlace:
		slice = root.Slice
	}
	for {
		if s, ok := slice.(*ir.SliceExpr); ok && s.X != nil {
			slice = s.X
			continue
		}
		v, _ := ir.Variable(slice)
		return slices.Index(k.Func.Params, v)
	}
}
