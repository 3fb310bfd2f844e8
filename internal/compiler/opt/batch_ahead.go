package opt

import (
	"slices"

	"quern.dev/internal/compiler/ir"
)

// A batch whose iterations only read memory makes its checks before it uses what it has
// read. Of the loop
//
//	for ; i < n; i++ { sum += x[at[i]] }
//
// a batch of two becomes
//
//	if i >= len(at) || i+1 >= len(at) { break }     // on to the loop over the rest
//	j0, j1 := at[i], at[i+1]
//	if j0 >= len(x) || j1 >= len(x) { break }
//	sum += x[j0]
//	sum += x[j1]
//
// The loop over the rest begins at the batch that was left, makes every check where the
// programmer wrote it, and reports the one that fails. A check between two loads would keep
// the second from starting before the first has arrived, and each one is a branch.

// An iteration that also writes does so after all reads of its batch:
//
//	for ; i < n; i++ { out[at[i]] = i }
//
// becomes for a batch of two
//
//	limit := n-1
//	if at and out overlap { limit = the smallest integer }  // the rest are all iterations
//	for ; i < limit; i += 2 {
//	    j0, j1 := at[i], at[i+1]
//	    out[j0] = i
//	    out[j1] = i+1
//	}
//	for ; i < n; i++ { out[at[i]] = i }
//
// What it reads ahead must then be in other slices than what it writes, and the addresses
// decide that when the kernel runs. A bound in memory is read once in the same way.

// aheadPlan divides an iteration into stages. All iterations of a batch do a stage, then the
// checks that depend on it, then the next stage.
type aheadPlan struct {
	stages [][]ir.Stmt
	checks [][]aheadCheck // after each stage; none after the last one
	rest   []ir.Stmt      // what depends on other iterations: they do it one after the other
	temps  []*ir.Local    // of an iteration

	// If the loop writes to memory: the slices that it writes, and those that it reads before.
	written, read []*ir.Local
}

// aheadCheck is a check of an iteration.
type aheadCheck struct {
	guard
	same  bool // for all iterations
	grows bool // the index increases from one iteration to the next
}

// planAhead returns how the iterations of a batch go ahead of each other, nil if they
// cannot, or have no checks.
func (b *batcher) planAhead(s *ir.Loop, c *counting, private []*ir.Local) *aheadPlan {
	before := len(b.f.Locals)
	reads, writes := (&ir.Cloner{}).Body(s.Body), []ir.Stmt(nil)
	p := &aheadPlan{}
	for i := range reads {
		if !b.onlyReads(reads[i : i+1]) {
			reads, writes = b.readFirst(reads[:i], reads[i:])
			break
		}
	}
	if writes != nil {
		var ok bool
		if p.written, ok = b.slicesWrittenBy(writes); ok {
			p.read, ok = b.slicesReadIn(reads)
		}
		if !ok {
			b.f.Locals = b.f.Locals[:before]
			return nil
		}
		for _, v := range slices.Concat(c.from, p.read) {
			if slices.Contains(p.written, v) {
				b.f.Locals = b.f.Locals[:before]
				return nil
			}
		}
	}
	f := &flattener{coarsener: &coarsener{kernel: b.kernel, narrow: len(b.kernel.Limits) > 0}, shifts: true}
	f.list(reads)
	p.temps = slices.Clone(b.f.Locals[before:])
	if f.refused || f.effect || !p.divide(f.items, writes, append(slices.Clone(private), p.temps...)) {
		b.f.Locals = b.f.Locals[:before]
		return nil
	}
	for _, v := range p.temps {
		b.uses[v] = &usage{}
	}
	grows := map[*ir.Local]bool{c.v: true}
	for _, stage := range p.stages {
		for _, s := range stage {
			if a, ok := s.(*ir.Assign); ok && b.grows(s.(*ir.Assign).Src, grows) {
				grows[a.Dst.(*ir.VarPlace).Var] = true
			}
		}
	}
	for _, checks := range p.checks {
		for i := range checks {
			outside, ok := checks[i].cond.(*ir.Binary)
			checks[i].same = p.invariant(b, s, checks[i].cond)
			checks[i].grows = ok && b.grows(outside.X, grows) && p.invariant(b, s, outside.Y)
		}
	}
	return p
}

