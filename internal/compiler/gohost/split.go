package gohost

import (
	"maps"
	"slices"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/opt"
)

// splitter splits a body with barriers into items.
type splitter struct {
	fn      *ir.Func
	facts   *facts
	uniform *opt.Uniformity
	splits  func(ir.Stmt) bool // where regions end
	control map[ir.Stmt]bool   // statements whose control flow the block runs once
	block   map[*ir.Local]bool // variables that exist once per block

	// For a splitter of a warp's work: warp is true, and these are the variables that
	// exist once per block.
	warp  bool
	outer map[*ir.Local]bool

	// divergent maps statements that threads leave individually, to a target other than
	// the end of a region, to the jumps.
	divergent map[ir.Stmt][]ir.Stmt
}

func newSplitter(k *ir.Kernel, f *facts) *splitter {
	u := opt.Analyse(k)
	s := newSplitterOf(f, u, func(s ir.Stmt) bool {
		w, ok := s.(*ir.Warp)
		return isBarrier(s) || ok && u.Together(w)
	})
	s.fn = k.Func
	s.findControl(k.Func.Body)
	return s
}

func newSplitterOf(f *facts, u *opt.Uniformity, splits func(ir.Stmt) bool) *splitter {
	return &splitter{
		facts: f, uniform: u, splits: splits, control: map[ir.Stmt]bool{},
		block: map[*ir.Local]bool{}, divergent: map[ir.Stmt][]ir.Stmt{},
	}
}

// children returns the statement lists of a statement in the order of control.lists.
func children(s ir.Stmt) [3][]ir.Stmt {
	switch s := s.(type) {
	case *ir.If:
		return [3][]ir.Stmt{s.Then, s.Else}
	case *ir.Loop:
		return [3][]ir.Stmt{s.Pre, s.Body, s.Post}
	case *ir.Block:
		return [3][]ir.Stmt{s.Body}
	}
	return [3][]ir.Stmt{}
}

// findControl finds the statements with barriers, and those that the whole block leaves
// by a break, continue or return.
func (s *splitter) findControl(body []ir.Stmt) {
	hasStmt(body, func(t ir.Stmt) bool {
		for _, list := range children(t) {
			if hasStmt(list, s.splits) {
				s.control[t] = true
			}
		}
		return false
	})
	for {
		before := len(s.control)
		s.exits(body, nil)
		if len(s.control) == before {
			return
		}
	}
}

// exits finds jumps out of the statements of a list that do not just end the list for
// the thread. The list belongs to the control statement owner or is the kernel's body.
// It returns the targets to which threads leave the list individually. Only some threads
// reach the statements after such a jump, so that the block does not run them once.
func (s *splitter) exits(list []ir.Stmt, owner ir.Stmt) map[any]bool {
	left := map[any]bool{}
	for i, t := range list {
		if s.control[t] {
			for _, inner := range children(t) {
				maps.Copy(left, s.exits(inner, t))
			}
			if label := labelOf(t); label != nil {
				delete(left, breakTarget{label})
				delete(left, continueTarget{label})
			}
			continue
		}
		jumps := jumpsOut(t)
		if together := len(left) == 0; len(jumps) == 0 || together && isJump(t) {
			continue
		} else if !s.endsRegion(list[i:], owner) {
			if together && s.lift(t, jumps) {
				continue
			}
			s.divergent[t] = jumps
		}
		for _, j := range jumps {
			left[targetOf(j)] = true
		}
	}
	return left
}

// labelOf returns the label of a loop or block; nil for other statements.
func labelOf(s ir.Stmt) *ir.Label {
	switch s := s.(type) {
	case *ir.Loop:
		return s.Label
	case *ir.Block:
		return s.Label
	}
	return nil
}

func isJump(s ir.Stmt) bool {
	switch s.(type) {
	case *ir.Break, *ir.Continue, *ir.Return:
		return true
	}
	return false
}

// jumpsOut returns the jumps in s that leave s.
func jumpsOut(s ir.Stmt) []ir.Stmt {
	inside := map[*ir.Label]bool{}
	var out []ir.Stmt
	hasStmt([]ir.Stmt{s}, func(t ir.Stmt) bool {
		switch t := t.(type) {
		case *ir.Loop:
			inside[t.Label] = true
		case *ir.Block:
			inside[t.Label] = true
		case *ir.Return:
			out = append(out, t)
		case *ir.Break:
			if !inside[t.Label] {
				out = append(out, t)
			}
		case *ir.Continue:
			if !inside[t.Label] {
				out = append(out, t)
			}
		}
		return false
	})
	return out
}

