package gohost

import "quern.dev/internal/compiler/ir"

// conditions replaces variables in conditions by the comparisons of coordinates that
// they hold, so that a row can run the conditional statements for a range of threads:
//
//	ok := 0 < x && x < n
//	t.Sync()
//	if ok { ... }
//
// It reports whether it has changed any. The variables that the block has in common are
// once.
func conditions(fn *ir.Func, f *facts, once map[*ir.Local]bool) bool {
	f.once = once
	defer func() { f.once = nil }()
	changed := false
	visitList := func(list []ir.Stmt) {
		for i, s := range list {
			set, ok := s.(*ir.Assign)
			if !ok {
				continue
			}
			dst, ok := set.Dst.(*ir.VarPlace)
			if !ok || dst.Var.Type.Kind != ir.Bool || f.addressed[dst.Var] || f.local(dst.Var) != varying || f.level(set.Src) != perThread || !f.isRange(set.Src) {
				continue
			}
			needs := readsOf(set.Src)
			for _, t := range list[i+1:] {
				if c, ok := t.(*ir.If); ok {
					if v, ok := ir.Variable(c.Cond); ok && v == dst.Var {
						c.Cond, changed = ir.CloneExpr(set.Src), true
					}
				}
				u := uses(t)
				if u.writes[dst.Var] || writesAny(u, needs) {
					break
				}
			}
		}
	}
	visitList(fn.Body)
	v := ir.Visitor{Stmt: func(s ir.Stmt) bool {
		for _, list := range children(s) {
			visitList(list)
		}
		return true
	}}
	v.Body(fn.Body)
	return changed
}

func writesAny(u, needs usage) bool {
	for v := range needs.reads {
		if u.writes[v] {
			return true
		}
	}
	return false
}

// isRange reports whether a range of a row passes a condition, or none of it.
func (f *facts) isRange(x ir.Expr) bool {
	ranged := false
	for _, c := range f.conjunction(x, false) {
		if !f.isGuard(c) {
			return false
		}
		ranged = ranged || f.level(c) > perRow
	}
	return ranged
}
