package ranges

import (
	"math"
	"slices"

	"quern.dev/internal/compiler/ir"
)

// joiner merges the states in which control reaches a point.
type joiner struct {
	w        *walker
	vars     []int
	start    atomID // bounds may use atoms created before it: these have a value on every path
	joined   []joined
	arrivals int
}

// joined is what is known about a variable in all states that have arrived.
type joined struct {
	same  *poly // the value, if it is the same in all states
	rng   interval
	above []*poly // upper bounds of the value
	below []*poly // lower bounds of the value
	cond  *condition
	// Bounds by launch arguments, for variables that should fit 32 bits.
	launchAbove, launchBelow *poly
}

func (w *walker) newJoiner(vars []int, start atomID) *joiner {
	return &joiner{w: w, vars: vars, start: start, joined: make([]joined, len(vars))}
}

// arrive adds a state. The facts in scope must be those of its path.
func (j *joiner) arrive(env environment) {
	for i, v := range j.vars {
		if j.arrivals == 0 {
			j.joined[i] = j.summary(v, env.at(v))
		} else {
			j.merge(&j.joined[i], v, env.at(v))
		}
	}
	j.arrivals++
}

func (j *joiner) summary(v int, b binding) joined {
	w := j.w
	if b.num == nil {
		return joined{rng: w.rangeOfVar(v), cond: b.cond}
	}
	s := joined{same: b.num, rng: w.signedRange(b.num), above: j.candidates(b.num, 1), below: j.candidates(b.num, -1)}
	if w.variant != Wide && w.wantedVars[v] && !s.rng.exact() {
		s.launchAbove, s.launchBelow = w.launchBound(b.num, 1), w.launchBound(b.num, -1)
	}
	return s
}

// candidates returns bounds of p that have a value on every path.
func (j *joiner) candidates(p *poly, sign int64) []*poly {
	w := j.w
	var out []*poly
	if w.isOuterPoly(p, j.start) {
		out = append(out, p)
	} else if b := w.outerBound(p, sign, j.start); b != nil {
		out = append(out, b)
	}
	w.budget = budgetOf
	for _, t := range p.terms {
		if w.isLaunch(t.mono) {
			continue
		}
		w.eachStep(t, sign, func(step *poly) bool {
			if b := p.plus(sign, step); b != nil && w.isOuterPoly(b, j.start) && !slices.ContainsFunc(out, b.equal) {
				out = append(out, b)
			}
			return len(out) > 2
		})
		break
	}
	return out
}

func (j *joiner) merge(s *joined, v int, b binding) {
	w := j.w
	if s.cond != b.cond {
		s.cond = nil
	}
	if b.num == nil {
		*s = joined{rng: w.rangeOfVar(v), cond: s.cond}
		return
	}
	r := w.signedRange(b.num)
	if w.variant != Wide && w.wantedVars[v] {
		s.launchAbove = w.greater(ir.SymMax, s.launchAboveOf(), w.launchBoundOf(b.num, r, 1))
		s.launchBelow = w.greater(ir.SymMin, s.launchBelowOf(), w.launchBoundOf(b.num, r, -1))
	}
	if s.same != nil && !s.same.equal(b.num) {
		s.same = nil
	}
	s.rng = s.rng.hull(r)
	s.above = slices.DeleteFunc(s.above, func(p *poly) bool { return !w.proves(p.plus(-1, b.num)) })
	s.below = slices.DeleteFunc(s.below, func(p *poly) bool { return !w.proves(b.num.plus(-1, p)) })
}

// signedRange returns the interval of p, without negative numbers if p is known not to
// be negative.
func (w *walker) signedRange(p *poly) interval {
	r := w.rangeOf(p)
	if r.lo < 0 && r.hi >= 0 && w.proves(p) {
		r.lo = 0
	}
	return r
}

// lateBound is a bound of a variable in the last state that arrived.
type lateBound struct {
	v     int // index in vars
	sign  int64
	bound *poly
}

// lateBounds returns the bounds in the last of several states that the first state does
// not have.
func (j *joiner) lateBounds(env environment) []lateBound {
	var out []lateBound
	for i, v := range j.vars {
		s := &j.joined[i]
		if env.at(v).num == nil || s.same != nil {
			continue
		}
		for _, sign := range [...]int64{1, -1} {
			have := s.above
			if sign < 0 {
				have = s.below
			}
			for _, b := range j.candidates(env.at(v).num, sign) {
				if !slices.ContainsFunc(have, b.equal) {
					out = append(out, lateBound{i, sign, b})
				}
			}
		}
	}
	return out
}