// endsRegion reports whether the rest of owner's list can be a single region in which
// jumps out of its first statement end the thread's work.
func (s *splitter) endsRegion(rest []ir.Stmt, owner ir.Stmt) bool {
	for _, j := range jumpsOut(rest[0]) {
		switch j := j.(type) {
		case *ir.Return:
			if owner != nil {
				return false
			}
		case *ir.Break:
			if b, ok := owner.(*ir.Block); !ok || b.Label != j.Label {
				return false
			}
		case *ir.Continue:
			if l, ok := owner.(*ir.Loop); !ok || l.Label != j.Label {
				return false
			}
		}
	}
	for _, t := range rest {
		if s.control[t] || s.splits(t) {
			return len(jumpsOut(rest[0])) == 0
		}
	}
	return true
}

// lift turns the statements around jumps out of t into control statements, if their
// control flow is uniform: that to these jumps, and to all other jumps that leave one of
// the statements.
func (s *splitter) lift(t ir.Stmt, jumps []ir.Stmt) bool {
	around := map[ir.Stmt]bool{}
	var visit func(t ir.Stmt) bool // reports whether t contains one of the jumps
	visit = func(t ir.Stmt) bool {
		if isJump(t) {
			return slices.Contains(jumps, t)
		}
		found := false
		for _, list := range children(t) {
			for _, inner := range list {
				if visit(inner) {
					found = true
				}
			}
		}
		if found && !around[t] {
			around[t] = true
			if labelOf(t) != nil {
				for _, list := range children(t) {
					for _, inner := range list {
						jumps = append(jumps, jumpsOut(inner)...)
					}
				}
			}
		}
		return found
	}
	for before := -1; before < len(around); {
		before = len(around)
		visit(t)
	}
	for a := range around {
		switch a := a.(type) {
		case *ir.If:
			if !s.uniform.UniformExpr(a.Cond) {
				return false
			}
		case *ir.Loop:
			if !s.uniform.UniformExpr(a.Cond) {
				return false
			}
		}
	}
	maps.Copy(s.control, around)
	return true
}

// findBlock finds the variables that exist once: uniform variables whose assignments
// can all run once per block.
func (s *splitter) findBlock(fn *ir.Func) {
	for _, v := range append(append([]*ir.Local{}, fn.Results...), fn.Locals...) {
		if s.uniform.IsUniform(v) && !s.facts.addressed[v] && s.facts.local(v) > perBlock {
			s.block[v] = true
		}
	}
	for {
		before := len(s.block)
		s.dropAssigned(fn.Body, nil)
		if len(s.block) == before {
			return
		}
	}
}

// dropAssigned removes the variables that the regions of a list assign.
func (s *splitter) dropAssigned(list []ir.Stmt, owner ir.Stmt) {
	for i, t := range list {
		switch {
		case s.control[t]:
			for _, inner := range children(t) {
				s.dropAssigned(inner, t)
			}
		case isJump(t), isBarrier(t):
		case s.splits(t):
			s.dropResults(t.(*ir.Warp))
		case s.endsWith(list[i:], owner):
			s.drop(list[i:])
			return
		case !s.runsOnce(t):
			s.drop([]ir.Stmt{t})
		}
	}
}

func (s *splitter) drop(list []ir.Stmt) {
	for v := range uses(list...).writes {
		delete(s.block, v)
	}
}

// endsWith reports whether the rest of a list is a region that ends the list because
// threads leave it individually.
func (s *splitter) endsWith(rest []ir.Stmt, owner ir.Stmt) bool {
	return !isJump(rest[0]) && len(jumpsOut(rest[0])) > 0 && s.endsRegion(rest, owner)
}

