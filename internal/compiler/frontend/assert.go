package frontend

import (
	"go/ast"
	"go/constant"

	"quern.dev/internal/compiler/ir"
	"quern.dev/kernel"
)

// assert lowers kernel.Assert(condition, message).
func (fn *function) assert(e *ast.CallExpr) {
	message, ok := fn.constantString(e.Args[1])
	if !ok {
		fn.errorf(e.Args[1].Pos(), "the message of kernel.Assert must be a constant string; print values with kernel.Printf")
	}
	cond := fn.exprAs(e.Args[0], ir.TBool)
	pos := fn.l.pos(e.Pos())
	fn.emit(&ir.If{
		Cond: &ir.Unary{Op: ir.LNot, X: cond},
		Then: []ir.Stmt{&ir.Panic{Reason: kernel.AssertionPrefix + message, Pos: pos}},
		Pos:  pos,
	})
}

// constantString is the value of a constant string expression.
func (fn *function) constantString(e ast.Expr) (string, bool) {
	tv := fn.src.Info.Types[e]
	if tv.Value == nil || tv.Value.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(tv.Value), true
}
