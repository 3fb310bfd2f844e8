package opt

import "quern.dev/internal/compiler/ir"

// mayOverlapInPart reports whether two places of one type may overlap without being the
// same place. Declared memory forms trees, in which two places of one type are the same
// or disjoint. But the array that a slice is converted to may begin at any element.
// Such an array is accessed as an ArrayPlace, or through a pointer.
func (s *scalariser) mayOverlapInPart(a, b ir.Place) bool {
	return isMovable(a) && isMovable(b) && !apart(s.originOf(a), s.originOf(b))
}

func isMovable(p ir.Place) bool {
	switch p.(type) {
	case *ir.ArrayPlace, *ir.DerefPlace:
		return p.Type().Kind == ir.Array
	}
	return false
}

// origin is the variable that contains a place: a *ir.Local, which is an array or a
// slice parameter, or a *ir.SharedVar; nil if unknown.
type origin any

// dynamic is the origin of everything in dynamic shared memory: all its variables are
// the same memory.
var dynamic = new(ir.SharedVar)

// apart reports whether two origins are known to be disjoint. Two slice parameters may
// refer to the same buffer.
func apart(a, b origin) bool {
	isSlice := func(o origin) bool {
		v, ok := o.(*ir.Local)
		return ok && v.Type.Kind == ir.Slice
	}
	return a != nil && b != nil && a != b && !(isSlice(a) && isSlice(b))
}

func (s *scalariser) originOf(p ir.Place) origin {
	switch p := ir.Root(p).(type) {
	case *ir.VarPlace:
		return p.Var
	case *ir.SharedPlace:
		return p.Var
	case *ir.ElemPlace:
		return s.originOfValue(p.Slice)
	case *ir.ArrayPlace:
		return s.originOfValue(p.Slice)
	case *ir.DerefPlace:
		return s.originOfValue(p.Ptr)
	}
	return nil
}

// originOfValue returns the origin of what a slice or pointer refers to.
func (s *scalariser) originOfValue(e ir.Expr) origin {
	switch e := e.(type) {
	case *ir.SliceExpr:
		if e.X == nil {
			return s.originOf(e.Array)
		}
		return s.originOfValue(e.X)
	case *ir.Convert:
		return s.originOfValue(e.X)
	case *ir.Addr:
		return s.originOf(e.Place)
	}
	if _, ok := ir.Dynamic(e); ok {
		return dynamic
	}
	v, ok := ir.Variable(e)
	switch u := s.uses[v]; {
	case !ok || u == nil || !u.once():
		return nil
	case u.param && v.Type.Kind == ir.Slice:
		return v
	case u.param:
		return nil
	}
	return s.originOfValue(s.valueOf(v))
}

// valueOf returns the value of a variable that is assigned once, nil if the value is
// not an expression.
func (s *scalariser) valueOf(v *ir.Local) ir.Expr {
	if s.values == nil {
		s.values = map[*ir.Local]ir.Expr{}
		leaves(s.f.Body, func(st ir.Stmt) bool {
			if a, ok := st.(*ir.Assign); ok {
				if dst, ok := a.Dst.(*ir.VarPlace); ok {
					s.values[dst.Var] = a.Src
				}
			}
			return false
		})
	}
	return s.values[v]
}
