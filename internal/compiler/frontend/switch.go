package frontend

import (
	"go/ast"
	"go/token"

	"quern.dev/internal/compiler/ir"
)

func (fn *function) switchStmt(s *ast.SwitchStmt, label string) {
	if s.Init != nil {
		fn.stmt(s.Init, "")
	}
	var tag ir.Expr
	if s.Tag != nil {
		tag = fn.stable(fn.expr(s.Tag), s.Tag.Pos())
	}
	brk := &ir.Label{Name: labelOr(label, "switch")}
	fn.targets = append(fn.targets, target{name: label, brk: brk})
	defer func() { fn.targets = fn.targets[:len(fn.targets)-1] }()

	clauses := make([]*ast.CaseClause, len(s.Body.List))
	fallsThrough := false
	for i, c := range s.Body.List {
		clauses[i] = c.(*ast.CaseClause)
		fallsThrough = fallsThrough || endsInFallthrough(clauses[i])
	}
	body := fn.list(func() {
		if fallsThrough {
			fn.switchByNumber(clauses, tag, s.Pos())
		} else {
			fn.switchByChain(clauses, tag)
		}
	})
	fn.emit(&ir.Block{Label: brk, Body: body})
}

// switchByChain lowers cases to an if-else chain, in the order in which Go evaluates
// them; default comes last.
func (fn *function) switchByChain(clauses []*ast.CaseClause, tag ir.Expr) {
	otherwise := func() {}
	var links []link
	for _, c := range clauses {
		body := func() { fn.stmts(c.Body) }
		if c.List == nil {
			otherwise = body
			continue
		}
		links = append(links, link{func() ir.Expr { return fn.caseCond(c, tag) }, body, c.Pos()})
	}
	fn.chain(links, otherwise)
}

// switchByNumber first finds the number of the case and then runs the bodies in order,
// so that one can fall through to the next.
func (fn *function) switchByNumber(clauses []*ast.CaseClause, tag ir.Expr, pos token.Pos) {
	number := fn.newLocal("selected", ir.TInt, pos)
	set := func(i int) {
		fn.emit(&ir.Assign{Dst: &ir.VarPlace{Var: number}, Src: ir.IntConst(ir.TInt, int64(i)), Pos: fn.l.pos(pos)})
	}
	none := len(clauses)
	for i, c := range clauses {
		if c.List == nil {
			none = i
		}
	}
	var links []link
	for i, c := range clauses {
		if c.List != nil {
			links = append(links, link{func() ir.Expr { return fn.caseCond(c, tag) }, func() { set(i) }, c.Pos()})
		}
	}
	fn.chain(links, func() { set(none) })
	for i, c := range clauses {
		body := fn.guarded(func() {
			list := c.Body
			through := endsInFallthrough(c)
			if through {
				list = list[:len(list)-1]
			}
			fn.stmts(list)
			if through {
				set(i + 1)
			}
		})
		fn.emit(&ir.If{
			Cond: &ir.Binary{Op: ir.Eq, X: ir.Get(number), Y: ir.IntConst(ir.TInt, int64(i))},
			Then: body, Pos: fn.l.pos(c.Pos()),
		})
	}
}

func endsInFallthrough(c *ast.CaseClause) bool {
	if len(c.Body) == 0 {
		return false
	}
	b, ok := c.Body[len(c.Body)-1].(*ast.BranchStmt)
	return ok && b.Tok == token.FALLTHROUGH
}

// caseCond returns the condition of a case clause, whose values are tested in order.
func (fn *function) caseCond(c *ast.CaseClause, tag ir.Expr) ir.Expr {
	return fn.anyOf(c.List, func(e ast.Expr) ir.Expr {
		if tag == nil {
			return fn.expr(e)
		}
		return fn.compare(ir.Eq, ir.CloneExpr(tag), fn.exprAs(e, tag.Type()), e.Pos())
	})
}

// anyOf returns whether any value of a list matches, as an expression of minimal depth.
func (fn *function) anyOf(list []ast.Expr, matches func(ast.Expr) ir.Expr) ir.Expr {
	if len(list) == 1 {
		return matches(list[0])
	}
	half := len(list) - 1
	if len(list) > maxChain {
		half = len(list) / 2
	}
	x := fn.anyOf(list[:half], matches)
	return fn.shortCircuit(ir.LOr, x, func() ir.Expr { return fn.anyOf(list[half:], matches) }, list[half].Pos())
}
