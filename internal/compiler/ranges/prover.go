package ranges

import (
	"cmp"
	"math"
	"slices"

	"quern.dev/internal/compiler/ir"
)

// prover stores inequalities between polynomials and derives others from them.
//
// Facts have the form p >= 0. Facts about an atom (from its definition) hold wherever
// the atom has a value. All other facts hold in a scope: release removes those added
// since mark.
type prover struct {
	monomials
	atoms []atom
	self  []*poly // by atomID

	conditions []*poly // branch facts that use a non-launch atom, innermost last
	uniform    []*poly // branch facts about launch arguments only
	known      []int64 // by shapeID: the smallest c for which terms + c >= 0 is a fact; noHi if there is none
	trail      []change

	launch    map[launchKey]atomID
	quotients []knownQuotient // in this scope
	budget    int
}

// knownQuotient is an atom q = x/y of x >= 0 and y > 0.
type knownQuotient struct{ x, y, q *poly }

// atom is an unknown value. A launch atom depends on launch arguments only.
type atom struct {
	rng    interval // in this scope
	facts  []*poly
	equal  *poly // is 0; nil if there is nothing to tell. Only proofs use it: there are too many bounds already
	launch bool
	base   interval // in every scope, for a launch atom

	// Definition of a launch atom: an argument, a dimension, or min, max or div of two
	// polynomials over launch atoms. Other atoms may be a min or max.
	op    ir.SymOp
	value int64
	x, y  *poly

	either bool // the atom is a min or max: x or y

	// word is the signed value whose unsigned reinterpretation the atom is: they are
	// equal once the atom is known to be small.
	word *poly
}

type launchKey struct {
	op     ir.SymOp
	value  int64
	x, y   shapeID
	xc, yc int64
}

// change is an undo entry: the previous range of an atom, or the previous bound of a
// shape.
type change struct {
	shape shapeID // 0: change of an atom
	atom  atomID
	rng   interval // of the atom; rng.lo is the bound for a shape
}

// scope marks a point that release can return to.
type scope struct{ trail, conditions, uniform, quotients int }

func newProver() *prover {
	p := &prover{launch: map[launchKey]atomID{}}
	p.monomials.init()
	return p
}

func (pr *prover) mark() scope {
	return scope{len(pr.trail), len(pr.conditions), len(pr.uniform), len(pr.quotients)}
}

func (pr *prover) release(s scope) {
	for i := len(pr.trail) - 1; i >= s.trail; i-- {
		c := pr.trail[i]
		if c.shape != 0 {
			pr.known[c.shape] = c.rng.lo
			continue
		}
		pr.atoms[c.atom].rng = c.rng
	}
	pr.trail = pr.trail[:s.trail]
	pr.conditions = pr.conditions[:s.conditions]
	pr.uniform = pr.uniform[:s.uniform]
	pr.quotients = pr.quotients[:s.quotients]
}

// fresh creates an atom that is only known to be in r.
func (pr *prover) fresh(r interval) *poly {
	id := atomID(len(pr.atoms))
	pr.atoms = append(pr.atoms, atom{rng: r})
	p := &poly{terms: []polyTerm{{pr.of([]atomID{id}), 1}}}
	pr.self = append(pr.self, p)
	return p
}

// newest returns the atom that fresh created last.
func (pr *prover) newest() *atom { return &pr.atoms[len(pr.atoms)-1] }

// launchAtom creates or finds the atom of a launch argument.
func (pr *prover) launchAtom(op ir.SymOp, value int64, r interval) *poly {
	k := launchKey{op: op, value: value}
	if id, ok := pr.launch[k]; ok {
		return pr.self[id]
	}
	p := pr.fresh(r)
	a := pr.newest()
	a.launch, a.base, a.op, a.value = true, r, op, value
	pr.launch[k] = atomID(len(pr.atoms) - 1)
	return p
}

