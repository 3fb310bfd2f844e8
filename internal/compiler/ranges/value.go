package ranges

import (
	"math"
	"slices"
	"strconv"

	"quern.dev/internal/compiler/ir"
)

// visit walks an expression of any type and returns what is known about it.
func (w *walker) visit(e ir.Expr) binding {
	switch t := e.Type(); {
	case t.IsInteger():
		return binding{num: w.value(e)}
	case t.Kind == ir.Bool:
		return binding{cond: w.condition(e)}
	case t.Kind == ir.Slice:
		return binding{num: w.length(e)}
	}
	w.operands(e)
	return binding{}
}

// operands walks the operands of an expression without a tracked value.
func (w *walker) operands(e ir.Expr) {
	switch e := e.(type) {
	case *ir.Load:
		w.place(e.Place)
	case *ir.Unary:
		w.visit(e.X)
	case *ir.Binary:
		w.visit(e.X)
		w.visit(e.Y)
	case *ir.Convert:
		w.visit(e.X)
	case *ir.Len:
		w.length(e.X)
	case *ir.Cap:
		w.length(e.X)
	case *ir.SliceExpr:
		w.length(e)
	case *ir.Addr:
		w.place(e.Place)
	case *ir.Intrinsic:
		for _, a := range e.Args {
			w.visit(a)
		}
	case *ir.Composite:
		for _, x := range e.Elems {
			if x != nil {
				w.visit(x)
			}
		}
	case *ir.Select:
		w.choice(e)
	}
}

// choice walks a Select. A back end may evaluate its operands in any order.
func (w *walker) choice(e *ir.Select) (x, y binding) {
	w.apart(func() { w.visit(e.Cond) })
	w.apart(func() { x = w.visit(e.X) })
	w.apart(func() { y = w.visit(e.Y) })
	return x, y
}

// value walks an integer expression. The result is never nil: a value that the analysis
// cannot follow is a fresh atom.
func (w *walker) value(e ir.Expr) *poly {
	w.kernel.Func.Poll()
	p := w.compute(e)
	if e.Type().Kind == ir.Int {
		w.fits[e] = w.fitsInt32(p)
	}
	return p
}

// fitsInt32 reports whether p is known to be an int32.
func (w *walker) fitsInt32(p *poly) bool {
	r := w.rangeOf(p)
	return (r.hi <= math.MaxInt32 || w.proves(constPoly(math.MaxInt32).plus(-1, p))) &&
		(r.lo >= math.MinInt32 || w.proves(p.plusConst(-math.MinInt32)))
}

func (w *walker) compute(e ir.Expr) *poly {
	kind := e.Type().Kind
	switch e := e.(type) {
	case *ir.Const:
		if e.Int64() < 0 && !e.T.IsSigned() {
			break // too large for the constant of a poly
		}
		if unbounded(e.Int64()) {
			break // its interval would read as unbounded
		}
		return constPoly(e.Int64())
	case *ir.Zero:
		return constPoly(0)
	case *ir.Load:
		return w.load(e)
	case *ir.ThreadValue:
		return w.thread[e.Op]
	case *ir.Len:
		return w.length(e.X)
	case *ir.Cap:
		return w.capacity(e.X)
	case *ir.Unary:
		x := w.value(e.X)
		if e.Op == ir.Neg {
			return w.arithmetic(e, x.negated(), w.rangeOf(x).scale(-1))
		}
		if full := kindRange(kind); !e.Type().IsSigned() && full.hi != noHi {
			return constPoly(full.hi).plus(-1, x) // ^x == max - x
		} else if e.Type().IsSigned() {
			return w.arithmetic(e, x.negated().plusConst(-1), kindRange(kind))
		}
	case *ir.Binary:
		return w.binary(e)
	case *ir.Convert:
		return w.convert(e)
	case *ir.Intrinsic:
		return w.intrinsic(e)
	case *ir.Select:
		x, y := w.choice(e)
		return w.fresh(w.rangeOf(x.num).hull(w.rangeOf(y.num)))
	default:
		w.operands(e)
	}
	return w.fresh(kindRange(kind))
}

