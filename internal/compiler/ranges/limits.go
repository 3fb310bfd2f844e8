package ranges

import (
	"math"
	"slices"

	"quern.dev/internal/compiler/ir"
)

// launchConditions returns the launch conditions of the variant: first those of single
// arguments, then those of results and promised checks, in the order of the body and
// without redundant ones.
func (w *walker) launchConditions() ir.Limits {
	if w.variant == Wide {
		return nil
	}
	var out ir.Limits
	for i, v := range w.kernel.Func.Params {
		arg := &ir.Sym{Op: ir.SymArg, Value: int64(i)}
		switch {
		case v.Type.Kind == ir.Slice:
			out = append(out, ir.Limit{X: arg, Max: math.MaxInt32})
		case w.sizes[v] && w.has(v):
			r := w.launchable(v)
			negative := &ir.Sym{Op: ir.SymSub, X: &ir.Sym{}, Y: arg}
			out = append(out, ir.Limit{X: arg, Max: r.hi}, ir.Limit{X: negative, Max: -r.lo})
		}
	}
	for _, p := range w.prune(w.collectLimits()) {
		out = append(out, ir.Limit{X: w.sym(p.plusConst(-p.c)), Max: -p.c})
	}
	return out
}

func (w *walker) has(v *ir.Local) bool {
	_, ok := w.index[v]
	return ok
}

// collectLimits returns polynomials that must not be positive, one per shape, in the
// order of the body.
func (w *walker) collectLimits() []*poly {
	var out []*poly
	at := map[shapeID]int{}
	add := func(p *poly) {
		if p == nil || w.launchRange(p).hi <= 0 {
			return
		}
		s := w.shape(p)
		i, ok := at[s]
		if !ok {
			at[s] = len(out)
			out = append(out, p)
		} else if p.c > out[i].c {
			out[i] = p
		}
	}
	promises := func(check *bool) {
		for _, p := range w.promises[check] {
			add(p.negated())
		}
	}
	v := ir.Visitor{
		Expr: func(e ir.Expr) bool {
			if ends, ok := w.limits[e]; ok {
				if ends[0] != nil {
					add(ends[0].plusConst(-math.MaxInt32))
				}
				if ends[1] != nil {
					add(constPoly(math.MinInt32).plus(-1, ends[1]))
				}
			}
			promises(ir.BoundsCheck(e))
			return true
		},
		Place: func(p ir.Place) bool { promises(ir.BoundsCheck(p)); return true },
	}
	v.Body(w.kernel.Func.Body)
	return out
}

// prune drops p <= 0 if q <= 0 is required too and implies it for all launches.
func (w *walker) prune(list []*poly) []*poly {
	cases := make([][]*poly, len(list))
	for i, p := range list {
		cases[i] = w.cases(p)
	}
	dropped := make([]bool, len(list))
	for i := range list {
		for j := len(list) - 1; j >= 0 && !dropped[i]; j-- { // unrolled code often ends with the largest index
			dropped[i] = i != j && !dropped[j] && w.implies(cases[j], cases[i])
		}
	}
	i := -1
	return slices.DeleteFunc(list, func(*poly) bool { i++; return dropped[i] })
}

// cases splits a condition p <= 0 with p = q - max(x, y) into q - x <= 0 and q - y <=
// 0, one of which must hold.
func (w *walker) cases(p *poly) []*poly {
	for _, t := range p.terms {
		f := w.factors[t.mono]
		if t.coef != -1 || len(f) != 1 || w.atoms[f[0]].op != ir.SymMax {
			continue
		}
		a := &w.atoms[f[0]]
		rest := p.plus(1, w.self[f[0]])
		x, y := rest.plus(-1, a.x), rest.plus(-1, a.y)
		if x == nil || y == nil {
			break
		}
		return append(w.cases(x), w.cases(y)...)
	}
	return []*poly{p}
}

// implies reports whether q <= 0 for one of qs implies p <= 0 for one of ps.
func (w *walker) implies(qs, ps []*poly) bool {
	for _, q := range qs {
		if !slices.ContainsFunc(ps, func(p *poly) bool { return w.neverBelow(q, p) }) {
			return false
		}
	}
	return true
}

// neverBelow reports whether p >= q for all launches.
func (w *walker) neverBelow(p, q *poly) bool {
	d := p.plus(-1, q)
	return d != nil && w.launchRange(d).lo >= 0
}

// sym converts a polynomial over launch atoms to an expression.
func (w *walker) sym(p *poly) *ir.Sym {
	var sum *ir.Sym
	add := func(coef int64, x *ir.Sym) {
		op := ir.SymAdd
		if coef < 0 && sum != nil && coef != math.MinInt64 {
			op, coef = ir.SymSub, -coef
		}
		switch {
		case x == nil:
			x = &ir.Sym{Value: coef}
		case coef != 1:
			x = &ir.Sym{Op: ir.SymMul, X: &ir.Sym{Value: coef}, Y: x}
		}
		if sum == nil {
			sum = x
			return
		}
		sum = &ir.Sym{Op: op, X: sum, Y: x}
	}
	terms := slices.Clone(p.terms)
	slices.SortStableFunc(terms, func(a, b polyTerm) int { // positive terms first, so that sums do not start with a negation
		switch {
		case a.coef > 0 && b.coef < 0:
			return -1
		case a.coef < 0 && b.coef > 0:
			return 1
		}
		return 0
	})
	for _, t := range terms {
		var x *ir.Sym
		for _, id := range w.factors[t.mono] {
			y := w.atomSym(&w.atoms[id])
			if x == nil {
				x = y
				continue
			}
			x = &ir.Sym{Op: ir.SymMul, X: x, Y: y}
		}
		add(t.coef, x)
	}
	if p.c != 0 || sum == nil {
		add(p.c, nil)
	}
	return sum
}

func (w *walker) atomSym(a *atom) *ir.Sym {
	if a.op <= ir.SymDim {
		return &ir.Sym{Op: a.op, Value: a.value}
	}
	return &ir.Sym{Op: a.op, X: w.sym(a.x), Y: w.sym(a.y)}
}