// addBounds keeps those late bounds that hold in the previous state. The facts of that
// state are in scope.
func (j *joiner) addBounds(list []lateBound, env environment) {
	for _, l := range list {
		if p := env.at(j.vars[l.v]).num; p == nil || !j.w.proves(l.bound.plus(-1, p).scaledOrNil(l.sign)) {
			continue
		}
		s := &j.joined[l.v]
		if l.sign > 0 {
			s.above = j.add(s.above, l.bound)
		} else {
			s.below = j.add(s.below, l.bound)
		}
	}
}

// add adds a bound to a list. Bounds by launch arguments alone come first: the search
// may be cut off before it reaches the others.
func (j *joiner) add(list []*poly, b *poly) []*poly {
	if slices.ContainsFunc(b.terms, func(t polyTerm) bool { return !j.w.isLaunch(t.mono) }) {
		return append(list, b)
	}
	return append([]*poly{b}, list...)
}

// launchAboveOf and launchBelowOf return the current bounds; a constant is its own
// bound.
func (s *joined) launchAboveOf() *poly {
	if s.rng.exact() {
		return constPoly(s.rng.hi)
	}
	return s.launchAbove
}

func (s *joined) launchBelowOf() *poly {
	if s.rng.exact() {
		return constPoly(s.rng.lo)
	}
	return s.launchBelow
}

func (w *walker) launchBoundOf(p *poly, r interval, sign int64) *poly {
	if r.exact() {
		return constPoly(r.lo)
	}
	b := w.launchBound(p, sign)
	// The range of p for every launch may be tighter than the bound that was found.
	end := r.lo
	if sign > 0 {
		end = r.hi
	}
	if end < math.MinInt32 || end > math.MaxInt32 || b == nil {
		return b
	}
	if found := w.launchRange(b); sign > 0 && found.lo >= end || sign < 0 && found.hi <= end {
		return constPoly(end)
	}
	return b
}

// greater returns a bound that covers both p and q for all launches: the greater for
// SymMax, the smaller for SymMin.
func (w *walker) greater(op ir.SymOp, p, q *poly) *poly {
	if p == nil || q == nil {
		return nil
	}
	d := interval{noLo, noHi}
	if diff := p.plus(-1, q); diff != nil {
		d = w.launchRange(diff)
	}
	switch {
	case d.lo >= 0 && op == ir.SymMax, d.hi <= 0 && op == ir.SymMin:
		return p
	case d.hi <= 0 && op == ir.SymMax, d.lo >= 0 && op == ir.SymMin:
		return q
	}
	if w.nested(p) || w.nested(q) {
		return nil
	}
	return w.launchOp(op, p, q)
}

// nested reports whether p has an operand that is itself a min, max or div: launch
// conditions stay shallow.
func (w *walker) nested(p *poly) bool {
	for _, t := range p.terms {
		for _, a := range w.factors[t.mono] {
			if w.atoms[a].op > ir.SymDim {
				return true
			}
		}
	}
	return false
}

// finish binds the variables to what all states have in common.
func (j *joiner) finish() {
	for i, v := range j.vars {
		j.w.env.bind(v, j.bind(v, &j.joined[i]))
	}
}

func (j *joiner) bind(v int, s *joined) binding {
	w := j.w
	t := w.tracked[v].Type
	if t.Kind == ir.Bool {
		return binding{cond: s.cond}
	}
	if s.same != nil {
		return binding{num: s.same}
	}
	return binding{num: w.derived(s.rng, s.facts)}
}

// facts returns the facts about an atom for the variable.
func (s *joined) facts(a *poly) []*poly {
	var out []*poly
	for _, p := range s.above {
		out = append(out, p.plus(-1, a))
	}
	for _, p := range s.below {
		out = append(out, a.plus(-1, p))
	}
	if s.launchAbove != nil && len(s.above) == 0 {
		out = append(out, s.launchAbove.plus(-1, a))
	}
	if s.launchBelow != nil && len(s.below) == 0 {
		out = append(out, a.plus(-1, s.launchBelow))
	}
	return out
}

// rangeOfVar returns the range of a variable's type.
func (w *walker) rangeOfVar(v int) interval {
	t := w.tracked[v].Type
	if t.Kind == ir.Slice {
		return interval{0, w.maxLen()}
	}
	return kindRange(t.Kind)
}
