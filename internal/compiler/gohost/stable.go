package gohost

import (
	"slices"

	"quern.dev/internal/compiler/ir"
)

// stabilize gives a level to variables that are computed from the thread's coordinates
// and from variables of the block, which keep their values while the former are in use:
//
//	for left := 0; left < n; left += 256 {
//		x := left + t.ThreadIdx.X
//		...
//		t.Sync()
//		... // uses x
//	}
//
// They are recomputed where they are used, like variables that depend only on the
// thread's coordinates, instead of being kept in scratch memory across the barrier.
func (f *facts) stabilize(fn *ir.Func, block map[*ir.Local]bool) {
	f.once = block
	defer func() { f.once = nil }()
	s := &stabilizer{facts: f, block: block, mentions: mentionsIn(fn.Body)}
	s.list(fn.Body)
}

type stabilizer struct {
	*facts
	block    map[*ir.Local]bool
	mentions map[*ir.Local]int // in the whole function
}

func (s *stabilizer) list(list []ir.Stmt) {
	for i, t := range list {
		if a, ok := t.(*ir.Assign); ok {
			s.assignment(a, list[i:])
		}
		for _, l := range children(t) {
			s.list(l)
		}
	}
}

// assignment gives the variable of an assignment its level if all of its uses are in
// list, which starts with the assignment, and the rest of list keeps the values that it
// depends on.
func (s *stabilizer) assignment(a *ir.Assign, list []ir.Stmt) {
	p, ok := a.Dst.(*ir.VarPlace)
	if !ok {
		return
	}
	v := p.Var
	if s.source[v] == nil || s.block[v] || s.local(v) < varying || !v.Type.IsScalar() || v.Type.Kind == ir.Pointer {
		return
	}
	l := s.level(a.Src)
	if l == varying || weight(a.Src, cheap+1) > cheap || mentionsIn(list, v)[v] != s.mentions[v] {
		return
	}
	written := uses(list[1:]...).writes
	if !s.keeps(a.Src, written) {
		return
	}
	s.levels[v] = l
}

// keeps reports whether no variable of the block that x depends on is written.
func (s *stabilizer) keeps(x ir.Expr, written map[*ir.Local]bool) bool {
	for w := range readsOf(x).reads {
		if s.block[w] && written[w] || s.source[w] != nil && !s.block[w] && !s.keeps(s.source[w], written) {
			return false
		}
	}
	return true
}

// mentionsIn counts the places in statements that mention each variable, or one of them.
func mentionsIn(list []ir.Stmt, only ...*ir.Local) map[*ir.Local]int {
	n := map[*ir.Local]int{}
	counts := func(v *ir.Local) bool { return len(only) == 0 || slices.Contains(only, v) }
	v := ir.Visitor{
		Stmt: func(t ir.Stmt) bool {
			for d := range ir.Defined(t) {
				if counts(d) {
					n[d]++
				}
			}
			return true
		},
		Place: func(p ir.Place) bool {
			if p, ok := p.(*ir.VarPlace); ok && counts(p.Var) {
				n[p.Var]++
			}
			return true
		},
	}
	v.Body(list)
	return n
}
