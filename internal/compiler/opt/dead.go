package opt

import (
	"slices"

	"quern.dev/internal/compiler/ir"
)

// removeDead removes assignments to variables that are not read, and assignments that
// are overwritten before the variable is read. Operations that could stop the thread
// stay. It returns whether a variable that is still read lost an assignment, which may
// leave it with a single one.
func removeDead(f *ir.Func) bool {
	again := false
	for range maxRounds {
		r := &deadCode{f: f, uses: countUses(f), own: map[*ir.Local]int{}}
		r.countOwn(f.Body)
		f.Body = r.body(f.Body)
		again = again || r.overwritten
		if !r.removed {
			break
		}
	}
	uses := countUses(f)
	f.Locals = without(f.Locals, func(v *ir.Local) bool {
		u := uses[v]
		return u.writes == 0 && u.parts == 0 && u.reads == 0
	})
	return again
}

type deadCode struct {
	f       *ir.Func
	uses    usages
	own     map[*ir.Local]int // reads of a variable in removable assignments to the variable itself
	removed bool
	// overwritten: an assignment to a live variable was removed.
	overwritten bool
	// later holds the variables that are assigned later in the straight-line code
	// before they are read.
	later map[*ir.Local]bool
}

// countOwn counts the reads that keep a variable alive only if it is alive anyway.
func (r *deadCode) countOwn(body []ir.Stmt) {
	v := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			if a, ok := s.(*ir.Assign); ok && removable(a) {
				if dst, ok := ir.Root(a.Dst).(*ir.VarPlace); ok {
					r.reads(a, func(v *ir.Local) {
						if v == dst.Var {
							r.own[v]++
						}
					})
				}
			}
			return true
		},
		Expr:  func(ir.Expr) bool { return false },
		Place: func(ir.Place) bool { return false },
	}
	v.Body(body)
}

// removable reports whether an assignment has no side effects.
func removable(a *ir.Assign) bool { return !ir.MayFault(a.Src) && !ir.PlaceMayFault(a.Dst) }

// reads calls do for each read of an assignment.
func (r *deadCode) reads(a *ir.Assign, do func(*ir.Local)) {
	target := ir.Root(a.Dst)
	v := ir.Visitor{Place: func(p ir.Place) bool {
		if v, ok := p.(*ir.VarPlace); ok && p != target {
			do(v.Var)
		}
		return true
	}}
	v.Value(a.Src)
	v.Target(a.Dst)
}

// body processes a list backwards.
func (r *deadCode) body(list []ir.Stmt) []ir.Stmt {
	kept := len(list)
	for i := len(list) - 1; i >= 0; i-- {
		if !r.keep(list[i]) {
			r.removed = true
			continue
		}
		kept--
		list[kept] = list[i]
	}
	return list[kept:]
}

// nested processes a list that runs any number of times, after what follows it.
func (r *deadCode) nested(list []ir.Stmt) []ir.Stmt {
	r.later = nil
	list = r.body(list)
	r.later = nil
	return list
}

func (r *deadCode) keep(s ir.Stmt) bool {
	r.f.Poll()
	switch s := s.(type) {
	case *ir.Assign:
		return r.keepAssign(s)
	case *ir.If:
		s.Else = r.nested(s.Else)
		s.Then = r.nested(s.Then)
	case *ir.Loop:
		s.Post = r.nested(s.Post)
		s.Body = r.nested(s.Body)
		s.Pre = r.nested(s.Pre)
	case *ir.Block:
		s.Body = r.nested(s.Body)
	case *ir.Call, *ir.LoadVector:
		r.later = nil
	default:
		r.later = nil
		for v := range ir.Results(s) {
			if r.unread(*v) {
				*v = nil
			}
		}
		if s, ok := s.(*ir.Warp); ok {
			return isNeeded(s)
		}
	}
	return true
}

// isNeeded reports whether a warp operation still has a used result. All lanes drop the
// same results, so an operation without used results can go; other operations stay.
func isNeeded(s *ir.Warp) bool {
	isResult := func(v *ir.Local) bool { return v != nil }
	return len(s.Dst) == 0 || slices.ContainsFunc(s.Dst, isResult) || slices.ContainsFunc(s.Args, ir.MayFault)
}

// unread reports whether v is read only in assignments to v.
func (r *deadCode) unread(v *ir.Local) bool {
	u := r.uses[v]
	return u.reads <= r.own[v] && !u.addressed
}

func (r *deadCode) keepAssign(s *ir.Assign) bool {
	root, ok := ir.Root(s.Dst).(*ir.VarPlace)
	if !ok {
		r.readBy(s)
		return true
	}
	v := root.Var
	_, whole := s.Dst.(*ir.VarPlace)
	dead := r.unread(v) || whole && r.later[v] && !r.uses[v].addressed
	if dead && removable(s) {
		r.overwritten = r.overwritten || !r.unread(v)
		r.reads(s, func(w *ir.Local) {
			r.uses[w].reads--
			if w == v {
				r.own[w]--
			}
		})
		return false
	}
	if whole {
		if r.later == nil {
			r.later = map[*ir.Local]bool{}
		}
		r.later[v] = true
	}
	r.readBy(s)
	return true
}

// readBy records the variables that a remaining statement reads.
func (r *deadCode) readBy(s *ir.Assign) {
	if len(r.later) == 0 {
		return
	}
	r.reads(s, func(v *ir.Local) { delete(r.later, v) })
	if root, ok := ir.Root(s.Dst).(*ir.VarPlace); ok {
		if _, whole := s.Dst.(*ir.VarPlace); !whole {
			delete(r.later, root.Var) // the rest of the variable stays live
		}
	}
}
