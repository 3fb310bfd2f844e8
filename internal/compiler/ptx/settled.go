package ptx

import (
	"fmt"
	"slices"
	"strings"

	"quern.dev/internal/compiler/ir"
)

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
	a := g.sharedAddress(root.Var)
	var text strings.Builder
	steady := len(g.steady.known) > 0 || g.steady.keeping
	for _, t := range slices.Concat(settled, changing) {
		steady = steady && g.describe(&text, t.index, nil)
		fmt.Fprintf(&text, "*%d", t.size)
	}
	key := steadyKey{symbol: a.symbol, index: text.String()}
	if base, ok := g.steady.known[key]; ok && steady {
		return g.offset(address{space: a.space, base: base, offset: a.offset}, offset), true
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
	for _, t := range changing {
		a = g.scaled(a, g.low32(t.index, operand{}), true, t.size)
	}
	a = g.scaled(a, sum, false, 1)
	if g.steady.keeping && steady {
		g.steady.known[key] = a.base
	}
	return g.offset(a, offset), true
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
