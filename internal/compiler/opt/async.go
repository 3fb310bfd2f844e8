package opt

import (
	"slices"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/ranges"
)

// asyncSources adds the launch condition that the slice parameters read by asynchronous
// copies begin at multiples of 16 bytes. Only parts of buffers do not meet it. Without
// the condition, each copy checks its address.
func asyncSources(k *ir.Kernel, v ranges.Variant) {
	if v == ranges.Wide {
		return
	}
	var asked []int
	values := sliceVariables(k.Func.Body)
	visitor := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		m, ok := s.(*ir.Memory)
		if !ok || m.Op != ir.AsyncCopy {
			return true
		}
		t := m.Places[1].Type()
		if i := parameterOf(k, m.Places[1], values); i >= 0 && t.Size() > t.Align() && !slices.Contains(asked, i) {
			asked = append(asked, i)
		}
		return true
	}}
	visitor.Body(k.Func.Body)
	for _, i := range asked {
		k.Limits = append(k.Limits, alignment(i, ir.VectorBytes))
	}
}

// sliceVariables returns the values of the variables of slice type that are assigned once.
func sliceVariables(body []ir.Stmt) map[*ir.Local]ir.Expr {
	values := map[*ir.Local]ir.Expr{}
	v := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		if a, ok := s.(*ir.Assign); ok {
			if p, ok := a.Dst.(*ir.VarPlace); ok && p.Var.Type.Kind == ir.Slice {
				if _, again := values[p.Var]; again {
					values[p.Var] = nil
				} else {
					values[p.Var] = a.Src
				}
			}
		}
		return true
	}}
	v.Body(body)
	return values
}

// parameterOf returns the index of the slice parameter that contains a place, or -1. values
// has those of other variables.
func parameterOf(k *ir.Kernel, p ir.Place, values map[*ir.Local]ir.Expr) int {
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
		if i := slices.Index(k.Func.Params, v); i >= 0 || values[v] == nil {
			return i
		}
		slice = values[v]
	}
}