// invariant reports whether an expression of the plan has the same value in all iterations.
func (p *aheadPlan) invariant(b *batcher, s *ir.Loop, e ir.Expr) bool {
	ok := true
	v := ir.Visitor{Place: func(place ir.Place) bool {
		if place, isVar := place.(*ir.VarPlace); isVar {
			ok = ok && !slices.Contains(p.temps, place.Var)
		}
		return ok
	}}
	v.Value(e)
	return ok && b.constantIn(s, e)
}

// onlyReads reports whether a body consists of assignments to variables of plain numbers,
// and reads nothing whose value depends on when, or by how many threads, it is read.
func (b *batcher) onlyReads(body []ir.Stmt) bool {
	ok := true
	v := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			switch s := s.(type) {
			case *ir.Assign:
				dst, isVar := s.Dst.(*ir.VarPlace)
				ok = ok && isVar && dst.Var.Type.IsScalar() && b.uses[dst.Var] != nil && !b.uses[dst.Var].addressed
			case *ir.If, *ir.Block, *ir.Check:
			default:
				ok = false
			}
			return ok
		},
		Expr: func(e ir.Expr) bool {
			switch e := e.(type) {
			case *ir.Binary:
				ok = ok && (!e.Check || e.Op.IsShift())
			case *ir.SliceExpr, *ir.Addr:
				ok = false
			case *ir.ThreadValue:
				ok = ok && e.Op <= ir.WarpID
			}
			return ok
		},
	}
	v.Body(body)
	return ok
}

// sliceOf returns the slice parameter that has a place as an element or in one, nil if there is
// none.
func (b *batcher) sliceOf(p ir.Place) *ir.Local {
	e, ok := ir.Root(p).(*ir.ElemPlace)
	if !ok {
		return nil
	}
	v, ok := ir.Variable(e.Slice)
	if !ok || !slices.Contains(b.kernel.Func.Params, v) {
		return nil
	}
	return v
}

// readFirst moves what the first of some statements reads from memory to the end of those before.
func (b *batcher) readFirst(reads, writes []ir.Stmt) (before, after []ir.Stmt) {
	first := func(e *ir.Expr, pos ir.Pos) {
		if !readsMemory([]ir.Expr{*e}) || !(*e).Type().IsScalar() {
			return
		}
		v := &ir.Local{Name: "ahead", Type: (*e).Type(), Hidden: true}
		b.f.Locals = append(b.f.Locals, v)
		b.uses[v] = &usage{}
		reads = append(slices.Clip(reads), &ir.Assign{Dst: &ir.VarPlace{Var: v}, Src: *e, Pos: pos})
		*e = ir.Get(v)
	}
	element := func(p ir.Place, pos ir.Pos) {
		if p, ok := ir.Root(p).(*ir.ElemPlace); ok {
			first(&p.Index, pos)
		}
	}
	switch s := writes[0].(type) {
	case *ir.If:
		first(&s.Cond, s.Pos)
	case *ir.Assign:
		first(&s.Src, s.Pos)
		element(s.Dst, s.Pos)
	case *ir.Atomic:
		for i := range s.Args {
			first(&s.Args[i], s.Pos)
		}
		element(s.Place, s.Pos)
	}
	return reads, writes
}

// slicesReadBy returns the slice parameters of whose elements an expression reads. ok is false
// if it reads other memory.
func (b *batcher) slicesReadBy(e ir.Expr) ([]*ir.Local, bool) {
	return b.slicesReadIn([]ir.Stmt{&ir.Return{Results: []ir.Expr{e}}})
}

// slicesReadIn is slicesReadBy for statements.
func (b *batcher) slicesReadIn(list []ir.Stmt) (from []*ir.Local, ok bool) {
	ok = true
	v := ir.Visitor{Expr: func(e ir.Expr) bool {
		l, isLoad := e.(*ir.Load)
		if !isLoad {
			return true
		}
		if _, isVar := ir.Root(l.Place).(*ir.VarPlace); isVar {
			return true
		}
		s := b.sliceOf(l.Place)
		if ok = ok && s != nil; ok && !slices.Contains(from, s) {
			from = append(from, s)
		}
		return true
	}}
	v.Body(list)
	return from, ok
}