// launchOp creates or finds min, max or div of two polynomials over launch atoms.
func (pr *prover) launchOp(op ir.SymOp, x, y *poly) *poly {
	if c := x.c; c != 0 && op != ir.SymDiv && len(x.terms) > 0 {
		// Values that differ by a constant are of the same atom.
		if without := y.plusConst(-c); without != nil {
			return pr.launchOp(op, x.plusConst(-c), without).plusConst(c)
		}
	}
	k := launchKey{op: op, x: pr.shape(x), y: pr.shape(y), xc: x.c, yc: y.c}
	if id, ok := pr.launch[k]; ok {
		return pr.self[id]
	}
	rx, ry := pr.launchRange(x), pr.launchRange(y)
	r := interval{noLo, noHi}
	switch op {
	case ir.SymMin:
		r = interval{min(rx.lo, ry.lo), min(rx.hi, ry.hi)}
	case ir.SymMax:
		r = interval{max(rx.lo, ry.lo), max(rx.hi, ry.hi)}
	case ir.SymDiv:
		if rx.lo >= 0 && ry.lo > 0 {
			r = interval{0, rx.hi}
		}
	}
	p := pr.fresh(r)
	a := pr.newest()
	a.launch, a.base, a.op, a.x, a.y = true, r, op, x, y
	switch op {
	case ir.SymMin:
		a.either = true
		a.facts = []*poly{x.plus(-1, p), y.plus(-1, p)}
	case ir.SymMax:
		a.either = true
		a.facts = []*poly{p.plus(-1, x), p.plus(-1, y)}
	}
	pr.launch[k] = atomID(len(pr.atoms) - 1)
	return p
}

// single returns the atom that p consists of, if p is a single atom.
func (pr *prover) single(p *poly) (atomID, bool) {
	if p == nil || p.c != 0 || len(p.terms) != 1 || p.terms[0].coef != 1 {
		return 0, false
	}
	f := pr.factors[p.terms[0].mono]
	return f[0], len(f) == 1
}

// rangeOf returns the interval of p that follows from the atoms' ranges in this scope.
func (pr *prover) rangeOf(p *poly) interval {
	r := interval{p.c, p.c}
	for _, t := range p.terms {
		r = r.add(pr.monoRange(t.mono).scale(t.coef))
	}
	return r
}

// launchRange returns the interval, in every scope, of a polynomial over launch atoms.
func (pr *prover) launchRange(p *poly) interval {
	r := interval{p.c, p.c}
	for _, t := range p.terms {
		r = r.add(pr.product(t.mono, func(a *atom) interval { return a.base }).scale(t.coef))
	}
	return r
}

// monoRange returns the interval of a product in this scope.
func (pr *prover) monoRange(m monoID) interval {
	return pr.product(m, func(a *atom) interval { return a.rng })
}

func (pr *prover) product(m monoID, rangeOf func(*atom) interval) interval {
	f := pr.factors[m]
	r := interval{1, 1}
	for i := 0; i < len(f); i++ {
		a := rangeOf(&pr.atoms[f[i]])
		if i+1 < len(f) && f[i+1] == f[i] { // a square
			lo := int64(0)
			if a.lo > 0 {
				lo = saturatedMul(a.lo, a.lo)
			} else if a.hi < 0 {
				lo = saturatedMul(a.hi, a.hi)
			}
			a = interval{lo, max(saturatedMul(a.lo, a.lo), saturatedMul(a.hi, a.hi))}
			i++
		}
		r = r.mul(a)
	}
	return r
}

// isLaunch reports whether a product consists of launch atoms only.
func (pr *prover) isLaunch(m monoID) bool {
	for _, a := range pr.factors[m] {
		if !pr.atoms[a].launch {
			return false
		}
	}
	return true
}

// remember records p >= 0 for exact lookup.
func (pr *prover) remember(p *poly) bool {
	s := pr.shape(p)
	for int(s) >= len(pr.known) {
		pr.known = append(pr.known, noHi)
	}
	if pr.known[s] <= p.c {
		return false
	}
	pr.trail = append(pr.trail, change{shape: s, rng: interval{lo: pr.known[s]}})
	pr.known[s] = p.c
	return true
}

