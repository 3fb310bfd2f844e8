package ptx

import "quern.dev/internal/compiler/ir"

// settledFirst computes the address of an element of a shared variable with several
// unchecked indices. It adds the indices that do not change first, and then the others.
// ptxas does not reorder sums, so it computes the first part once. It computes the
// second part in uniform registers if possible, because an access can add one to its
// address.
func (g *generator) settledFirst(p *ir.IndexPlace) (address, bool) {
	type term struct {
		index ir.Expr
		size  int64
	}
	var settled, changing []term
	var place ir.Place = p
	offset := int64(0)
	for {
		switch q := place.(type) {
		case *ir.FieldPlace:
			offset += q.X.Type().Fields[q.Field].Offset
			place = q.X
			continue
		case *ir.IndexPlace:
			if q.Check {
				return address{}, false
			}
			size := q.Type().Size()
			variable, constant := splitIndex(stripWidening(q.Index), q.X.Type().Len)
			if c, ok := variable.(*ir.Const); ok {
				offset += c.Int64() * size
			} else if t := (term{stripWidening(variable), size}); g.settled(t.index) {
				settled = append(settled, t)
			} else {
				changing = append(changing, t)
			}
			offset += constant * size
			place = q.X
			continue
		}
		break
	}
	root, ok := place.(*ir.SharedPlace)
	if !ok || len(settled) == 0 || len(changing) == 0 {
		return address{}, false
	}
	var sum operand
	for _, t := range settled {
		x, size := g.low32(t.index, operand{}), intOperand(b32Class, uint64(t.size))
		next := g.register(b32Class)
		if sum.isNone() {
			g.emit("mul.lo.u32", next, x, size)
		} else {
			g.emit("mad.lo.u32", next, x, size, sum)
		}
		sum = next
	}
	a := g.sharedAddress(root.Var)
	for _, t := range changing {
		a = g.scaled(a, g.low32(t.index, operand{}), true, t.size)
	}
	return g.offset(g.scaled(a, sum, false, 1), offset), true
}

// settled reports whether an expression has a single value while the thread runs.
func (g *generator) settled(e ir.Expr) bool {
	switch e := e.(type) {
	case *ir.Const, *ir.ThreadValue:
		return true
	case *ir.Load:
		v, ok := ir.Variable(e)
		if !ok {
			return false
		}
		if home := g.variable(v); home.isParam && !home.assigned {
			return true
		}
		if len(g.sources[v]) != 1 || g.visiting[v] {
			return false
		}
		g.visiting[v] = true
		defer delete(g.visiting, v)
		return g.settled(g.sources[v][0])
	case *ir.Convert:
		return g.settled(e.X)
	case *ir.Unary:
		return g.settled(e.X)
	case *ir.Binary:
		return g.settled(e.X) && g.settled(e.Y)
	}
	return false
}
