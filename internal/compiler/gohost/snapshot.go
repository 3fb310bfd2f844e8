package gohost

import (
	"slices"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/opt"
)

// snapshots replaces flags of threads that live across barriers by the conditions that
// they were assigned, if ranges of the rows pass these. Variables of the block that the
// conditions depend on are copied where the flag is assigned:
//
//	mine := false                          assigned = false
//	for i := range n {                     for i := range n {
//		mine = t.ThreadIdx.X > i               assigned, last = true, i
//		...                            =>      ...
//		t.Sync()                               t.Sync()
//	}                                      }
//	if mine { ... }                        if assigned && t.ThreadIdx.X > last { ... }
//
// It reports whether it has replaced any. Flags are only assigned where the block runs
// together, and only decide what is run.
func snapshots(k *ir.Kernel, p *plan) bool {
	isFlag := func(v *ir.Local) bool { return v.Type.Kind == ir.Bool }
	if !slices.ContainsFunc(p.carried, isFlag) || hasStmt(k.Func.Body, opt.IsWarp) {
		return false
	}
	f := newFacts(k)
	s := &snapshotter{splitter: newSplitter(k, f), assignments: map[*ir.Local][]*ir.Assign{}}
	s.findBlock(k.Func)
	s.find(k.Func.Body, nil)
	f.once = s.block
	changed := false
	for _, v := range p.carried {
		if isFlag(v) && s.replace(v) {
			changed = true
		}
	}
	return changed
}

type snapshotter struct {
	*splitter
	assignments map[*ir.Local][]*ir.Assign // that the block runs together
}

// find collects the assignments in a list that all threads of the block reach together.
// The list belongs to owner.
func (s *snapshotter) find(list []ir.Stmt, owner ir.Stmt) {
	for i, t := range list {
		if s.control[t] {
			lists := children(t)
			if _, isLoop := t.(*ir.Loop); isLoop {
				lists = [3][]ir.Stmt{lists[1]}
			}
			for _, inner := range lists {
				s.find(inner, t)
			}
			continue
		}
		if s.endsWith(list[i:], owner) {
			return
		}
		if a, ok := t.(*ir.Assign); ok {
			if dst, ok := a.Dst.(*ir.VarPlace); ok {
				s.assignments[dst.Var] = append(s.assignments[dst.Var], a)
			}
		}
	}
}

// replace replaces a flag if it is assigned one range, and otherwise only false.
func (s *snapshotter) replace(flag *ir.Local) bool {
	f, assignments := s.facts, s.assignments[flag]
	if len(assignments) != f.assigned[flag] || f.addressed[flag] || f.changed[flag] || f.params[flag] {
		return false
	}
	var set *ir.Assign
	for _, a := range assignments {
		switch {
		case isZero(a.Src):
		case set != nil:
			return false
		default:
			set = a
		}
	}
	if set == nil || f.level(set.Src) != perThread || !f.isRange(set.Src) || !s.decidesOnly(flag, len(assignments)) {
		return false
	}

	var locals []*ir.Local
	add := func(name string, t *ir.Type) *ir.Local {
		v := &ir.Local{Name: name, Type: t, Hidden: true, Uniform: ir.OfThreadBlock}
		locals = append(locals, v)
		return v
	}
	assign := func(v *ir.Local, x ir.Expr) ir.Stmt {
		return &ir.Assign{Dst: &ir.VarPlace{Var: v}, Src: x, Pos: set.Pos}
	}
	var copies []ir.Stmt
	cloner := &ir.Cloner{Vars: map[*ir.Local]*ir.Local{}}
	reads := readsOf(set.Src).reads
	for _, v := range s.fn.Locals {
		if reads[v] && s.block[v] && f.local(v) == varying { // may change
			cloner.Vars[v] = add(v.Name, v.Type)
			copies = append(copies, assign(cloner.Vars[v], ir.Get(v)))
		}
	}
	condition := cloner.Expr(set.Src)
	var assigned *ir.Local
	if len(assignments) > 1 {
		assigned = add(flag.Name, ir.TBool)
		condition = &ir.Binary{Op: ir.LAnd, X: ir.Get(assigned), Y: condition}
		copies = append(copies, assign(assigned, ir.BoolConst(true)))
	}
	r := ir.Rewriter{
		Expr: func(x ir.Expr) ir.Expr {
			if v, ok := ir.Variable(x); ok && v == flag {
				return ir.CloneExpr(condition)
			}
			return x
		},
		Stmt: func(t ir.Stmt) []ir.Stmt {
			a, ok := t.(*ir.Assign)
			switch {
			case !ok || !slices.Contains(assignments, a):
				return []ir.Stmt{t}
			case a == set:
				return copies
			default:
				return []ir.Stmt{assign(assigned, ir.BoolConst(false))}
			}
		},
	}
	s.fn.Body = r.Body(s.fn.Body)
	s.fn.Locals = append(s.fn.Locals, locals...)
	return true
}

// decidesOnly reports whether a variable that has n assignments is otherwise only a term of
// conditions of If statements, all of which must hold.
func (s *snapshotter) decidesOnly(v *ir.Local, n int) bool {
	hasStmt(s.fn.Body, func(t ir.Stmt) bool {
		if c, ok := t.(*ir.If); ok {
			for _, term := range s.facts.conjunction(c.Cond, false) {
				if w, ok := ir.Variable(term); ok && v == w {
					n++
				}
			}
		}
		return false
	})
	return mentionsIn(s.fn.Body, v)[v] == n
}
