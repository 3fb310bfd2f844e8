package frontend

import (
	"go/ast"
	"go/constant"
	"go/token"
	"slices"

	"quern.dev/internal/compiler/ir"
)

// link is one condition of an if-else chain, with the statements that run if it is the
// first condition that holds.
type link struct {
	cond func() ir.Expr
	body func()
	pos  token.Pos
}

// maxChain is the maximum number of links that become nested ifs. The output of the
// back ends nests as deeply.
const maxChain = 64

// chain lowers an if-else chain. A long chain is split into groups of links. Each group
// leaves the chain or continues with the next group:
//
//	{
//		if a { ...; break } else if b { ...; break }
//		if c { ...; break } else if d { ...; break }
//		otherwise
//	}
func (fn *function) chain(links []link, otherwise func()) {
	if len(links) <= maxChain {
		fn.nestedChain(links, nil, otherwise)
		return
	}
	done := &ir.Label{Name: "chain"}
	body := fn.list(func() {
		fn.nestedChain(links[:maxChain], done, func() {})
		fn.out = append(fn.out, fn.guarded(func() {
			for group := range slices.Chunk(links[maxChain:], maxChain) {
				fn.nestedChain(group, done, func() {})
			}
			otherwise()
		})...)
	})
	fn.emit(&ir.Block{Label: done, Body: body})
}

// nestedChain lowers links to nested ifs. If done is set, the bodies leave the block
// with that label.
func (fn *function) nestedChain(links []link, done *ir.Label, otherwise func()) {
	if len(links) == 0 {
		otherwise()
		return
	}
	l := links[0]
	cond := l.cond()
	then := fn.guarded(l.body)
	if done != nil && !endsInJump(then) {
		then = append(then, &ir.Break{Label: done})
	}
	els := fn.guarded(func() { fn.nestedChain(links[1:], done, otherwise) })
	fn.emit(&ir.If{Cond: cond, Then: then, Else: els, Pos: fn.l.pos(l.pos)})
}

// endsInJump reports whether the end of a list is unreachable.
func endsInJump(list []ir.Stmt) bool {
	if len(list) == 0 {
		return false
	}
	switch list[len(list)-1].(type) {
	case *ir.Break, *ir.Continue, *ir.Return, *ir.Panic:
		return true
	}
	return false
}

// ifStmt lowers an if statement with its else-ifs. A constant condition selects code;
// the other code need not be compilable.
func (fn *function) ifStmt(s *ast.IfStmt) {
	if s.Init != nil {
		fn.stmt(s.Init, "")
	}
	switch value, known := fn.constantCondition(s); {
	case known && value:
		fn.stmts(s.Body.List)
		return
	case known:
		if s.Else != nil {
			fn.stmt(s.Else, "")
		}
		return
	}
	links := []link{fn.linkOf(s, false)}
	rest := s.Else
	for {
		next, ok := rest.(*ast.IfStmt)
		if !ok {
			break
		}
		if _, known := fn.constantCondition(next); known {
			break
		}
		links = append(links, fn.linkOf(next, true))
		rest = next.Else
	}
	fn.chain(links, func() {
		if rest != nil {
			fn.stmt(rest, "")
		}
	})
}

// linkOf returns an if statement as a link, with or without its init statement.
func (fn *function) linkOf(s *ast.IfStmt, init bool) link {
	return link{
		cond: func() ir.Expr {
			if init && s.Init != nil {
				fn.stmt(s.Init, "")
			}
			return fn.expr(s.Cond)
		},
		body: func() { fn.stmts(s.Body.List) },
		pos:  s.Cond.Pos(),
	}
}

// constantCondition returns the value of a constant condition.
func (fn *function) constantCondition(s *ast.IfStmt) (value, ok bool) {
	v := fn.src.Info.Types[s.Cond].Value
	return v != nil && constant.BoolVal(v), v != nil
}
