package opt

import "quern.dev/internal/compiler/ir"

// propagate replaces variables that are assigned once by their value: a constant, or
// another variable with one value. It replaces only variables in the filter, or all if
// the filter is nil.
func propagate(f *ir.Func, filter map[*ir.Local]bool) {
	p := newPropagation(f, filter)
	r := ir.Rewriter{Expr: p.expr, Place: p.place, Stmt: p.stmt}
	f.Body = r.Body(f.Body)
	f.Locals = p.remaining(f.Locals)
}

type propagation struct {
	uses   usages
	filter map[*ir.Local]bool
	consts map[*ir.Local]*ir.Const
	vars   map[*ir.Local]*ir.Local
}

func newPropagation(f *ir.Func, filter map[*ir.Local]bool) *propagation {
	return &propagation{uses: countUses(f), filter: filter, consts: map[*ir.Local]*ir.Const{}, vars: map[*ir.Local]*ir.Local{}}
}

func (p *propagation) expr(e ir.Expr) ir.Expr {
	l, ok := e.(*ir.Load)
	if !ok {
		return e
	}
	v, ok := l.Place.(*ir.VarPlace)
	if !ok {
		return e
	}
	if c, ok := p.consts[v.Var]; ok {
		k := *c
		return &k
	}
	return e
}

func (p *propagation) place(pl ir.Place) ir.Place {
	if v, ok := pl.(*ir.VarPlace); ok {
		if w, ok := p.vars[v.Var]; ok {
			v.Var = w
		}
	}
	return pl
}

// stmt drops an assignment whose variable is replaced from here on.
func (p *propagation) stmt(s ir.Stmt) []ir.Stmt {
	a, ok := s.(*ir.Assign)
	if !ok {
		return []ir.Stmt{s}
	}
	dst, ok := a.Dst.(*ir.VarPlace)
	if !ok || p.filter != nil && !p.filter[dst.Var] || !p.uses[dst.Var].once() {
		return []ir.Stmt{s}
	}
	switch src := a.Src.(type) {
	case *ir.Const:
		p.consts[dst.Var] = src
		return nil
	case *ir.Zero:
		if c := zeroConst(src.T); c != nil {
			p.consts[dst.Var] = c
			return nil
		}
	case *ir.Load:
		if v, ok := src.Place.(*ir.VarPlace); ok && p.uses[v.Var].once() && v.Var.Type.Name == dst.Var.Type.Name {
			p.vars[dst.Var] = v.Var
			return nil
		}
	}
	return []ir.Stmt{s}
}

// remaining removes the replaced variables from a list.
func (p *propagation) remaining(list []*ir.Local) []*ir.Local {
	out := list[:0]
	for _, v := range list {
		if p.consts[v] == nil && p.vars[v] == nil {
			out = append(out, v)
		}
	}
	return out
}

// zeroConst returns the zero of a number or bool type as a constant, nil for other
// types.
func zeroConst(t *ir.Type) *ir.Const {
	if t.IsInteger() || t.IsFloat() || t.IsHalf() || t.Kind == ir.Bool {
		return &ir.Const{T: t}
	}
	return nil
}
