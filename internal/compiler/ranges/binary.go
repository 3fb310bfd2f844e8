package ranges

import (
	"math/bits"

	"quern.dev/internal/compiler/ir"
)

// binary walks an integer operation.
func (w *walker) binary(e *ir.Binary) *poly {
	x, y := w.value(e.X), w.value(e.Y)
	rx, ry := w.rangeOf(x), w.rangeOf(y)
	kind := e.X.Type().Kind
	full := kindRange(kind)
	switch e.Op {
	case ir.Add:
		return w.arithmetic(e, x.plus(1, y), rx.add(ry))
	case ir.Sub:
		return w.arithmetic(e, x.plus(-1, y), rx.add(ry.scale(-1)))
	case ir.Mul:
		return w.arithmetic(e, w.times(x, y), rx.mul(ry))
	case ir.Div, ir.Rem:
		return w.divide(e, x, y)
	case ir.And:
		return w.and(x, y, rx, ry, full)
	case ir.Or, ir.Xor:
		if rx.lo >= 0 && ry.lo >= 0 && rx.hi != noHi && ry.hi != noHi {
			lo := int64(0)
			if e.Op == ir.Or {
				lo = max(rx.lo, ry.lo)
			}
			return w.fresh(interval{lo, 1<<bits.Len64(uint64(rx.hi|ry.hi)) - 1})
		}
	case ir.AndNot:
		if rx.lo >= 0 {
			return w.atMost(x, interval{0, rx.hi})
		}
	case ir.Shl, ir.Shr:
		w.proven[&e.Check] = w.proves(y)
		w.learn(y)
		if e.Op == ir.Shl {
			return w.shiftLeft(e, x, y)
		}
		return w.shiftRight(x, y, full)
	}
	return w.fresh(full)
}

// atMost creates an atom in r that is at most x.
func (w *walker) atMost(x *poly, r interval) *poly {
	return w.derived(r, func(a *poly) []*poly { return []*poly{x.plus(-1, a)} })
}

func (w *walker) and(x, y *poly, rx, ry, full interval) *poly {
	switch {
	case rx.lo >= 0 && ry.lo >= 0:
		return w.derived(interval{0, min(rx.hi, ry.hi)}, func(a *poly) []*poly {
			return []*poly{x.plus(-1, a), y.plus(-1, a)}
		})
	case rx.lo >= 0:
		return w.atMost(x, interval{0, rx.hi})
	case ry.lo >= 0:
		return w.atMost(y, interval{0, ry.hi})
	}
	return w.fresh(full)
}

func (w *walker) shiftLeft(e *ir.Binary, x, y *poly) *poly {
	width := 8 * e.X.Type().Size()
	if y.isConst() && y.c >= 0 && y.c < min(width, 62) {
		return w.arithmetic(e, x.scaled(1<<y.c), w.rangeOf(x).scale(1<<y.c))
	}
	rx, ry := w.rangeOf(x), w.rangeOf(y)
	if rx.lo >= 0 && ry.lo >= 0 && ry.hi < 62 {
		r := interval{saturatedMul(rx.lo, 1<<ry.lo), saturatedMul(rx.hi, 1<<ry.hi)}
		if r.within(computable(e.X.Type().Kind)) {
			return w.fresh(r)
		}
	}
	return w.fresh(kindRange(e.X.Type().Kind))
}

func (w *walker) shiftRight(x, y *poly, full interval) *poly {
	rx := w.rangeOf(x)
	if y.isConst() && y.c >= 0 && y.c < 62 {
		if rx.lo >= 0 {
			return w.quotientBy(x, 1<<y.c)
		}
		if rx.hi != noHi || full.lo == noLo {
			return w.fresh(interval{rx.lo >> y.c, rx.hi >> y.c})
		}
		return w.fresh(full)
	}
	if rx.lo >= 0 {
		return w.atMost(x, interval{0, rx.hi})
	}
	return w.fresh(interval{rx.lo, max(rx.hi, 0)})
}