// load walks a read of an integer.
func (w *walker) load(e *ir.Load) *poly {
	full := kindRange(e.Type().Kind)
	if v, ok := e.Place.(*ir.VarPlace); ok {
		i, ok := w.index[v.Var]
		if !ok {
			return w.fresh(full)
		}
		if w.env.at(i).num == nil {
			w.env.bind(i, binding{num: w.fresh(full)})
		}
		return w.env.at(i).num
	}
	if path, ok := w.fieldPath(e.Place); ok {
		if w.fields[path] == nil {
			w.fields[path] = w.fresh(full)
		}
		return w.fields[path]
	}
	w.place(e.Place)
	return w.fresh(full)
}

// fieldPath returns the name of a field of a stable parameter.
func (w *walker) fieldPath(p ir.Place) (string, bool) {
	path := ""
	for {
		switch q := p.(type) {
		case *ir.FieldPlace:
			path += "." + strconv.Itoa(q.Field)
			p = q.X
			continue
		case *ir.VarPlace:
			for i, v := range w.kernel.Func.Params {
				if v == q.Var && w.stable[v] {
					return strconv.Itoa(i) + path, true
				}
			}
		}
		return "", false
	}
}

// place walks the way to a place and checks its indices.
func (w *walker) place(p ir.Place) {
	switch p := p.(type) {
	case *ir.DerefPlace:
		w.visit(p.Ptr)
	case *ir.FieldPlace:
		w.place(p.X)
	case *ir.IndexPlace:
		w.place(p.X)
		w.access(&p.Check, w.value(p.Index), constPoly(p.X.Type().Len))
	case *ir.ArrayPlace:
		room := w.length(p.Slice).plusConst(-p.T.Len)
		w.settle(&p.Check, room)
		w.learn(room)
	case *ir.ElemPlace:
		n := w.length(p.Slice)
		w.access(&p.Check, w.value(p.Index), n)
	}
}

// access records whether 0 <= i < n is certain. It holds after an access: either a
// check has passed, or the kernel has promised to stay in range.
func (w *walker) access(check *bool, i, n *poly) {
	room := n.plus(-1, i).plusConst(-1)
	w.settle(check, i, room)
	w.learn(i)
	w.learn(room)
}

// settle records whether a check that all of order are non-negative can be removed,
// because they are, or because a launch condition can promise it.
func (w *walker) settle(check *bool, order ...*poly) {
	delete(w.promises, check)
	var promised []*poly
	for _, p := range order {
		if w.proves(p) {
			continue
		}
		if w.variant != Proven {
			w.proven[check] = false
			return
		}
		low := w.lowest(p)
		if low == nil {
			w.proven[check] = false
			return
		}
		promised = append(promised, w.each(low)...)
	}
	w.proven[check] = true
	if promised != nil {
		w.promises[check] = promised
	}
}

// alternatives is the maximum number of bounds of a value that are considered for a
// launch condition. Bounds with factors above maxPromise come from the largest possible
// grid: they hold only for launches for which others hold too.
//
// A bound of a min or max in a value is found for both of what it may be, up to choiceDepth of
// them one in another.
const (
	choiceDepth           = 4
	alternativesOfChoices = 2

	alternatives = 4
	maxPromise   = 1 << 14
	maxDeficit   = 1 << 24 // constants above it come from the largest possible value of a variable
)

// lowest returns a polynomial over launch arguments that is a lower bound of p. It is nil if
// no bound can be positive.
func (w *walker) lowest(p *poly) *poly {
	if low := w.lowestOfChoices(p, choiceDepth); low != nil {
		return low
	}
	return w.lowestOf(p, alternatives)
}

