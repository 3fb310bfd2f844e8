package ranges

import (
	"math"

	"quern.dev/internal/compiler/ir"
)

// loopMemo records what the walks of a loop have found out about the assigned
// variables, by number: in which direction they leave their initial bounds.
type loopMemo struct {
	rises, falls map[int]bool
	// wraps holds the guessed range of a counter that restarts.
	wraps map[int]interval
	// refined holds ranges that an earlier walk has proved at the head.
	refined map[int]interval
	// settled: refined ranges have failed once and are not tried again.
	settled bool
}

// loop walks a loop until the ranges assumed at its head are invariant.
//
// The first guess is that variables keep their initial bounds, except in the direction
// in which an update moves them: inside the body, a condition bounds that direction. If
// a value at the end of the body violates a bound, the bound is dropped and the body
// walked again; every retry drops at least one bound.
func (w *walker) loop(s *ir.Loop) bool {
	if w.trips != nil {
		w.noteTrips(s)
	}
	vars := w.regions[s].assigned
	memo := w.loops[s]
	if memo == nil {
		memo = w.guess(s, vars)
		w.loops[s] = memo
	}
	memo.refined = nil
	memo.settled = false
	entry := w.newJoiner(vars, w.now())
	entry.arrive(w.env)
	base, m := w.env, w.mark()
	for {
		w.env = base.clone()
		it := iteration{walker: w, loop: s, vars: vars, memo: memo, entry: entry}
		if ends, stable := it.walk(); stable {
			return ends
		}
		w.release(m)
	}
}

// guess finds the directions in which updates seem to move variables. A wrong guess
// costs a walk or a bound, but not soundness.
func (w *walker) guess(loop *ir.Loop, vars []int) *loopMemo {
	memo := &loopMemo{rises: map[int]bool{}, falls: map[int]bool{}, wraps: map[int]interval{}}
	for _, v := range vars {
		if r, ok := w.wrapsAt(loop, v); ok {
			memo.wraps[v] = r
			continue
		}
		for _, def := range w.defs[v] {
			b, ok := def.(*ir.Binary)
			if !ok || !reads(b.X, w.tracked[v]) && !reads(b.Y, w.tracked[v]) {
				continue
			}
			negative := false
			if c, ok := b.Y.(*ir.Const); ok {
				negative = c.T.IsSigned() && c.Int64() < 0
			}
			switch {
			case b.Op == ir.Add && !negative, b.Op == ir.Sub && negative, b.Op == ir.Mul, b.Op == ir.Shl:
				memo.rises[v] = true
			case b.Op == ir.Add, b.Op == ir.Sub:
				memo.falls[v] = true
			}
		}
	}
	return memo
}

// wrapsAt returns the range at the head of a loop of a variable that the loop resets to
// a constant when it reaches a limit:
//
//	if slot++; slot == 3 {
//		slot = 0
//	}
func (w *walker) wrapsAt(loop *ir.Loop, v int) (r interval, ok bool) {
	r = interval{math.MaxInt64, math.MinInt64}
	constants := 0
	for _, def := range w.defs[v] {
		if c, constant := def.(*ir.Const); constant && c.T.IsSigned() {
			r.lo = min(r.lo, c.Int64())
			constants++
		}
	}
	if constants < 2 { // the initial value and the reset value
		return r, false
	}
	visitor := ir.Visitor{Expr: func(e ir.Expr) bool {
		b, isBinary := e.(*ir.Binary)
		if !isBinary || !b.Op.IsComparison() || !reads(b.X, w.tracked[v]) {
			return true
		}
		if c, constant := b.Y.(*ir.Const); constant {
			limit := c.Int64()
			if b.Op != ir.Gt && b.Op != ir.Le {
				limit--
			}
			r.hi = max(r.hi, limit)
		}
		return true
	}}
	visitor.Body(loop.Body)
	visitor.Body(loop.Post)
	return r, r.lo <= r.hi
}

// reads reports whether e is a read of v.
func reads(e ir.Expr, v *ir.Local) bool {
	w, ok := ir.Variable(e)
	return ok && w == v
}

// iteration is one walk of a loop under assumptions about its head.
type iteration struct {
	*walker
	loop  *ir.Loop
	vars  []int
	memo  *loopMemo
	entry *joiner
	heads []head

	left    *joiner
	outside scope
}

// head is what is assumed about a variable at the loop's head.
type head struct {
	atom         *poly // nil: nothing is assumed, or not a number
	rng          interval
	above, below []*poly
	inside       interval // the range at the start of the body
}

