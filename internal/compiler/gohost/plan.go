package gohost

import (
	"quern.dev/internal/compiler/ir"
)

// item is a step in the work of a block.
type item interface{ item() }

// region contains statements that each thread of the block runs, one thread after
// another.
type region struct {
	stmts []ir.Stmt
	last  bool // nothing follows it
}

// once is a statement that runs once per block.
type once struct{ stmt ir.Stmt }

// control is an If, Loop or Block that the whole block runs in lockstep. The lists are
// Then and Else; Pre, Body and Post; or Body.
type control struct {
	stmt  ir.Stmt
	lists [3][]item
}

func (*region) item()  {}
func (*once) item()    {}
func (*control) item() {}

// plan describes the order of a block's work and where variables are stored.
//
// A kernel without barriers is one region. Otherwise regions end at barriers, and at
// the start and end of control flow around a barrier. That control flow is uniform: the
// block executes it once. Uniform variables that are assigned only outside regions
// exist once per block; every other variable used by several regions exists per thread
// in scratch memory.
type plan struct {
	items     []item
	block     map[*ir.Local]bool // variables that exist once
	spread    map[*ir.Local]bool // used by several regions, or by the block
	carried   []*ir.Local        // stored in scratch memory
	scratchID map[*ir.Local]int
	private   map[*region][]*ir.Local // used by one region only
	inner     map[*ir.Loop]bool       // innermost loops that rows run in lockstep
}

func newPlan(k *ir.Kernel, f *facts) *plan {
	p := &plan{
		spread: map[*ir.Local]bool{}, scratchID: map[*ir.Local]int{}, private: map[*region][]*ir.Local{},
		inner: map[*ir.Loop]bool{},
	}
	body := k.Func.Body
	if !hasStmt(body, isCollective) {
		p.items = []item{&region{stmts: body}}
	} else {
		s := newSplitter(k, f)
		s.findBlock(k.Func)
		f.stabilize(k.Func, s.block)
		p.items, p.block = s.split(body, nil), s.block
		p.items = p.splitWarps(k, f, p.items)
	}
	p.items = p.splitRows(k, f, p.items)
	p.markLast(p.items)
	p.findHomes(k.Func, f)
	return p
}

// markLast marks the region that nothing follows. A body that contains only barriers
// has no items.
func (p *plan) markLast(list []item) {
	if n := len(list); n > 0 {
		switch it := list[n-1].(type) {
		case *region:
			it.last = true
		case *warps:
			p.markLast(it.items)
		case *rows:
			p.markLast(it.items)
		}
	}
}

func isBarrier(s ir.Stmt) bool {
	_, ok := s.(*ir.Barrier)
	return ok
}

// findHomes classifies variables by where they are used.
func (p *plan) findHomes(fn *ir.Func, f *facts) {
	in := map[*ir.Local][]*region{} // that use it; nil stands for the block
	needed := map[*ir.Local]bool{}  // a region needs the value assigned by another
	mention := func(u usage, g *region) {
		first := map[*ir.Local]ir.Stmt{}
		if g != nil {
			first = firstMentions(g.stmts)
		}
		for v := range u.all() {
			in[v] = append(in[v], g)
			if s := first[v]; s == nil || !definesFirst(s, v) {
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
			case *warps:
				walk(it.items)
			case *rows:
				walk(it.items)
			case *rowLoop:
				mention(uses(it.init, it.loop.Post[0], &ir.Return{Results: []ir.Expr{it.loop.Cond}}), nil)
				walk(it.items)
			case *collective:
				mention(it.uses(), nil)
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

// firstMentions returns, for each variable, the first statement of a list that mentions
// it.
func firstMentions(list []ir.Stmt) map[*ir.Local]ir.Stmt {
	first := map[*ir.Local]ir.Stmt{}
	for _, s := range list {
		for v := range uses(s).all() {
			if first[v] == nil {
				first[v] = s
			}
		}
	}
	return first
}

// assignedFirst reports whether a region does not need an earlier value of v.
func assignedFirst(g *region, v *ir.Local) bool {
	for _, s := range g.stmts {
		if uses(s).mentions(v) {
			return definesFirst(s, v)
		}
	}
	return true
}

// readFirst reports whether statements may read the value that v has before them, and whether
// they always assign it.
func readFirst(list []ir.Stmt, v *ir.Local) (reads, assigns bool) {
	for _, s := range list {
		if !uses(s).mentions(v) {
			continue
		}
		if definesFirst(s, v) {
			return false, true
		}
		branch, ok := s.(*ir.If)
		if !ok || readsOf(branch.Cond).mentions(v) {
			return true, false
		}
		thenReads, thenAssigns := readFirst(branch.Then, v)
		elseReads, elseAssigns := readFirst(branch.Else, v)
		if thenReads || elseReads {
			return true, false
		}
		if thenAssigns && elseAssigns {
			return false, true
		}
	}
	return false, false
}

// spreadSources marks the variables that recomputed values depend on.
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