// quotientBy creates an atom for x/k, where x >= 0 and k > 0.
func (w *walker) quotientBy(x *poly, k int64) *poly {
	r := w.rangeOf(x)
	r.lo /= k
	if r.hi != noHi { // an unbounded hi may belong to a uint64
		r.hi /= k
	}
	if x.c%k == 0 {
		if q := x.dividedBy(k); q != nil {
			return q
		}
	}
	var bounds []*poly
	for _, b := range []*poly{x, w.launchBoundOf(x, w.rangeOf(x), 1)} {
		if b == nil {
			continue
		}
		if q := b.dividedBy(k); q != nil {
			bounds = append(bounds, q)
		} else if b != x && !w.nested(b) {
			bounds = append(bounds, w.launchOp(ir.SymDiv, b, constPoly(k)))
		}
	}
	return w.derived(r, func(a *poly) []*poly {
		facts := []*poly{x.plus(-k, a), a.scaled(k).plus(-1, x).plusConst(k - 1), x.plus(-1, a)}
		for _, b := range bounds {
			facts = append(facts, b.plus(-1, a))
		}
		return facts
	})
}

// quotient creates or finds an atom for x/y, where x >= 0 and y >= least > 0.
func (w *walker) quotient(x, y *poly, least int64) *poly {
	for _, k := range w.quotients {
		if k.x.equal(x) && k.y.equal(y) {
			return k.q
		}
	}
	r := interval{0, w.rangeOf(x).hi}
	if r.hi != noHi { // an unbounded hi may belong to a uint64
		r.hi /= least
	}
	q := w.derived(r, func(a *poly) []*poly {
		rest := x.plus(-1, w.times(a, y)) // tried first: y*(x/y) <= x is tighter than y*(x/y) <= y*x
		return []*poly{rest, y.plusConst(-1).plus(-1, rest), x.plus(-1, a)}
	})
	w.quotients = append(w.quotients, knownQuotient{x, y, q})
	return q
}

// divide walks x/y or x%y.
func (w *walker) divide(e *ir.Binary, x, y *poly) *poly {
	rx, ry := w.rangeOf(x), w.rangeOf(y)
	if ry.lo == 0 && w.proves(y.plusConst(-1)) {
		ry.lo = 1
	}
	w.proven[&e.Check] = ry.lo > 0 || ry.hi < 0
	if e.Check && ry.lo >= 0 {
		w.learn(y.plusConst(-1))
		ry.lo = max(ry.lo, 1)
	}
	kind := e.X.Type().Kind
	if y.isConst() && y.c == 0 { // always fails
		return w.fresh(kindRange(kind))
	}
	natural := rx.lo >= 0 && ry.lo >= 0
	delete(w.natural, e) // an earlier walk of a loop may have assumed too much
	if natural {
		w.natural[e] = dividend{rx.lo, rx.hi < ry.lo}
	}
	switch {
	case natural && e.Op == ir.Div && y.isConst() && y.c > 0:
		return w.quotientBy(x, y.c)
	case natural && e.Op == ir.Div:
		return w.quotient(x, y, max(ry.lo, 1))
	case natural && rx.hi < ry.lo:
		return x
	case natural:
		r := interval{0, rx.hi}
		if ry.hi != noHi {
			r.hi = min(r.hi, ry.hi-1)
		}
		if y.isConst() {
			less := w.quotientBy(x, y.c).scaled(y.c).plus(-1, x) // -(x%y)
			p := w.derived(r, func(a *poly) []*poly {
				return []*poly{y.plus(-1, a).plusConst(-1), x.plus(-1, a)}
			})
			w.newest().equal = less.plus(1, p)
			return p
		}
		whole := w.times(w.quotient(x, y, max(ry.lo, 1)), y) // x - x%y
		p := w.derived(r, func(a *poly) []*poly {
			return []*poly{y.plus(-1, a).plusConst(-1), x.plus(-1, a)}
		})
		if zero := whole.plus(1, p).plus(-1, x); zero != nil {
			w.assume(zero)
			w.assume(zero.negated())
		}
		return p
	case e.Op == ir.Rem && e.X.Type().IsSigned():
		// |x%y| < |y|, |x%y| <= |x|, and the sign is that of x.
		m := interval{0, noHi}
		if ry.lo != noLo && ry.hi != noHi {
			m.hi = max(ry.hi, -ry.lo) - 1
		}
		r := interval{max(min(rx.lo, 0), -m.hi), min(max(rx.hi, 0), m.hi)}
		return w.fresh(r.meet(kindRange(kind)))
	case e.Op == ir.Div && e.X.Type().IsSigned() && rx.lo > noLo && rx.hi < noHi:
		// |x/y| <= |x|.
		m := max(rx.hi, -rx.lo)
		r := interval{-m, m}
		if ry.lo > 0 {
			r = interval{min(rx.lo, 0), max(rx.hi, 0)}
			if y.isConst() {
				r = interval{rx.lo / y.c, rx.hi / y.c}
			}
		}
		if r.within(kindRange(kind)) {
			return w.fresh(r)
		}
	}
	return w.fresh(kindRange(kind))
}