// lowestOfChoices is lowest for a value with a min or max. If the value falls with a max, or
// grows with a min, its bound is below those for both of what that may be. Otherwise each of
// these is a bound.
func (w *walker) lowestOfChoices(p *poly, depth int) *poly {
	if p == nil || depth == 0 {
		return nil
	}
	for _, t := range p.terms {
		for _, id := range w.factors[t.mono] {
			a := w.atoms[id]
			if !a.either || a.launch {
				continue
			}
			rest, _ := w.prover.quotient(t.mono, w.self[id].terms[0].mono)
			r := w.monoRange(rest).scale(t.coef)
			if r.lo < 0 && r.hi > 0 {
				continue
			}
			with := func(x *poly) *poly {
				q := p.plus(-1, &poly{terms: []polyTerm{t}}).plus(1, w.timesMono(x, t.coef, rest))
				if low := w.lowestOfChoices(q, depth-1); low != nil {
					return low
				}
				return w.lowestOf(q, alternativesOfChoices)
			}
			x, y := with(a.x), with(a.y)
			op := ir.SymMin
			if (a.op == ir.SymMax) == (r.lo >= 0) {
				op = ir.SymMax
			}
			switch {
			case x == nil && op == ir.SymMax:
				return y
			case y == nil && op == ir.SymMax:
				return x
			case x == nil || y == nil:
				return nil
			case w.neverBelow(x, y):
				x, y = y, x
				fallthrough
			case w.neverBelow(y, x):
				if op == ir.SymMin {
					return x
				}
				return y
			}
			return w.launchOp(op, x, y)
		}
	}
	return nil
}

// each returns what must not be negative so that p is not: both of what a min may be. Conditions
// of their own are more often equal to others.
func (w *walker) each(p *poly) []*poly {
	id, ok := w.single(p.plusConst(-p.c))
	if !ok || w.atoms[id].op != ir.SymMin {
		return []*poly{p}
	}
	x, y := w.atoms[id].x.plusConst(p.c), w.atoms[id].y.plusConst(p.c)
	if x == nil || y == nil {
		return []*poly{p}
	}
	return append(w.each(x), w.each(y)...)
}

// lowestOf is lowest without a look at what a min or max may be. The result is the maximum of
// at most most bounds, because which is tightest depends on the launch.
func (w *walker) lowestOf(p *poly, most int) *poly {
	var found []*poly
	w.bound(p, -1, w.isLaunch, func(u *poly) bool {
		if w.launchRange(u).hi < 0 || u.c < -maxDeficit || !u.hasCoefsUpTo(maxPromise) || slices.ContainsFunc(found, func(f *poly) bool { return w.neverBelow(f, u) }) {
			return false
		}
		found = slices.DeleteFunc(found, func(f *poly) bool { return w.neverBelow(u, f) })
		found = append(found, u)
		return len(found) == most
	})
	if len(found) == 0 {
		return nil
	}
	low := found[0]
	for _, u := range found[1:] {
		low = w.launchOp(ir.SymMax, low, u)
	}
	return low
}

// length walks a slice expression and returns its length.
func (w *walker) length(e ir.Expr) *poly {
	full := interval{0, w.maxLen()}
	switch e := e.(type) {
	case *ir.Load:
		if v, ok := ir.Dynamic(e); ok {
			return w.dynamicLength(v)
		}
		v, ok := e.Place.(*ir.VarPlace)
		if !ok {
			w.place(e.Place)
			break
		}
		i, ok := w.index[v.Var]
		if !ok {
			break
		}
		if w.env.at(i).num == nil {
			w.env.bind(i, binding{num: w.fresh(full)})
		}
		return w.env.at(i).num
	case *ir.SliceExpr:
		return w.slice(e)
	case *ir.Zero:
		return constPoly(0)
	case *ir.Convert:
		return w.length(e.X)
	case *ir.Select:
		x, y := w.choice(e)
		return w.fresh(w.rangeOf(x.num).hull(w.rangeOf(y.num)))
	default:
		w.operands(e)
	}
	return w.fresh(full)
}

// capacity walks a slice expression and returns its capacity. A parameter's capacity is
// its length.
func (w *walker) capacity(e ir.Expr) *poly {
	n := w.length(e)
	if w.isParam(e) {
		return n
	}
	return w.derived(interval{0, w.maxLen()}, func(a *poly) []*poly { return []*poly{a.plus(-1, n)} })
}

func (w *walker) isParam(e ir.Expr) bool {
	for _, v := range w.kernel.Func.Params {
		if reads(e, v) {
			return true
		}
	}
	return false
}