func (pr *prover) isKnown(p *poly) bool {
	s := pr.shape(p)
	return int(s) < len(pr.known) && pr.known[s] != noHi && pr.known[s] <= p.c
}

// learn records p >= 0 in this scope and tightens the ranges of its atoms.
func (pr *prover) learn(p *poly) {
	if p == nil || p.isConst() || !pr.remember(p) {
		return
	}
	for _, t := range p.terms {
		f := pr.factors[t.mono]
		if len(f) != 1 {
			continue
		}
		rest := p.plus(-1, &poly{terms: []polyTerm{t}})
		if rest == nil {
			continue
		}
		hi := pr.rangeOf(rest).hi // coef*atom >= -rest >= -hi
		if hi == noHi || hi == math.MinInt64 {
			continue
		}
		if t.coef > 0 {
			pr.tighten(f[0], interval{ceilDiv(-hi, t.coef), noHi})
		} else if t.coef != math.MinInt64 {
			pr.tighten(f[0], interval{noLo, floorDiv(hi, -t.coef)})
		}
	}
}

// assume records p >= 0 in this scope as the condition of a branch. Unlike facts given
// to learn, it takes part in derivations.
func (pr *prover) assume(p *poly) {
	if p == nil || p.isConst() || pr.isKnown(p) {
		return
	}
	pr.learn(p)
	for _, t := range p.terms {
		if !pr.isLaunch(t.mono) {
			pr.conditions = append(pr.conditions, p)
			return
		}
	}
	pr.uniform = append(pr.uniform, p)
}

// tighten narrows the range of an atom in this scope.
func (pr *prover) tighten(id atomID, r interval) {
	a := &pr.atoms[id]
	old := a.rng
	met := old.meet(r)
	if met == old || met.lo > met.hi { // an empty range means that the branch is dead
		return
	}
	if met.lo == noHi || met.hi == noLo { // would read as unbounded
		return
	}
	pr.trail = append(pr.trail, change{atom: id, rng: old})
	a.rng = met
	if a.word != nil && old.hi == noHi && met.hi != noHi {
		word, self := a.word, pr.self[id]
		pr.learn(word)
		pr.assume(word.plus(-1, self))
		pr.assume(self.plus(-1, word))
	}
}

// A search stops after budgetOf steps: a failed proof only costs a check at run time.
const (
	budgetOf       = 40
	proofDepth     = 4
	conditionsUsed = 24
	uniformUsed    = 32
)

// proves reports whether p >= 0 follows from the known facts.
func (pr *prover) proves(p *poly) bool {
	if p == nil {
		return false
	}
	pr.budget = budgetOf
	return pr.derive(p, proofDepth)
}

func (pr *prover) derive(p *poly, depth int) bool {
	if p == nil {
		return false
	}
	if pr.rangeOf(p).lo >= 0 || pr.isKnown(p) {
		return true
	}
	if depth == 0 || p.isConst() {
		return false
	}
	for i, u := range pr.uniform {
		if i >= uniformUsed && i < len(pr.uniform)-uniformUsed {
			continue // of thousands, use only the outermost and the innermost
		}
		if d := p.plus(-1, u); d != nil && pr.rangeOf(d).lo >= 0 {
			return true
		}
	}
	for _, t := range p.terms {
		if pr.isLaunch(t.mono) {
			continue
		}
		try := func(q *poly) bool { return pr.derive(q, depth-1) }
		if depth == 1 { // the order does not matter: nothing follows
			direct := func(step *poly) bool { pr.budget--; return pr.budget >= 0 && try(p.plus(-1, step)) }
			if pr.eachStep(t, -1, direct) {
				return true
			}
		} else if pr.nextOf(p, t, -1, try) {
			return true
		}
		if pr.exceedsFact(p, t.mono) || pr.substitute(p, t, depth) {
			return true
		}
	}
	return pr.deriveCases(p, depth)
}

