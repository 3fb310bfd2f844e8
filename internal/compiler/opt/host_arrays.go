package opt

import (
	"slices"

	"quern.dev/internal/compiler/ir"
)

// maxHostArray is the largest length of an array that becomes variables in Go: a few
// such arrays fit into registers.
const maxHostArray = 8

// splitArrays replaces short arrays of scalars by one variable per element if all
// indices are constants. The Go compiler keeps such arrays in memory, and a variable of
// each thread that is live across a barrier is copied as a whole.
func splitArrays(k *ir.Kernel) {
	s := &scalariser{f: k.Func, structs: true, uses: countUses(k.Func), nodes: map[*ir.Local]*node{}}
	for _, v := range k.Func.Locals {
		if isShortArray(v.Type) && !s.uses[v].addressed {
			s.nodes[v] = &node{local: v}
		}
	}
	for again := true; again; {
		again = s.keepWhole(k.Func.Body)
	}
	if len(s.nodes) == 0 {
		return
	}
	s.survey(k.Func.Body)
	for v, n := range s.nodes {
		if n.memory {
			delete(s.nodes, v)
		}
	}
	for again := true; again; {
		again = s.keepWhole(k.Func.Body)
	}
	s.split(k.Func.Locals)
	r := ir.Rewriter{Place: s.place, Stmt: func(st ir.Stmt) []ir.Stmt {
		if a, ok := st.(*ir.Assign); ok && s.nodeOf(a.Dst) == nil {
			return []ir.Stmt{st} // an array that stays is assigned as a whole
		}
		return s.stmt(st)
	}}
	k.Func.Body = r.Body(k.Func.Body)
	k.Func.Locals = without(k.Func.Locals, func(v *ir.Local) bool { return s.nodes[v] != nil })
}

// isShortArray reports whether a type is a short array of scalars, or of a few structs of
// scalars such as vectors.
func isShortArray(t *ir.Type) bool {
	if t.Kind != ir.Array || t.Len > maxHostArray {
		return false
	}
	isAggregate := func(f ir.Field) bool { return !f.Type.IsScalar() }
	return t.Elem.IsScalar() ||
		t.Elem.Kind == ir.Struct && t.Len*int64(len(t.Elem.Fields)) <= 2*maxHostArray && !slices.ContainsFunc(t.Elem.Fields, isAggregate)
}

// keepWhole excludes arrays that are used as a whole, other than to copy them from memory,
// from or to another split array, or to compose them. It reports whether it excluded any.
func (s *scalariser) keepWhole(body []ir.Stmt) bool {
	found := false
	keep := func(v *ir.Local) {
		if v != nil && s.nodes[v] != nil {
			delete(s.nodes, v)
			found = true
		}
	}
	var v ir.Visitor
	v = ir.Visitor{
		Stmt: func(st ir.Stmt) bool {
			for dst := range ir.Defined(st) {
				keep(dst)
			}
			if w, ok := st.(*ir.Warp); ok {
				s.keepFragments(w, keep)
			}
			a, ok := st.(*ir.Assign)
			if !ok {
				return true
			}
			dst, ok := a.Dst.(*ir.VarPlace)
			if !ok || s.nodes[dst.Var] == nil {
				return true
			}
			switch src := a.Src.(type) {
			case *ir.Zero:
			case *ir.Composite:
				for _, e := range src.Elems {
					if e != nil {
						v.Value(e)
					}
				}
			default:
				from, ok := ir.Variable(a.Src)
				if !ok && isMemoryLoad(a.Src) {
					v.Value(a.Src)
				} else if !ok || s.nodes[from] == nil {
					return true
				}
			}
			return false
		},
		Place: func(p ir.Place) bool {
			switch p := p.(type) {
			case *ir.VarPlace:
				keep(p.Var)
			case *ir.IndexPlace:
				if whole, ok := p.X.(*ir.VarPlace); ok && s.nodes[whole.Var] != nil {
					v.Value(p.Index)
					return false
				}
			}
			return true
		},
	}
	v.Body(body)
	return found
}

// isMemoryLoad reports whether a value is an array in memory that all threads see.
func isMemoryLoad(x ir.Expr) bool {
	l, ok := x.(*ir.Load)
	if !ok {
		return false
	}
	_, isVariable := ir.Root(l.Place).(*ir.VarPlace)
	return !isVariable
}

// keepFragments excludes the matrices of an operation, which are arrays.
func (s *scalariser) keepFragments(w *ir.Warp, keep func(*ir.Local)) {
	if !w.Op.IsMMA() && !w.Op.IsGroupMMA() {
		return
	}
	v := ir.Visitor{Place: func(p ir.Place) bool {
		if whole, ok := ir.Root(p).(*ir.VarPlace); ok {
			keep(whole.Var)
		}
		return true
	}}
	for _, a := range w.Args {
		v.Value(a)
	}
}