// slicesWrittenBy returns the slice parameters to whose elements statements write. ok is false
// if they write to other memory, leave the iteration, or do more than plain assignments and
// atomic operations without a result.
func (b *batcher) slicesWrittenBy(list []ir.Stmt) (to []*ir.Local, ok bool) {
	ok = true
	write := func(p ir.Place) {
		s := b.sliceOf(p)
		if ok = ok && s != nil; ok && !slices.Contains(to, s) {
			to = append(to, s)
		}
	}
	v := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			switch s := s.(type) {
			case *ir.Assign:
				if dst, isVar := s.Dst.(*ir.VarPlace); isVar {
					ok = ok && dst.Var.Type.IsScalar() && b.uses[dst.Var] != nil && !b.uses[dst.Var].addressed
				} else {
					write(s.Dst)
				}
			case *ir.Atomic:
				ok = ok && s.Dst == nil
				write(s.Place)
			case *ir.If, *ir.Check:
			default:
				ok = false
			}
			return ok
		},
		Expr: func(e ir.Expr) bool {
			_, isAddress := e.(*ir.Addr)
			ok = ok && !isAddress
			return ok
		},
	}
	v.Body(list)
	return to, ok && len(to) > 0
}

// unlessApart returns what sets the limit of the batches to the smallest integer if a slice that
// the loop writes overlaps one of those that it reads ahead.
func (p *aheadPlan) unlessApart(read []*ir.Local, limit *ir.Local, pos ir.Pos) []ir.Stmt {
	at := func(v *ir.Local, i ir.Expr) ir.Expr {
		return &ir.Addr{T: ir.PointerTo(v.Type.Elem), Place: &ir.ElemPlace{Slice: ir.Get(v), Index: i}}
	}
	before := func(v, w *ir.Local) ir.Expr { // v begins before w ends
		return &ir.Binary{Op: ir.Lt, X: at(v, ir.IntConst(ir.TInt, 0)), Y: at(w, &ir.Len{X: ir.Get(w)})}
	}
	var overlap ir.Expr
	seen := map[*ir.Local]bool{}
	for _, v := range read {
		for _, w := range p.written {
			if !seen[v] {
				overlap = either(overlap, &ir.Binary{Op: ir.LAnd, X: before(v, w), Y: before(w, v)})
			}
		}
		seen[v] = true
	}
	if overlap == nil { // all that it reads is its own
		return nil
	}
	least := ir.IntConst(limit.Type, leastOf(limit.Type))
	return []ir.Stmt{&ir.If{Cond: overlap, Then: []ir.Stmt{&ir.Assign{Dst: &ir.VarPlace{Var: limit}, Src: least, Pos: pos}}, Pos: pos}}
}

// divide makes the plan from the items of an iteration and what it writes then. It returns false
// if a check depends on what another iteration computes, or if the plan has no advantage: there
// is no check, and no read that a write would wait for.
func (p *aheadPlan) divide(items []item, last []ir.Stmt, private []*ir.Local) bool {
	// A variable that outlives the iteration, or has several values in it, is computed by
	// one iteration after the other.
	writes := map[*ir.Local]int{}
	for _, it := range items {
		if it.stmt != nil {
			assigned(it.stmt, func(v *ir.Local) { writes[v]++ })
		}
	}
	for _, s := range last {
		assigned(s, func(v *ir.Local) { writes[v]++ })
	}
	at := map[*ir.Local]int{} // the stage that computes a variable
	reads := false
	held := map[*ir.Local]bool{}
	for v, n := range writes {
		held[v] = n > 1 || !slices.Contains(private, v)
	}
	checked := -1 // the last stage that a check so far depends on
	for _, it := range items {
		if it.stmt == nil {
			stage, free := stageOf(it.bail.cond, at, held)
			if !free {
				return false
			}
			p.reach(stage + 1)
			p.checks[stage] = append(p.checks[stage], aheadCheck{guard: it.bail})
			checked = max(checked, stage)
			continue
		}
		a, ok := it.stmt.(*ir.Assign)
		stage, free := 0, false
		if ok {
			stage, free = stageOf(a.Src, at, held)
		}
		if !free || held[a.Dst.(*ir.VarPlace).Var] {
			assigned(it.stmt, func(v *ir.Local) { held[v] = true })
			p.rest = append(p.rest, it.stmt)
			continue
		}
		dst := a.Dst.(*ir.VarPlace).Var
		if needsChecks(a.Src) {
			stage = max(stage, checked+1)
		}
		reads = reads || readsMemory([]ir.Expr{a.Src})
		p.reach(stage)
		p.stages[stage] = append(p.stages[stage], a)
		at[dst] = stage
	}
	p.rest = append(p.rest, last...)
	return checked >= 0 || last != nil && reads
}

