package gohost

import (
	"fmt"

	"quern.dev/internal/compiler/ir"
	"quern.dev/internal/compiler/opt"
)

// item is a step of what a block does.
type item interface{ item() }

// region is statements that each thread of the block runs, one thread after
// another.
type region struct {
	stmts []ir.Stmt
	last  bool // nothing follows it
}

// once is a statement that is run once for the block.
type once struct{ stmt ir.Stmt }

// control is an If, Loop or Block that a block goes through once, in step. The
// lists are Then and Else; Pre, Body and Post; or Body.
type control struct {
	stmt  ir.Stmt
	lists [3][]item
}

func (*region) item()  {}
func (*once) item()    {}
func (*control) item() {}

// plan is how the work of a block is ordered and where variables are.
//
// A kernel without barriers is one region. Otherwise regions end at barriers,
// and where control flow around a barrier begins and ends. That control flow is
// uniform: the block goes through it once. Uniform variables that are assigned
// outside regions alone exist once for the block; of all others that more than
// one region mentions, each thread has its own in scratch memory.
type plan struct {
	items     []item
	block     map[*ir.Local]bool // variables that exist once
	spread    map[*ir.Local]bool // that more than one region, or the block, mentions
	carried   []*ir.Local        // that live in scratch memory
	scratchID map[*ir.Local]int
	private   map[*region][]*ir.Local // that one region alone mentions
}

func newPlan(k *ir.Kernel, f *facts) (*plan, error) {
	p := &plan{
		block: map[*ir.Local]bool{}, spread: map[*ir.Local]bool{},
		scratchID: map[*ir.Local]int{}, private: map[*region][]*ir.Local{},
	}
	body := k.Func.Body
	if !hasStmt(body, isBarrier) {
		p.items = []item{&region{stmts: body}}
	} else {
		s := &splitter{facts: f, uniform: opt.Analyse(k), control: map[ir.Stmt]bool{}, block: p.block}
		if err := s.findControl(body); err != nil {
			return nil, &Error{Kernel: k.Name, Msg: err.Error()}
		}
		s.findBlock(k.Func)
		p.items = s.split(body, nil)
	}
	if g, ok := p.items[len(p.items)-1].(*region); ok {
		g.last = true
	}
	p.findHomes(k.Func, f)
	return p, nil
}

func isBarrier(s ir.Stmt) bool {
	_, ok := s.(*ir.Barrier)
	return ok
}

// findHomes sorts variables by who mentions them.
func (p *plan) findHomes(fn *ir.Func, f *facts) {
	in := map[*ir.Local][]*region{} // that mention it, nil standing for the block
	needed := map[*ir.Local]bool{}  // a region needs the value that another left
	mention := func(u usage, g *region) {
		for v := range u.all() {
			in[v] = append(in[v], g)
			if g == nil || !assignedFirst(g, v) {
				needed[v] = true
			}
			if len(in[v]) > 1 || g == nil {
				p.spread[v] = true
			}
		}
	}
	var walk func(list []item)
	walk = func(list []item) {
		for _, it := range list {
			switch it := it.(type) {
			case *region:
				mention(uses(it.stmts...), it)
			case *once:
				mention(uses(it.stmt), nil)
			case *control:
				switch s := it.stmt.(type) {
				case *ir.If:
					mention(readsOf(s.Cond), nil)
				case *ir.Loop:
					if s.Cond != nil {
						mention(readsOf(s.Cond), nil)
					}
				}
				for _, l := range it.lists {
					walk(l)
				}
			}
		}
	}
	walk(p.items)
	p.spreadSources(f)
	for _, v := range append(append([]*ir.Local{}, fn.Results...), fn.Locals...) {
		regions := in[v]
		switch {
		case len(regions) == 0 || !f.read[v] || p.block[v] || f.shared[v] != nil || f.local(v) < perThread:
		case !p.spread[v], f.local(v) == varying && !needed[v] && !f.addressed[v]:
			delete(p.spread, v)
			for _, g := range regions {
				p.private[g] = append(p.private[g], v)
			}
		case f.local(v) == varying:
			p.scratchID[v] = len(p.carried)
			p.carried = append(p.carried, v)
		}
	}
}

// assignedFirst reports whether a region needs no value of v from before.
func assignedFirst(g *region, v *ir.Local) bool {
	for _, s := range g.stmts {
		if uses(s).mentions(v) {
			return definesFirst(s, v)
		}
	}
	return true
}

