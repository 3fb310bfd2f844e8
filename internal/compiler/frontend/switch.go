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

// switchByChain lowers cases to an if-else chain, in the order in which Go
// tries them; default comes last.
func (fn *function) switchByChain(clauses []*ast.CaseClause, tag ir.Expr) {
	var def *ast.CaseClause
	var chain func(rest []*ast.CaseClause)
	chain = func(rest []*ast.CaseClause) {
		for len(rest) > 0 && rest[0].List == nil {
			def = rest[0]
			rest = rest[1:]
		}
		if len(rest) == 0 {
			if def != nil {
				fn.stmts(def.Body)
			}
			return
		}
		c := rest[0]
		cond := fn.caseCond(c, tag)
		then := fn.guarded(func() { fn.stmts(c.Body) })
		els := fn.guarded(func() { chain(rest[1:]) })
		fn.emit(&ir.If{Cond: cond, Then: then, Else: els, Pos: fn.l.pos(c.Pos())})
	}
	chain(clauses)
}

// switchByNumber finds the number of the case first and then runs the bodies in
// order, so that one can fall through to the next.
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
	var find func(i int)
	find = func(i int) {
		for i < len(clauses) && clauses[i].List == nil {
			i++
		}
		if i == len(clauses) {
			set(none)
			return
		}
		cond := fn.caseCond(clauses[i], tag)
		fn.emit(&ir.If{Cond: cond, Then: fn.guarded(func() { set(i) }), Else: fn.guarded(func() { find(i + 1) }), Pos: fn.l.pos(clauses[i].Pos())})
	}
	find(0)
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

// caseCond is the condition of a case clause, whose values are tried in order.
func (fn *function) caseCond(c *ast.CaseClause, tag ir.Expr) ir.Expr {
	matches := func(e ast.Expr) ir.Expr {
		if tag == nil {
			return fn.expr(e)
		}
		return fn.compare(ir.Eq, ir.CloneExpr(tag), fn.exprAs(e, tag.Type()), e.Pos())
	}
	cond := matches(c.List[0])
	for _, e := range c.List[1:] {
		cond = fn.shortCircuit(ir.LOr, cond, func() ir.Expr { return matches(e) }, e.Pos())
	}
	return cond
}