// intrinsic walks an intrinsic with an integer result.
func (w *walker) intrinsic(e *ir.Intrinsic) *poly {
	if (e.Op == ir.Min || e.Op == ir.Max) && e.T.IsInteger() {
		return w.minMax(e.Op, w.value(e.Args[0]), w.value(e.Args[1]))
	}
	w.operands(e)
	if e.Op.Result == ir.BitCount {
		return w.fresh(interval{0, 8 * e.Args[0].Type().Size()})
	}
	return w.fresh(kindRange(e.T.Kind))
}

func (w *walker) minMax(op *ir.IntrinsicOp, x, y *poly) *poly {
	d := x.plus(-1, y)
	switch {
	case w.proves(d): // x >= y
		if op == ir.Min {
			return y
		}
		return x
	case d != nil && w.proves(d.negated()):
		if op == ir.Min {
			return x
		}
		return y
	}
	rx, ry := w.rangeOf(x), w.rangeOf(y)
	r := interval{min(rx.lo, ry.lo), min(rx.hi, ry.hi)}
	sign := int64(-1)
	if op == ir.Max {
		r = interval{max(rx.lo, ry.lo), max(rx.hi, ry.hi)}
		sign = 1
	}
	far := w.commonBound(x, y, sign) // a min is at least any common lower bound of both
	p := w.derived(r, func(a *poly) []*poly {
		return append(differences(far, a, sign), differences([]*poly{x, y}, a, -sign)...)
	})
	a := w.newest()
	a.either, a.op, a.x, a.y = true, ir.SymMin, x, y
	if op == ir.Max {
		a.op = ir.SymMax
	}
	return p
}

// differences returns b - a >= 0 for upper bounds (sign 1) and a - b >= 0 for lower
// bounds.
func differences(bounds []*poly, a *poly, sign int64) []*poly {
	var out []*poly
	for _, b := range bounds {
		out = append(out, b.scaled(sign).plus(-sign, a))
	}
	return out
}

// commonBound finds bounds of both x and y: upper for sign 1, lower for -1.
func (w *walker) commonBound(x, y *poly, sign int64) []*poly {
	var out []*poly
	try := func(p, q *poly) {
		w.budget = budgetOf
		for _, t := range p.terms {
			if w.isLaunch(t.mono) {
				continue
			}
			var steps []*poly
			w.eachStep(t, sign, func(step *poly) bool {
				steps = append(steps, p.plus(sign, step))
				return len(steps) > 3
			})
			for _, b := range steps {
				if b != nil && w.proves(b.scaled(sign).plus(-sign, q)) {
					out = append(out, b)
				}
			}
			return
		}
	}
	try(x, y)
	try(y, x)
	if w.variant != Wide {
		op := ir.SymMax
		if sign < 0 {
			op = ir.SymMin
		}
		b := w.greater(op, w.launchBoundOf(x, w.rangeOf(x), sign), w.launchBoundOf(y, w.rangeOf(y), sign))
		if b != nil {
			out = append(out, b)
		}
	}
	return out
}
