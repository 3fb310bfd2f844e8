package opt

import (
	"slices"

	"quern.dev/internal/compiler/ir"
)

// versions renames a variable from each reassignment on, in kernels with warp
// operations:
//
//	v := x[i]                      v := x[i]
//	v = kernel.WarpReduceAdd(t, v) v2 := kernel.WarpReduceAdd(t, v)
//	if v > 0 {                     if v2 > 0 {
//
// The uniformity analysis treats a variable as a whole; here the second v is uniform
// and the first is not. Only assignments directly in the list that contains all uses of
// the variable start a version, because everything after them in the list executes
// later.
func versions(k *ir.Kernel) error {
	if !leaves(k.Func.Body, IsWarp) {
		return nil
	}
	s := &versioner{f: k.Func, uses: countUses(k.Func), mentioned: map[ir.Stmt]map[*ir.Local]bool{}}
	var vars []*ir.Local
	for v := range s.uses {
		if !s.uses[v].addressed && s.uses[v].writes > 1 {
			vars = append(vars, v)
		}
	}
	slices.SortFunc(vars, func(a, b *ir.Local) int { return s.index(a) - s.index(b) })
	for _, v := range vars {
		s.list(k.Func.Body, v, false)
	}
	return nil
}

type versioner struct {
	f         *ir.Func
	uses      usages
	mentioned map[ir.Stmt]map[*ir.Local]bool
}

// index orders variables.
func (s *versioner) index(v *ir.Local) int {
	if i := slices.Index(s.f.Params, v); i >= 0 {
		return i
	}
	return len(s.f.Params) + slices.Index(s.f.Locals, v)
}

// list looks for the innermost list that contains all uses of v, starting with the
// given one.
func (s *versioner) list(list []ir.Stmt, v *ir.Local, inLoop bool) {
	first, n := -1, 0
	for i, t := range list {
		if s.mentions(t, v) {
			if n++; first < 0 {
				first = i
			}
		}
	}
	if n == 0 {
		return
	}
	if n == 1 {
		if inner, loop := s.only(list[first], v); inner != nil {
			s.list(inner, v, inLoop || loop)
			return
		}
	}
	if inLoop && !(assignsWhole(list[first], v) && !readsVar(list[first], v)) {
		return // needs the value of the previous iteration
	}
	s.rename(list[first:], v, s.uses[v].param)
}

// only returns the list inside a statement that contains all of its uses of v, and
// whether the list is repeated.
func (s *versioner) only(t ir.Stmt, v *ir.Local) (inner []ir.Stmt, loop bool) {
	var lists [][]ir.Stmt
	var head ir.Expr
	switch t := t.(type) {
	case *ir.If:
		lists, head = [][]ir.Stmt{t.Then, t.Else}, t.Cond
	case *ir.Block:
		lists = [][]ir.Stmt{t.Body}
	case *ir.Loop:
		lists, head, loop = [][]ir.Stmt{t.Pre, t.Body, t.Post}, t.Cond, true
	}
	if head != nil && s.mentions(&ir.Return{Results: []ir.Expr{head}}, v) {
		return nil, false
	}
	for _, l := range lists {
		if !slices.ContainsFunc(l, func(t ir.Stmt) bool { return s.mentions(t, v) }) {
			continue
		}
		if inner != nil {
			return nil, false
		}
		inner = l
	}
	return inner, loop
}

// rename starts a version at each direct assignment except the first, which initializes
// v unless it has a value already.
func (s *versioner) rename(list []ir.Stmt, v *ir.Local, hasValue bool) {
	now := v
	r := ir.Rewriter{
		Place: func(p ir.Place) ir.Place {
			if p, ok := p.(*ir.VarPlace); ok && p.Var == v {
				p.Var = now
			}
			return p
		},
		Stmt: func(t ir.Stmt) []ir.Stmt {
			redefine(t, v, now)
			return []ir.Stmt{t}
		},
	}
	for i, t := range list {
		begins := assignsWhole(t, v) && (hasValue || i > 0)
		if !begins {
			if now != v {
				r.Body(list[i : i+1])
			}
			continue
		}
		before := now
		if now != v {
			r.Body(list[i : i+1]) // its operands, and its destination
		}
		now = &ir.Local{Name: v.Name, Type: v.Type, Pos: v.Pos, Hidden: v.Hidden, Path: v.Path}
		s.f.Locals = append(s.f.Locals, now)
		redefine(t, before, now)
		if a, ok := t.(*ir.Assign); ok {
			a.Dst.(*ir.VarPlace).Var = now
		}
	}
}

// redefine changes the destination of a statement other than an Assign from v to w.
func redefine(t ir.Stmt, v, w *ir.Local) {
	for d := range ir.Results(t) {
		if *d == v {
			*d = w
		}
	}
}

// assignsWhole reports whether a statement assigns all of v.
func assignsWhole(t ir.Stmt, v *ir.Local) bool {
	if a, ok := t.(*ir.Assign); ok {
		p, ok := a.Dst.(*ir.VarPlace)
		return ok && p.Var == v
	}
	return ir.Defines(t, v)
}

// readsVar reports whether a statement that assigns v also reads it.
func readsVar(t ir.Stmt, v *ir.Local) bool {
	reads := 0
	visitor := ir.Visitor{Place: func(p ir.Place) bool {
		if p, ok := p.(*ir.VarPlace); ok && p.Var == v {
			reads++
		}
		return true
	}}
	visitor.Body([]ir.Stmt{t})
	if _, ok := t.(*ir.Assign); ok {
		reads-- // the destination
	}
	return reads > 0
}

// mentions reports whether a statement read or assigned v when it was first queried:
// variables are renamed one after the other.
func (s *versioner) mentions(t ir.Stmt, v *ir.Local) bool {
	set, known := s.mentioned[t]
	if !known {
		set = map[*ir.Local]bool{}
		visitor := ir.Visitor{
			Stmt: func(t ir.Stmt) bool {
				for d := range ir.Defined(t) {
					set[d] = true
				}
				return true
			},
			Place: func(p ir.Place) bool {
				if p, ok := p.(*ir.VarPlace); ok {
					set[p.Var] = true
				}
				return true
			},
		}
		visitor.Body([]ir.Stmt{t})
		s.mentioned[t] = set
	}
	return set[v]
}