// walk reports whether control reaches the end of the loop, and whether the assumptions
// held; if they did not, another walk is needed.
func (it *iteration) walk() (ends, stable bool) {
	w, s := it.walker, it.loop
	it.outside = w.mark()
	entered := make([]*poly, len(it.vars))
	for i, v := range it.vars {
		entered[i] = w.env.at(v).num
	}
	it.bindHeads()
	it.left = w.newJoiner(it.vars, w.now())
	ex := &exits{left: it.left, continued: w.newJoiner(w.regions[loopBody{s}].assigned, w.now())}
	w.exits[s.Label] = ex
	if !w.list(s.Pre) {
		return it.leave(), true
	}
	var cond *condition
	if s.Cond != nil {
		cond = w.condition(s.Cond)
	}
	atCond, inside := w.env.clone(), w.mark()
	w.assumeCondition(cond, true)
	it.assumeSteps(cond, entered)
	it.noteInside()

	var back []interval
	if it.body(ex.continued, cond, inside) && w.list(s.Post) {
		if back, stable = it.verify(); !stable {
			return false, false
		}
	}
	w.release(inside)
	if !it.refine(back) {
		return false, false
	}
	if s.Cond == nil {
		return it.leave(), true
	}
	w.env = atCond
	w.assumeCondition(cond, false)
	if it.left.arrivals == 0 {
		return true, true
	}
	it.left.arrive(w.env)
	return it.leave(), true
}

// leave binds the variables to what holds after the loop if breaks may leave it.
func (it *iteration) leave() bool {
	it.release(it.outside)
	if it.left.arrivals == 0 {
		return false
	}
	it.left.finish()
	return true
}

// bindHeads binds the assigned variables to atoms for their values at the head.
func (it *iteration) bindHeads() {
	w := it.walker
	it.heads = make([]head, len(it.vars))
	for i, v := range it.vars {
		if w.tracked[v].Type.Kind == ir.Bool {
			w.env.bind(v, binding{})
			continue
		}
		in, h := &it.entry.joined[i], &it.heads[i]
		*h = head{rng: in.rng, above: in.above, below: in.below}
		full := w.rangeOfVar(v)
		if r, ok := it.memo.wraps[v]; ok {
			h.rng, h.above, h.below = h.rng.hull(r), nil, nil
		}
		if it.memo.rises[v] {
			h.rng.hi, h.above = full.hi, nil
		}
		if it.memo.falls[v] {
			h.rng.lo, h.below = full.lo, nil
		}
		if r, ok := it.memo.refined[v]; ok {
			h.rng = h.rng.meet(r)
		}
		facts := joined{above: h.above, below: h.below}
		h.atom = w.derived(h.rng, facts.facts)
		w.env.bind(v, binding{num: h.atom})
	}
}

// assumeSteps assumes, for a variable with a known initial value and a constant
// positive step k, that its value in the body is the initial value plus a multiple of
// k: v < x implies v <= entry + k*((x-1-entry)/k), which is tighter than x-1. This
// matters only for promises: tiles that end exactly at the end of a slice.
func (it *iteration) assumeSteps(cond *condition, entered []*poly) {
	w := it.walker
	if w.variant != Proven || cond == nil || cond.not || cond.op != ir.Lt || !w.isLaunchPoly(cond.y) {
		return
	}
	for i, v := range it.vars {
		h, entry := it.heads[i].atom, entered[i]
		if h == nil || !h.equal(cond.x) || entry == nil || !w.isLaunchPoly(entry) {
			continue
		}
		step := it.constantStep(v)
		last := cond.y.plus(-1, entry).plusConst(-1)
		if step < 2 || last == nil {
			return
		}
		steps := w.launchOp(ir.SymDiv, last, constPoly(step))
		w.assume(entry.plus(step, steps).plus(-1, h))
		return
	}
}

// isLaunchPoly reports whether p is a polynomial over launch arguments.
func (pr *prover) isLaunchPoly(p *poly) bool {
	if p == nil {
		return false
	}
	for _, t := range p.terms {
		if !pr.isLaunch(t.mono) {
			return false
		}
	}
	return true
}