// needsChecks reports whether an expression reads more than variables and their fields, so that an
// earlier check may be what keeps it from reading outside: of slices, but of tables and arrays, too.
func needsChecks(e ir.Expr) bool {
	needs := false
	v := ir.Visitor{Place: func(p ir.Place) bool {
		switch p.(type) {
		case *ir.VarPlace, *ir.FieldPlace:
		default:
			needs = true
		}
		return !needs
	}}
	v.Value(e)
	return needs
}

// reach makes the stages up to one.
func (p *aheadPlan) reach(stage int) {
	for len(p.stages) <= stage {
		p.stages, p.checks = append(p.stages, nil), append(p.checks, nil)
	}
}

// stageOf returns the stage after which an expression can be computed; free is false if it
// reads a variable that is held.
func stageOf(e ir.Expr, at map[*ir.Local]int, held map[*ir.Local]bool) (stage int, free bool) {
	free = true
	v := ir.Visitor{Place: func(p ir.Place) bool {
		if p, ok := p.(*ir.VarPlace); ok {
			stage = max(stage, at[p.Var])
			free = free && !held[p.Var]
		}
		return true
	}}
	v.Value(e)
	return stage, free
}

// assigned calls f for the variable of each assignment to one in a statement.
func assigned(s ir.Stmt, f func(*ir.Local)) {
	v := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		if a, ok := s.(*ir.Assign); ok {
			if dst, ok := ir.Root(a.Dst).(*ir.VarPlace); ok {
				f(dst.Var)
			}
		}
		return true
	}}
	v.Body([]ir.Stmt{s})
}

// grows reports whether an expression is a variable that increases from one iteration to
// the next, plus or minus a constant.
func (b *batcher) grows(e ir.Expr, list map[*ir.Local]bool) bool {
	switch e := e.(type) {
	case *ir.Load:
		v, ok := ir.Variable(e)
		return ok && list[v]
	case *ir.Convert:
		return e.T.IsInteger() && e.X.Type().IsInteger() && e.T.Size() >= e.X.Type().Size() && b.grows(e.X, list)
	case *ir.Binary:
		return (e.Op == ir.Add || e.Op == ir.Sub) && asConst(e.Y) != nil && b.grows(e.X, list)
	}
	return false
}

// iteration copies a part of an iteration.
type iteration func([]ir.Stmt) []ir.Stmt

// body writes the batch. Where a check fails it leaves the loop with a label.
func (p *aheadPlan) body(copies []iteration, loop *ir.Label, pos ir.Pos) []ir.Stmt {
	var out []ir.Stmt
	for i, stage := range p.stages {
		for _, copied := range copies {
			out = append(out, copied(stage)...)
		}
		var fails ir.Expr
		for _, check := range p.checks[i] {
			for j, copied := range copies {
				if j != 0 && (check.same || check.grows && j != len(copies)-1) {
					continue // of two indices in range, all between are
				}
				s := copied([]ir.Stmt{&ir.If{Cond: check.cond, Pos: check.pos}})
				if cond := s[0].(*ir.If).Cond; asConst(cond) == nil || asConst(cond).Bits != 0 {
					fails = either(fails, cond)
				}
			}
		}
		if fails != nil {
			out = append(out, &ir.If{Cond: fails, Then: []ir.Stmt{&ir.Break{Label: loop}}, Pos: pos})
		}
	}
	for _, copied := range copies {
		out = append(out, decide(copied(p.rest))...)
	}
	return out
}
