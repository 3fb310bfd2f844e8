package ptx

import (
	"slices"

	"quern.dev/internal/compiler/ir"
)

// maxAlignment is the largest useful alignment.
const maxAlignment = tileAlign

// alignment returns a power of two that is known to divide the address of a place.
func (g *generator) alignment(p ir.Place) int64 {
	switch p := p.(type) {
	case *ir.SharedPlace:
		if m := g.shared.variables[p.Var]; m != nil && m.block == nil {
			return max(m.align(), 1)
		}
		return min(g.shared.dynamic.align(), lowBit(g.shared.variables[p.Var].offset))
	case *ir.FieldPlace:
		return min(g.alignment(p.X), lowBit(p.X.Type().Fields[p.Field].Offset))
	case *ir.IndexPlace:
		return min(g.alignment(p.X), g.stride(p.Index, p.Type().Size()))
	case *ir.ElemPlace:
		return min(g.sliceAlignment(p.Slice), g.stride(p.Index, p.Type().Size()))
	case *ir.ArrayPlace:
		return g.sliceAlignment(p.Slice)
	}
	return max(p.Type().Align(), 1)
}

// sliceAlignment returns an alignment of a slice's first element. Buffers can be parts
// of others, so a parameter is only known to be aligned like its elements, unless the
// launch conditions say more.
func (g *generator) sliceAlignment(e ir.Expr) int64 {
	elem := max(e.Type().Elem.Align(), 1)
	if _, ok := ir.Dynamic(e); ok {
		return dynamicAlign
	}
	switch e := e.(type) {
	case *ir.SliceExpr:
		base := int64(0)
		if e.X != nil {
			base = g.sliceAlignment(e.X)
		} else {
			base = g.alignment(e.Array)
		}
		if e.Lo != nil {
			base = min(base, g.stride(e.Lo, e.T.Elem.Size()))
		}
		return base
	case *ir.Load:
		v, ok := ir.Variable(e)
		if !ok {
			break
		}
		if g.promised(v) {
			return ir.VectorBytes
		}
		if sources := g.sources[v]; len(sources) == 1 && !g.visiting[v] {
			g.visiting[v] = true
			defer delete(g.visiting, v)
			return g.sliceAlignment(sources[0])
		}
	}
	return elem
}

// promised reports whether the launch conditions guarantee that a parameter begins at a
// multiple of ir.VectorBytes.
func (g *generator) promised(v *ir.Local) bool {
	i := slices.Index(g.kernel.Func.Params, v)
	return i >= 0 && slices.ContainsFunc(g.kernel.Limits, func(l ir.Limit) bool {
		return l.Max == 0 && l.X.Op == ir.SymAddress && l.X.Value == int64(i)
	})
}

// stride returns a power of two that divides an index times the size of an element.
func (g *generator) stride(index ir.Expr, size int64) int64 {
	return min(g.factor(index)*lowBit(size), maxAlignment)
}

// factor returns a power of two, at most maxAlignment, that divides an integer.
func (g *generator) factor(e ir.Expr) int64 {
	switch e := e.(type) {
	case *ir.Const:
		return lowBit(e.Int64())
	case *ir.Zero:
		return maxAlignment
	case *ir.Convert:
		if e.X.Type().IsInteger() {
			return g.factor(e.X)
		}
	case *ir.Binary:
		return g.factorOf(e)
	case *ir.Select:
		return min(g.factor(e.X), g.factor(e.Y))
	case *ir.Load:
		v, ok := ir.Variable(e)
		if !ok || len(g.sources[v]) == 0 {
			return 1
		}
		if g.visiting[v] {
			// Increments in a loop are covered by the assignment: multiples of a factor
			// stay multiples.
			return maxAlignment
		}
		if len(g.visiting) > 8 {
			return 1
		}
		g.visiting[v] = true
		defer delete(g.visiting, v)
		f := int64(maxAlignment)
		for _, src := range g.sources[v] {
			f = min(f, g.factor(src))
		}
		return f
	}
	return 1
}

func (g *generator) factorOf(e *ir.Binary) int64 {
	switch e.Op {
	case ir.Add, ir.Sub, ir.Or, ir.Xor:
		return min(g.factor(e.X), g.factor(e.Y))
	case ir.Mul:
		return min(g.factor(e.X)*g.factor(e.Y), maxAlignment)
	case ir.And:
		return max(g.factor(e.X), g.factor(e.Y))
	case ir.Shl:
		if c, ok := e.Y.(*ir.Const); ok && c.Bits < 10 {
			return min(g.factor(e.X)<<c.Bits, maxAlignment)
		}
		return g.factor(e.X)
	case ir.Rem:
		return min(g.factor(e.X), g.factor(e.Y))
	}
	return 1
}

// lowBit returns the largest power of two, at most maxAlignment, that divides n.
func lowBit(n int64) int64 {
	if n == 0 {
		return maxAlignment
	}
	return min(n&-n, maxAlignment)
}

// findSources finds the values of variables that only change by assignments of the
// whole variable.
func (g *generator) findSources(body []ir.Stmt) {
	g.sources, g.visiting = map[*ir.Local][]ir.Expr{}, map[*ir.Local]bool{}
	var others []*ir.Local
	v := ir.Visitor{
		Stmt: func(s ir.Stmt) bool {
			if a, ok := s.(*ir.Assign); ok {
				if p, ok := a.Dst.(*ir.VarPlace); ok {
					g.sources[p.Var] = append(g.sources[p.Var], a.Src)
				}
				return true
			}
			others = slices.AppendSeq(others, ir.Defined(s))
			return true
		},
		Expr: func(e ir.Expr) bool {
			if a, ok := e.(*ir.Addr); ok {
				if p, ok := ir.Root(a.Place).(*ir.VarPlace); ok {
					others = append(others, p.Var)
				}
			}
			return true
		},
	}
	v.Body(body)
	others = append(others, g.kernel.Func.Params...)
	for _, v := range others {
		delete(g.sources, v)
	}
}