// slice walks x[lo:hi:max] and returns its length.
func (w *walker) slice(e *ir.SliceExpr) *poly {
	var n *poly
	if e.X != nil {
		n = w.length(e.X)
	} else {
		w.place(e.Array)
		n = constPoly(e.Array.Type().Len)
	}
	lo, hi := constPoly(0), n
	if e.Lo != nil {
		lo = w.value(e.Lo)
	}
	if e.Hi != nil {
		hi = w.value(e.Hi)
	}
	last := hi
	if e.Max != nil {
		last = w.value(e.Max)
	}
	order := []*poly{lo, hi.plus(-1, lo), last.plus(-1, hi), n.plus(-1, last)}
	w.settle(&e.Check, order...)
	if e.X != nil && !w.isParam(e.X) {
		order = order[:3] // the capacity may exceed n
	}
	for _, p := range order {
		w.learn(p)
	}
	if d := hi.plus(-1, lo); d != nil {
		return d
	}
	return w.fresh(interval{0, w.maxLen()})
}

// convert walks a conversion to an integer type.
func (w *walker) convert(e *ir.Convert) *poly {
	to, from := e.T, e.X.Type()
	full := kindRange(to.Kind)
	if !from.IsInteger() {
		w.visit(e.X)
		return w.fresh(full)
	}
	x := w.value(e.X)
	r := w.rangeOf(x)
	wraps := from.IsSigned() != to.IsSigned() || from.Size() > to.Size()
	if !wraps {
		return x
	}
	top := full.hi
	if to.IsSigned() && from.Size() == 8 && !from.IsSigned() {
		top = min(top, noHi-1) // noHi may exceed an int64
	}
	above := r.hi <= top || w.proves(constPoly(top).plus(-1, x))
	if above && (r.lo >= full.lo || w.proves(x.plusConst(-full.lo))) {
		return x
	}
	p := w.fresh(full)
	if from.IsSigned() && !to.IsSigned() && to.Size() == 8 {
		w.newest().word = x
	}
	return p
}

// arithmetic returns p, the mathematical result of e, if e cannot wrap, otherwise what
// is known about the wrapped result. r is a range of the mathematical result that may
// be tighter than what p's terms imply.
func (w *walker) arithmetic(e ir.Expr, p *poly, r interval) *poly {
	kind := e.Type().Kind
	if p == nil {
		if r.within(computable(kind)) {
			return w.fresh(r)
		}
		return w.fresh(kindRange(kind))
	}
	own := w.rangeOf(p)
	r = r.meet(own)
	if r.within(computable(kind)) {
		if r != own {
			w.learn(constPoly(r.hi).plus(-1, p))
			w.learn(p.plusConst(-r.lo))
		}
		if kind == ir.Int && !r.within(int32s) {
			w.limit(e, p)
		}
		return p
	}
	if kind == ir.Int && w.limit(e, p) {
		return p
	}
	full := computable(kind)
	if w.proves(constPoly(full.hi).plus(-1, p)) && w.proves(p.plusConst(-full.lo)) {
		return p
	}
	return w.fresh(kindRange(kind))
}

// limit adds the launch condition that p, the value of e, fits int32, if there is a
// useful one.
func (w *walker) limit(e ir.Expr, p *poly) bool {
	delete(w.limits, e)
	if w.variant == Wide || w.copied {
		return false
	}
	var ends [2]*poly
	for i, sign := range [...]int64{1, -1} {
		room := constPoly(math.MaxInt32).plus(-1, p)
		if sign < 0 {
			room = p.plusConst(-math.MinInt32)
		}
		if room == nil { // too far from fitting
			return false
		}
		if w.proves(room) {
			continue
		}
		if ends[i] = w.launchBound(p, sign); ends[i] == nil || !w.wanted[e] && !w.ofGrid(ends[i]) {
			return false
		}
	}
	for i, sign := range [...]int64{1, -1} {
		if ends[i] == nil {
			continue
		}
		if sign > 0 {
			w.remember(constPoly(math.MaxInt32).plus(-1, p))
		} else {
			w.remember(p.plusConst(-math.MinInt32))
		}
	}
	w.limits[e] = ends
	return true
}

// ofGrid reports whether a bound depends on the grid only: it then holds for
// practically all launches.
func (w *walker) ofGrid(p *poly) bool {
	for _, t := range p.terms {
		f := w.factors[t.mono]
		if len(f) > 2 || t.coef > 16 || t.coef < -16 {
			return false
		}
		for _, a := range f {
			if w.atoms[a].op != ir.SymDim {
				return false
			}
		}
	}
	return true
}
