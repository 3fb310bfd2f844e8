package gohost

import (
	"quern.dev/internal/compiler/ir"
)

// scopes says where the variables of a statement list are declared: in the innermost
// list that contains all of their uses, at the first use.
type scopes struct {
	// define holds variables that are declared by the statement's own assignment.
	define map[ir.Stmt]map[*ir.Local]bool
	// before holds variables that are declared before the statement.
	before map[ir.Stmt][]*ir.Local
	// inFor holds assignments that can be the init clause of the following loop.
	inFor map[ir.Stmt]bool

	uses map[ir.Stmt]usage
	// defined holds variables that are live across barriers and have a definition.
	defined map[*ir.Local]bool
}

func newScopes() *scopes {
	return &scopes{
		define:  map[ir.Stmt]map[*ir.Local]bool{},
		before:  map[ir.Stmt][]*ir.Local{},
		inFor:   map[ir.Stmt]bool{},
		uses:    map[ir.Stmt]usage{},
		defined: map[*ir.Local]bool{},
	}
}

func (sc *scopes) of(s ir.Stmt) usage {
	u, ok := sc.uses[s]
	if !ok {
		u = uses(s)
		sc.uses[s] = u
	}
	return u
}

// place finds the declarations of vars, in order. All uses of vars are in the list.
func (sc *scopes) place(list []ir.Stmt, vars []*ir.Local) {
	inner := map[int][]*ir.Local{} // by statement
	for _, v := range vars {
		first, last := -1, -1
		for i, s := range list {
			if sc.of(s).mentions(v) {
				if first < 0 {
					first = i
				}
				last = i
			}
		}
		switch {
		case first < 0:
		case first == last && sc.sublist(list[first], v) != nil:
			inner[first] = append(inner[first], v)
		case definesFirst(list[first], v):
			sc.defineAt(list[first], v)
			if last == first+1 && isCounter(list[first]) && isPlainLoop(list[last]) {
				sc.inFor[list[first]] = true
			}
		default:
			sc.before[list[first]] = append(sc.before[list[first]], v)
		}
	}
	for i, s := range list {
		if len(inner[i]) == 0 {
			continue
		}
		for _, sub := range sublists(s) {
			var here []*ir.Local
			for _, v := range inner[i] {
				if l := sc.sublist(s, v); len(l) > 0 && &l[0] == &sub[0] {
					here = append(here, v)
				}
			}
			sc.place(sub, here)
		}
	}
}

func (sc *scopes) defineAt(s ir.Stmt, v *ir.Local) {
	if sc.define[s] == nil {
		sc.define[s] = map[*ir.Local]bool{}
	}
	sc.define[s][v] = true
}

// sublists returns the non-empty statement lists inside a statement that have their own
// scope in the printed form.
func sublists(s ir.Stmt) [][]ir.Stmt {
	var lists [][]ir.Stmt
	switch s := s.(type) {
	case *ir.If:
		lists = [][]ir.Stmt{s.Then, s.Else}
	case *ir.Loop:
		lists = [][]ir.Stmt{s.Body}
		if len(s.Post) > 1 { // a single one is a clause of the for statement
			lists = append(lists, s.Post)
		}
	case *ir.Block:
		lists = [][]ir.Stmt{s.Body}
	}
	kept := lists[:0]
	for _, l := range lists {
		if len(l) > 0 {
			kept = append(kept, l)
		}
	}
	return kept
}

// sublist returns the list inside s that contains all of s's uses of v, or nil.
func (sc *scopes) sublist(s ir.Stmt, v *ir.Local) []ir.Stmt {
	var found []ir.Stmt
	for _, list := range sublists(s) {
		for _, inner := range list {
			if sc.of(inner).mentions(v) {
				if found != nil {
					return nil
				}
				found = list
				break
			}
		}
	}
	switch s := s.(type) {
	case *ir.If:
		if readsOf(s.Cond).mentions(v) {
			return nil
		}
	case *ir.Loop:
		if s.Cond != nil && readsOf(s.Cond).mentions(v) || uses(s.Pre...).mentions(v) || len(s.Post) == 1 && sc.of(s.Post[0]).mentions(v) {
			return nil
		}
	}
	return found
}

// definesFirst reports whether s assigns all of v without reading it, so that it can
// declare v.
func definesFirst(s ir.Stmt, v *ir.Local) bool {
	switch s := s.(type) {
	case *ir.Assign:
		p, ok := s.Dst.(*ir.VarPlace)
		return ok && p.Var == v && !readsOf(s.Src).mentions(v)
	}
	return ir.Defines(s, v) && !operandsOf(s).mentions(v)
}

func isCounter(s ir.Stmt) bool {
	_, ok := s.(*ir.Assign)
	return ok
}

// isPlainLoop reports whether a loop prints as a for statement with three clauses.
func isPlainLoop(s ir.Stmt) bool {
	l, ok := s.(*ir.Loop)
	return ok && len(l.Pre) == 0
}
