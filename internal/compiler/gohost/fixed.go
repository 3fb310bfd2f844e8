package gohost

import (
	"fmt"

	"quern.dev/internal/compiler/ir"
)

// isSafe reports whether the fast form requires an element to exist.
func (f *facts) isSafe(p ir.Place) bool {
	return f.isFixed(p) || f.hasWindow(p) || f.isFixedInWindow(p)
}

// isFixedInWindow reports whether each thread of a row uses the same element of its own
// array, and the arrays are adjacent.
func (f *facts) isFixedInWindow(p ir.Place) bool {
	at, ok := p.(*ir.IndexPlace)
	return ok && at.Index.Type().Kind == ir.Int && f.level(at.Index) <= perRow && f.hasWindow(at.X)
}

// isFixed reports whether all threads of a row use the same element of the same slice
// or shared array.
func (f *facts) isFixed(p ir.Place) bool {
	switch p := p.(type) {
	case *ir.ElemPlace:
		return p.Index.Type().Kind == ir.Int && f.level(p.Slice) <= perRow && f.level(p.Index) <= perRow
	case *ir.IndexPlace:
		return f.ofRow(p)
	}
	return false
}

// requireFixed adds the condition that an element which the row has in common exists.
func (e *emitter) requireFixed(p ir.Place) {
	if at, ok := p.(*ir.ElemPlace); ok {
		e.notNegative(at.Index, e.windows)
		e.windows.require(fmt.Sprintf("%s < len(%s)", e.value(at.Index, ir.TInt, precCompare+1), e.expr(at.Slice, precOr)))
		return
	}
	e.requireRow(p)
}

// fixedValue returns a variable with the value of an element that the row has in
// common, read before the loop over the row's threads, or "" if there is none or the
// loop may change it.
func (e *emitter) fixedValue(p ir.Place) string {
	w := e.windows
	if w == nil || !p.Type().IsScalar() || p.Type().Kind == ir.Pointer || !e.facts.isFixed(p) || w.stores.mayChange(e, p) {
		return ""
	}
	s := e.place(p)
	name, ok := w.names[s]
	if !ok {
		name = e.names.fresh("value")
		w.names[s] = name
		w.decls = append(w.decls, fmt.Sprintf("%s := %s", name, s))
	}
	return name
}

// written says what memory statements may write.
type written struct {
	shared map[*ir.SharedVar]bool // elements of shared arrays
	params bool                   // elements of slices that are parameters
	other  bool                   // anything
}

func (e *emitter) storesOf(body []ir.Stmt) written {
	st := written{shared: map[*ir.SharedVar]bool{}}
	v := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		a, ok := s.(*ir.Assign)
		switch {
		case ok && !isMemory(a.Dst):
		case ok:
			switch shared, param := e.memoryOf(a.Dst); {
			case shared != nil:
				st.shared[shared] = true
			case param:
				st.params = true
			default:
				st.other = true
			}
		default:
			st.other = st.other || writesMemory([]ir.Stmt{s})
		}
		return true
	}}
	v.Body(body)
	return st
}

// memoryOf returns the shared array that a place is a part of, or reports whether it is
// a part of a slice that is a parameter.
func (e *emitter) memoryOf(p ir.Place) (shared *ir.SharedVar, param bool) {
	for {
		switch q := p.(type) {
		case *ir.FieldPlace:
			p = q.X
			continue
		case *ir.IndexPlace:
			p = q.X
			continue
		case *ir.SharedPlace:
			if !q.Var.IsDynamic() {
				return q.Var, false
			}
		case *ir.DerefPlace:
			if p = e.facts.pointee(q); p != nil {
				continue
			}
		case *ir.ElemPlace:
			return nil, e.isParam(q.Slice)
		}
		return nil, false
	}
}

// isParam reports whether a slice is a parameter or a copy of one.
func (e *emitter) isParam(slice ir.Expr) bool {
	v, ok := ir.Variable(slice)
	for ok && !e.facts.params[v] {
		v, ok = ir.Variable(e.facts.source[v])
	}
	return ok
}

// mayChange reports whether the statements may write the place.
func (st written) mayChange(e *emitter, p ir.Place) bool {
	shared, param := e.memoryOf(p)
	switch {
	case st.other:
		return true
	case shared != nil:
		return st.shared[shared]
	default:
		return !param || st.params
	}
}
