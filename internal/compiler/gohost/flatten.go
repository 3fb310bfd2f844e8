package gohost

import "quern.dev/internal/compiler/ir"

// flatten replaces blocks that nothing jumps out of, such as bodies of inlined
// functions, by their statements, and negates conditions with only an else branch.
func flatten(f *ir.Func) {
	r := ir.Rewriter{Stmt: func(s ir.Stmt) []ir.Stmt {
		if b, ok := s.(*ir.Block); ok && !breaks(b.Body, b.Label) && !continues(b.Body, b.Label) {
			return b.Body
		}
		if c, ok := s.(*ir.If); ok && len(c.Then) == 0 && len(c.Else) > 0 {
			return []ir.Stmt{&ir.If{Cond: &ir.Unary{Op: ir.LNot, X: c.Cond}, Then: c.Else, Pos: c.Pos}}
		}
		return []ir.Stmt{s}
	}}
	f.Body = r.Body(f.Body)
}