// substitute derives p >= 0 after replacing an atom of t by what it equals.
func (pr *prover) substitute(p *poly, t polyTerm, depth int) bool {
	for _, a := range pr.factors[t.mono] {
		zero := pr.atoms[a].equal
		if zero == nil {
			continue
		}
		rest, _ := pr.quotient(t.mono, pr.self[a].terms[0].mono)
		if pr.budget--; pr.budget < 0 {
			return false
		}
		if pr.derive(p.plus(-1, pr.timesMono(zero, t.coef, rest)), depth-1) {
			return true
		}
	}
	return false
}

// exceedsFact reports whether p is at least a quantity that a fact of one of m's atoms
// shows to be non-negative, even if the fact has another multiple of m.
func (pr *prover) exceedsFact(p *poly, m monoID) bool {
	for _, a := range pr.factors[m] {
		for _, f := range pr.atoms[a].facts {
			if d := p.plus(-1, f); d != nil && pr.rangeOf(d).lo >= 0 {
				return true
			}
		}
	}
	return false
}

// deriveCases derives p >= 0 for both possible values of a min or max in p.
func (pr *prover) deriveCases(p *poly, depth int) bool {
	for _, t := range p.terms {
		f := pr.factors[t.mono]
		if len(f) != 1 || !pr.atoms[f[0]].either {
			continue
		}
		if pr.budget--; pr.budget < 0 {
			return false
		}
		a := &pr.atoms[f[0]]
		rest := p.plus(-t.coef, pr.self[f[0]])
		if pr.derive(rest.plus(t.coef, a.x), depth-1) && pr.derive(rest.plus(t.coef, a.y), depth-1) {
			return true
		}
	}
	return false
}

// nextOf calls try with p + sign*s for the steps s of eachStep, first with those that share
// most terms with p, and of these with those of the lowest degree: they are most probably part
// of a proof. It stops when try returns true.
func (pr *prover) nextOf(p *poly, t polyTerm, sign int64, try func(*poly) bool) bool {
	type next struct {
		p              *poly
		shared, degree int
	}
	var list []next
	pr.eachStep(t, sign, func(step *poly) bool {
		if q := p.plus(sign, step); q != nil {
			list = append(list, next{q, len(p.terms) + len(step.terms) - len(q.terms), pr.degree(q)})
		}
		return false
	})
	slices.SortStableFunc(list, func(a, b next) int { return cmp.Or(b.shared-a.shared, a.degree-b.degree) })
	for _, n := range list {
		if pr.budget--; pr.budget < 0 {
			return false
		}
		kept := pr.budget / 2 // for the others
		pr.budget -= kept
		found := try(n.p)
		if pr.budget = max(pr.budget, 0) + kept; found {
			return true
		}
	}
	return false
}

// eachStep calls try with multiples s >= 0 of facts that contain the monomial of t.
// With sign -1, s contains t itself, so that p - s does not contain it; with sign 1, s
// contains -t, so that p + s does not contain it. It stops when try returns true.
func (pr *prover) eachStep(t polyTerm, sign int64, try func(step *poly) bool) bool {
	recent := pr.conditions[max(0, len(pr.conditions)-conditionsUsed):]
	for i := len(recent) - 1; i >= 0; i-- {
		if pr.stepsOf(recent[i], t, sign, try) {
			return true
		}
	}
	for i, a := range pr.factors[t.mono] {
		if i > 0 && a == pr.factors[t.mono][i-1] {
			continue
		}
		for _, f := range pr.atoms[a].facts {
			if pr.stepsOf(f, t, sign, try) {
				return true
			}
		}
	}
	return false
}

func (pr *prover) stepsOf(fact *poly, t polyTerm, sign int64, try func(*poly) bool) bool {
	if fact == nil {
		return false
	}
	for _, g := range fact.terms {
		q, ok := pr.quotient(t.mono, g.mono)
		if !ok || g.coef == 0 || t.coef%g.coef != 0 {
			continue
		}
		k := -sign * (t.coef / g.coef) // k*q*fact has the wanted term
		if r := pr.monoRange(q); !(k > 0 && r.lo >= 0 || k < 0 && r.hi <= 0) {
			continue
		}
		if step := pr.timesMono(fact, k, q); step != nil && try(step) {
			return true
		}
	}
	return false
}
