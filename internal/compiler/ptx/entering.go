package ptx

import "quern.dev/internal/compiler/ir"

// A quotient or root that only a loop needs, and which stands in front of it, is computed once
// it is known that the loop runs:
//
//	if !(i < n) { goto end }
//	step = h / 6
//	head: ...
//	if i < n { goto head }
//
// Before the branch, ptxas (13.5) keeps the operands of the slow path in registers throughout the
// loop.

// mostEntering is the number of statements before a loop that are considered.
const mostEntering = 4

// entering returns how many statements at the start of a list belong to the loop behind them.
func (g *generator) entering(list []ir.Stmt) int {
	for i, s := range list[:min(len(list), mostEntering+1)] {
		loop, ok := s.(*ir.Loop)
		if !ok {
			if !isLongOfVariables(s) {
				return 0
			}
			continue
		}
		if i == 0 || !testsAtBottom(loop) || len(leadingLoops(list[i:])) > 1 {
			return 0
		}
		inside := map[*ir.Local]int{}
		countMentions(loop.Body, inside)
		if g.mentions == nil {
			g.mentions = map[*ir.Local]int{}
			countMentions(g.kernel.Func.Body, g.mentions)
		}
		for _, s := range list[:i] {
			v := s.(*ir.Assign).Dst.(*ir.VarPlace).Var
			if g.mentions[v] != inside[v]+1 {
				return 0
			}
		}
		return i
	}
	return 0
}

// isLongOfVariables reports whether a statement assigns a quotient or root of variables.
func isLongOfVariables(s ir.Stmt) bool {
	a, ok := s.(*ir.Assign)
	if !ok {
		return false
	}
	if _, ok := a.Dst.(*ir.VarPlace); !ok || ir.MayFault(a.Src) {
		return false
	}
	switch e := a.Src.(type) {
	case *ir.Binary:
		ok = e.Op == ir.Div && e.Type().IsFloat()
	case *ir.Intrinsic:
		ok = e.Op == ir.Sqrt
	default:
		return false
	}
	v := ir.Visitor{Place: func(p ir.Place) bool {
		_, isVar := ir.Root(p).(*ir.VarPlace)
		ok = ok && isVar
		return ok
	}}
	v.Value(a.Src)
	return ok
}

func countMentions(list []ir.Stmt, mentions map[*ir.Local]int) {
	v := ir.Visitor{Place: func(p ir.Place) bool {
		if p, ok := p.(*ir.VarPlace); ok {
			mentions[p.Var]++
		}
		return true
	}}
	v.Body(list)
}
