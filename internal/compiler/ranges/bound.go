package ranges

import (
	"math"

	"quern.dev/internal/compiler/ir"
)

const (
	boundDepth  = 10
	boundBudget = 120
	// maxCoef is the largest coefficient of launch arguments in a bound. Larger ones
	// come from hashes and generators, whose values fit 32 bits in no launch.
	maxCoef = 1 << 20
)

// bounds derives a polynomial over stable atoms only that is at least p (sign 1) or at
// most p (sign -1) and that accept approves, or nil if it finds none.
func (pr *prover) bound(p *poly, sign int64, stable func(monoID) bool, accept func(*poly) bool) *poly {
	if p == nil {
		return nil
	}
	b := bounding{pr, sign, stable, accept, nil}
	pr.budget = boundBudget
	b.search(p, boundDepth)
	return b.found
}

type bounding struct {
	*prover
	sign   int64
	stable func(monoID) bool
	accept func(*poly) bool
	found  *poly
}

func (b *bounding) search(p *poly, depth int) bool {
	if p == nil {
		return false
	}
	t, ok := b.first(p)
	if !ok {
		if b.accept(p) {
			b.found = p
			return true
		}
		return false
	}
	if depth == 0 || b.budget < 0 {
		return false
	}
	if b.nextOf(p, t, b.sign, func(q *poly) bool { return b.search(q, depth-1) }) {
		return true
	}
	if r := b.settleSign(p, t); r != nil {
		return b.search(r, depth-1)
	}
	return b.numeric(p, t, depth)
}

// first returns a term of p that is not stable.
func (b *bounding) first(p *poly) (polyTerm, bool) {
	for _, t := range p.terms {
		if !b.stable(t.mono) {
			return t, true
		}
	}
	return polyTerm{}, false
}

// settleSign replaces a launch argument of unknown sign in t by its positive or
// negative part: with y >= 0, y*w <= y*max(w, 0).
func (b *bounding) settleSign(p *poly, t polyTerm) *poly {
	for _, id := range b.factors[t.mono] {
		a := b.atoms[id]
		if !a.launch || a.rng.lo >= 0 || a.rng.hi <= 0 {
			continue
		}
		w := b.self[id]
		rest, _ := b.quotient(t.mono, w.terms[0].mono)
		r := b.monoRange(rest)
		up := t.coef > 0 == (b.sign > 0) // the term must grow with its monomial
		switch {
		case r.lo >= 0:
		case r.hi <= 0:
			up = !up
		default:
			return nil
		}
		op := ir.SymMin
		if up {
			op = ir.SymMax
		}
		part := b.launchOp(op, w, constPoly(0))
		without := p.plus(-1, &poly{terms: []polyTerm{t}})
		return without.plus(1, b.timesMono(part, t.coef, rest))
	}
	return nil
}

// numeric replaces an unstable atom of t by a bound of its range.
func (b *bounding) numeric(p *poly, t polyTerm, depth int) bool {
	for _, id := range b.factors[t.mono] {
		self := b.self[id]
		if b.stable(self.terms[0].mono) {
			continue
		}
		rest, _ := b.quotient(t.mono, self.terms[0].mono)
		r := b.monoRange(rest)
		up := t.coef > 0 == (b.sign > 0)
		switch {
		case r.lo >= 0:
		case r.hi <= 0:
			up = !up
		default:
			continue
		}
		end := b.atoms[id].rng.lo
		if up {
			end = b.atoms[id].rng.hi
		}
		if end < math.MinInt32 || end > math.MaxInt32 {
			return false
		}
		k, ok := exactMul(end, t.coef)
		if !ok {
			return false
		}
		without := p.plus(-1, &poly{terms: []polyTerm{t}})
		return b.search(without.plus(k, monoPoly(rest)), depth-1)
	}
	return false
}

// monoPoly returns the polynomial of one monomial.
func monoPoly(m monoID) *poly {
	if m == 0 {
		return constPoly(1)
	}
	return &poly{terms: []polyTerm{{m, 1}}}
}

// launchBound bounds p by launch arguments so that a bound of the 32-bit range may
// hold: from above for sign 1, from below for -1.
func (pr *prover) launchBound(p *poly, sign int64) *poly {
	return pr.bound(p, sign, pr.isLaunch, func(u *poly) bool {
		if !u.hasCoefsUpTo(maxCoef) || sign*u.c > math.MaxInt32 {
			return false
		}
		r := pr.rangeOf(u)
		return sign > 0 && r.lo <= math.MaxInt32 || sign < 0 && r.hi >= math.MinInt32
	})
}

// hasCoefsUpTo reports whether the magnitude of every coefficient is at most most.
func (p *poly) hasCoefsUpTo(most int64) bool {
	for _, t := range p.terms {
		if t.coef > most || t.coef < -most {
			return false
		}
	}
	return true
}

// outerBound bounds p by launch arguments and atoms created before end.
func (pr *prover) outerBound(p *poly, sign int64, end atomID) *poly {
	return pr.bound(p, sign, func(m monoID) bool { return pr.isOuter(m, end) }, func(*poly) bool { return true })
}

func (pr *prover) isOuter(m monoID, end atomID) bool {
	for _, a := range pr.factors[m] {
		if a >= end && !pr.atoms[a].launch {
			return false
		}
	}
	return true
}

// isOuterPoly reports whether p is a polynomial over launch arguments and atoms created
// before end.
func (pr *prover) isOuterPoly(p *poly, end atomID) bool {
	for _, t := range p.terms {
		if !pr.isOuter(t.mono, end) {
			return false
		}
	}
	return true
}