// constantStep returns k if the loop's only change of variable v is to add the positive
// constant k once, at its end; otherwise 0.
func (it *iteration) constantStep(v int) int64 {
	variable := it.tracked[v]
	assignments := 0
	count := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.Assign:
			if p, ok := s.Dst.(*ir.VarPlace); ok && p.Var == variable {
				assignments++
			}
		default:
			if ir.Defines(s, variable) {
				assignments++
			}
		}
		return true
	}}
	count.Body([]ir.Stmt{it.loop})
	if assignments != 1 {
		return 0
	}
	for _, s := range it.loop.Post {
		a, ok := s.(*ir.Assign)
		if !ok {
			continue
		}
		p, ok := a.Dst.(*ir.VarPlace)
		if !ok || p.Var != variable {
			continue
		}
		b, ok := a.Src.(*ir.Binary)
		if !ok || b.Op != ir.Add || !reads(b.X, variable) {
			return 0
		}
		if c, ok := b.Y.(*ir.Const); ok {
			return c.Int64()
		}
	}
	return 0
}

// noteInside records the ranges at the start of the body.
func (it *iteration) noteInside() {
	for i, v := range it.vars {
		if p := it.env.at(v).num; p != nil {
			it.heads[i].inside = it.rangeOf(p)
		}
	}
}

// body walks the loop's body and joins its end with the states that continue.
func (it *iteration) body(continued *joiner, cond *condition, inside scope) bool {
	w, s := it.walker, it.loop
	if !w.continued[s.Label] {
		return w.list(s.Body)
	}
	base := w.env.clone()
	if w.list(s.Body) {
		continued.arrive(w.env)
	}
	w.release(inside)
	w.assumeCondition(cond, true)
	w.env = base
	if continued.arrivals == 0 {
		return false
	}
	continued.finish()
	return true
}

// verify checks that the values at the end of an iteration satisfy the assumptions at
// the head, and returns their ranges. A bound that fails is dropped.
func (it *iteration) verify() (back []interval, ok bool) {
	w := it.walker
	back = make([]interval, len(it.vars))
	ok = true
	for i, v := range it.vars {
		h, p := &it.heads[i], w.env.at(v).num
		if h.atom == nil {
			continue
		}
		full := w.rangeOfVar(v)
		back[i] = full
		if p != nil {
			// What a launch condition promises about p may be missing in its range.
			back[i] = w.rangeOf(p).meet(full)
		}
		risen := back[i].hi > h.rng.hi && !w.proves(constPoly(h.rng.hi).plus(-1, p))
		fallen := back[i].lo < h.rng.lo && !w.proves(p.plusConst(-h.rng.lo))
		for _, u := range h.above {
			risen = risen || !w.proves(u.plus(-1, p))
		}
		for _, l := range h.below {
			fallen = fallen || !w.proves(p.plus(-1, l))
		}
		if !risen && !fallen {
			continue
		}
		ok = false
		if it.memo.refined != nil {
			continue
		}
		it.memo.rises[v] = it.memo.rises[v] || risen
		it.memo.falls[v] = it.memo.falls[v] || fallen
	}
	if !ok && it.memo.refined != nil {
		it.memo.refined, it.memo.settled = nil, true
	}
	return back, ok
}

// refine narrows the ranges at the head to the initial values and those at the end of
// an iteration; a verified walk has shown that there are no others. It requests another
// walk (false) if the body, or a computation before it, would start with a smaller range.
func (it *iteration) refine(back []interval) bool {
	w := it.walker
	refined := map[int]interval{}
	computes := it.computesAtHead()
	again := false
	for i, v := range it.vars {
		h := &it.heads[i]
		if h.atom == nil {
			continue
		}
		r := it.entry.joined[i].rng
		if back != nil {
			r = r.hull(back[i])
		}
		r = r.meet(h.rng)
		if r == h.rng {
			continue
		}
		refined[v] = r
		again = again || computes || r.lo > h.inside.lo || r.hi < h.inside.hi
		id, _ := w.single(h.atom)
		w.atoms[id].rng = w.atoms[id].rng.meet(r)
	}
	if again && it.memo.refined == nil && !it.memo.settled {
		it.memo.refined = refined
		return false
	}
	return true
}

// computesAtHead reports whether the loop does more before its body than compare
// variables.
func (it *iteration) computesAtHead() bool {
	if len(it.loop.Pre) > 0 {
		return true
	}
	if it.loop.Cond == nil {
		return false
	}
	for _, c := range comparisons(it.loop.Cond, nil) {
		if _, ok := c.X.(*ir.Binary); ok {
			return true
		}
		if _, ok := c.Y.(*ir.Binary); ok {
			return true
		}
	}
	return false
}