// runsOnce reports whether a statement can run once per block: it only assigns
// variables that exist once, from uniform values.
func (s *splitter) runsOnce(t ir.Stmt) bool {
	switch t := t.(type) {
	case *ir.Assign:
		root, ok := ir.Root(t.Dst).(*ir.VarPlace)
		return ok && s.block[root.Var] && s.fixed(t.Src) && s.fixed(&ir.Load{Place: t.Dst})
	case *ir.If:
		return s.fixed(t.Cond) && s.allOnce(t)
	case *ir.Loop:
		return s.fixed(t.Cond) && s.allOnce(t)
	case *ir.Block:
		return s.allOnce(t)
	case *ir.Check:
		return s.fixed(&ir.Load{Place: t.Place})
	case *ir.Break, *ir.Continue:
		return true
	}
	return false
}

func (s *splitter) allOnce(t ir.Stmt) bool {
	if len(jumpsOut(t)) > 0 {
		return false
	}
	for _, list := range children(t) {
		for _, inner := range list {
			if !s.runsOnce(inner) {
				return false
			}
		}
	}
	return true
}

// fixed reports whether an expression is uniform and reads only variables that exist
// once.
func (s *splitter) fixed(x ir.Expr) bool {
	if x == nil {
		return true
	}
	if !s.uniform.UniformExpr(x) {
		return false
	}
	for v := range readsOf(x).reads {
		switch {
		case s.block[v], s.outer[v], s.facts.params[v], s.facts.local(v) <= perBlock:
		case s.warp && s.facts.local(v) < varying && s.fixed(s.facts.source[v]):
		default:
			return false
		}
	}
	return true
}

// split splits a list into items.
func (s *splitter) split(list []ir.Stmt, owner ir.Stmt) []item {
	var l layout
	s.splitInto(&l, list, owner)
	return l.items
}

// layout is a list of items under construction.
type layout struct {
	items []item
	open  *region // the last item, if statements can be added to it
}

func (l *layout) add(it item) { l.items, l.open = append(l.items, it), nil }

func (l *layout) run(stmts ...ir.Stmt) {
	if l.open == nil {
		g := &region{}
		l.add(g)
		l.open = g
	}
	l.open.stmts = append(l.open.stmts, stmts...)
}

func (s *splitter) splitInto(l *layout, list []ir.Stmt, owner ir.Stmt) {
	for i, t := range list {
		switch {
		case isBarrier(t):
			if l.open = nil; t.(*ir.Barrier).Of != ir.OfBlock {
				l.add(&once{t})
			}
		case s.splits(t):
			s.collective(l, t.(*ir.Warp))
		case s.control[t]:
			if b, ok := t.(*ir.Block); ok && !s.leaves(b.Body, b.Label) {
				s.splitInto(l, b.Body, b)
				continue
			}
			c := &control{stmt: t}
			for j, inner := range children(t) {
				c.lists[j] = s.split(inner, t)
			}
			l.add(c)
		case isJump(t):
			l.add(&once{t})
		case s.endsWith(list[i:], owner):
			switch o := owner.(type) {
			case *ir.Block:
				l.run(&ir.Block{Label: o.Label, Body: list[i:]})
			case *ir.Loop:
				l.run(&ir.Block{Label: o.Label, Body: list[i:]})
			default:
				l.run(list[i:]...)
			}
			return
		case !s.runsOnce(t):
			l.run(t)
		case l.open != nil && s.movesUp(t, l.open.stmts):
			open := l.open
			l.items[len(l.items)-1] = &once{t}
			l.add(open)
			l.open = open
		default:
			l.add(&once{t})
		}
	}
}

// leaves reports whether the block as a whole breaks out of the construct with the
// label.
func (s *splitter) leaves(list []ir.Stmt, label *ir.Label) bool {
	for _, t := range list {
		if b, ok := t.(*ir.Break); ok && b.Label == label {
			return true
		}
		if !s.control[t] {
			continue
		}
		for _, inner := range children(t) {
			if s.leaves(inner, label) {
				return true
			}
		}
	}
	return false
}

// movesUp reports whether t, which runs once, can run before the statements of the
// region instead of after them.
func (s *splitter) movesUp(t ir.Stmt, before []ir.Stmt) bool {
	u, v := uses(t), uses(before...)
	for w := range u.writes {
		if v.mentions(w) {
			return false
		}
	}
	if s.facts.mayFault([]ir.Stmt{t}) {
		return false
	}
	reads := false
	visitor := ir.Visitor{Expr: func(x ir.Expr) bool {
		reads = reads || readsMemory(x)
		return !reads
	}}
	visitor.Body([]ir.Stmt{t})
	return !reads || !writesMemory(before)
}