// spreadSources marks what the values of variables that each region computes
// anew depend on.
func (p *plan) spreadSources(f *facts) {
	for changed := true; changed; {
		changed = false
		for v := range p.spread {
			if f.local(v) != perThread {
				continue
			}
			for w := range readsOf(f.source[v]).reads {
				if !p.spread[w] {
					p.spread[w], changed = true, true
				}
			}
		}
	}
}

// splitter divides a body with barriers into items.
type splitter struct {
	facts   *facts
	uniform *opt.Uniformity
	control map[ir.Stmt]bool   // statements whose control flow the block goes through once
	block   map[*ir.Local]bool // variables that exist once
}

// children returns the statement lists of a statement in the order of
// control.lists.
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

// findControl finds the statements with barriers, and those that a break,
// continue or return leaves for good when it is the whole block that does.
func (s *splitter) findControl(body []ir.Stmt) error {
	hasStmt(body, func(t ir.Stmt) bool {
		for _, list := range children(t) {
			if hasStmt(list, isBarrier) {
				s.control[t] = true
			}
		}
		return false
	})
	for {
		before := len(s.control)
		if err := s.exits(body, nil); err != nil {
			return err
		}
		if len(s.control) == before {
			return nil
		}
	}
}

// exits looks for jumps out of the statements of a list, which belongs to the
// control statement owner or is the kernel's body, and that are not the end of
// it for a thread alone.
func (s *splitter) exits(list []ir.Stmt, owner ir.Stmt) error {
	for i, t := range list {
		if s.control[t] {
			for _, inner := range children(t) {
				if err := s.exits(inner, t); err != nil {
					return err
				}
			}
			continue
		}
		if isJump(t) || s.endsRegion(list[i:], owner) {
			continue
		}
		if err := s.lift(t, jumpsOut(t)); err != nil {
			return err
		}
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

// jumpsOut returns the jumps in s that leave it.
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

// endsRegion reports whether the rest of owner's list can be one region in
// which the jumps out of its first statement end the thread's part.
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
		if s.control[t] || isBarrier(t) {
			return len(jumpsOut(rest[0])) == 0
		}
	}
	return true
}

// lift makes the statements around jumps out of t control statements.
func (s *splitter) lift(t ir.Stmt, jumps []ir.Stmt) error {
	jump := map[ir.Stmt]bool{}
	for _, j := range jumps {
		jump[j] = true
	}
	var visit func(t ir.Stmt) (bool, error)
	visit = func(t ir.Stmt) (bool, error) {
		if jump[t] {
			return true, nil
		}
		found := false
		for _, list := range children(t) {
			for _, inner := range list {
				has, err := visit(inner)
				if err != nil {
					return false, err
				}
				found = found || has
			}
		}
		if !found {
			return false, nil
		}
		var cond ir.Expr
		pos := ir.Pos{}
		switch t := t.(type) {
		case *ir.If:
			cond, pos = t.Cond, t.Pos
		case *ir.Loop:
			cond, pos = t.Cond, t.Pos
		}
		if cond != nil && !s.uniform.UniformExpr(cond) {
			return false, fmt.Errorf("%s: some threads of the block leave here what others go on with, which the CPU device does not support beside a barrier; use a condition around what the others do", pos)
		}
		s.control[t] = true
		return true, nil
	}
	_, err := visit(t)
	return err
}

// findBlock finds the variables that exist once: uniform ones whose assignments
// can all be run once for the block.
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

// endsWith reports whether the rest of a list is a region that ends it because
// threads leave it one by one.
func (s *splitter) endsWith(rest []ir.Stmt, owner ir.Stmt) bool {
	return !isJump(rest[0]) && len(jumpsOut(rest[0])) > 0 && s.endsRegion(rest, owner)
}

// runsOnce reports whether a statement can be run once for the block: it only
// assigns variables that exist once, from values that are the same for all.
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

// fixed reports whether an expression is uniform and reads only variables that
// exist once.
func (s *splitter) fixed(x ir.Expr) bool {
	if x == nil {
		return true
	}
	if !s.uniform.UniformExpr(x) {
		return false
	}
	for v := range readsOf(x).reads {
		if !s.block[v] && !s.facts.params[v] && s.facts.local(v) > perBlock {
			return false
		}
	}
	return true
}

// split divides a list into items.
func (s *splitter) split(list []ir.Stmt, owner ir.Stmt) []item {
	var l layout
	s.splitInto(&l, list, owner)
	return l.items
}

// layout is a list of items in the making.
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
			l.open = nil
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

// leaves reports whether the block as a whole breaks out of the construct with
// the label.
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

// movesUp reports whether t, which runs once, can run before the statements of
// the region rather than after them.
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
