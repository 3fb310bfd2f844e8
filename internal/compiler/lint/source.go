package lint

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"quern.dev/internal/compiler/ir"
)

// name returns the source name of a slice, an array or a shared variable.
func (c *checker) name(object any) string {
	switch o := object.(type) {
	case *ir.Local:
		return o.Shown()
	case *ir.SharedVar:
		if name := c.source.Assigned(o.Pos); name != "" {
			return name
		}
		if o.IsDynamic() {
			return "the dynamic shared memory"
		}
		return "the shared variable"
	}
	return "memory"
}

// typeName returns the name of a type in the package.
func (c *checker) typeName(t *ir.Type) string {
	return strings.TrimPrefix(t.String(), c.source.Name+".")
}

// element returns the source form of the element at which an access begins, or the name
// of the object.
func (c *checker) element(a access) string {
	text := ""
	c.source.Find(a.pos, func(n ast.Node) bool { // the innermost one
		if i, ok := n.(*ast.IndexExpr); ok {
			text = short(i)
		}
		return false
	})
	if text == "" {
		return c.name(a.object)
	}
	return text
}

// indexes reports whether there is an index at a position in the source, which a function of
// a library may have been called from.
func (c *checker) indexes(at ir.Pos) bool {
	return c.source.Find(at, func(n ast.Node) bool {
		i, ok := n.(*ast.IndexExpr)
		if !ok {
			return false
		}
		_, isFunction := c.source.Info.TypeOf(i.X).(*types.Signature)
		return !isFunction
	}) != nil
}

// quotient returns the source form and type of the division at a position.
func (c *checker) quotient(at ir.Pos) (text string, t types.Type) {
	switch n := c.source.Find(at, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			return n.Op == token.QUO || n.Op == token.REM
		case *ast.AssignStmt:
			return n.Tok == token.QUO_ASSIGN || n.Tok == token.REM_ASSIGN
		}
		return false
	}).(type) {
	case *ast.BinaryExpr:
		return short(n), c.source.Info.TypeOf(n)
	case *ast.AssignStmt:
		if x, y := short(n.Lhs[0]), short(n.Rhs[0]); x != "" && y != "" {
			text = x + " " + n.Tok.String() + " " + y
		}
		return text, c.source.Info.TypeOf(n.Lhs[0])
	}
	return "", nil
}

// argument returns the source form of a pointer argument of the call at a position.
func (c *checker) argument(at ir.Pos, i int) string {
	call, ok := c.source.Find(at, func(n ast.Node) bool { _, ok := n.(*ast.CallExpr); return ok }).(*ast.CallExpr)
	if !ok || i >= len(call.Args) {
		return ""
	}
	if u, ok := ast.Unparen(call.Args[i]).(*ast.UnaryExpr); ok {
		return short(u.X)
	}
	return short(call.Args[i])
}

// array returns the source form of the array at a position.
func (c *checker) array(at ir.Pos) string {
	e, ok := c.source.Find(at, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return false
		}
		t := c.source.Info.TypeOf(e)
		if t == nil {
			return false
		}
		_, ok = t.Underlying().(*types.Array)
		return ok
	}).(ast.Expr)
	if !ok {
		return ""
	}
	return short(e)
}

// isComplex reports whether there is a complex number at a position in the source.
func (c *checker) isComplex(at ir.Pos) bool {
	return c.source.Find(at, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return false
		}
		t := c.source.Info.TypeOf(e)
		if t == nil {
			return false
		}
		b, ok := t.Underlying().(*types.Basic)
		return ok && b.Info()&types.IsComplex != 0
	}) != nil
}

// short returns the text of an expression, "" if it is long.
func short(e ast.Expr) string {
	const long = 48
	if text := types.ExprString(e); len(text) <= long {
		return text
	}
	return ""
}
