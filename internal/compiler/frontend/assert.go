package frontend

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"

	"quern.dev/internal/compiler/ir"
	"quern.dev/kernel"
)

// assert lowers kernel.Assert(condition, message).
func (fn *function) assert(e *ast.CallExpr) {
	message, ok := fn.constantString(e.Args[1])
	if !ok {
		fn.notConstant(e.Args[1], "the message of kernel.Assert must be a constant string; print values with kernel.Printf")
	}
	cond := fn.exprAs(e.Args[0], ir.TBool)
	pos := fn.l.pos(e.Pos())
	fn.emit(&ir.If{
		Cond: &ir.Unary{Op: ir.LNot, X: cond},
		Then: []ir.Stmt{&ir.Panic{Reason: kernel.AssertionPrefix + message, Pos: pos}},
		Pos:  pos,
	})
}

// notConstant reports text that is not a constant string. For a variable, this replaces
// the error about the variable's type, whose advice to use bytes would not help.
func (fn *function) notConstant(e ast.Expr, msg string) {
	if id, ok := ast.Unparen(e).(*ast.Ident); ok {
		if v, ok := fn.src.Info.Uses[id].(*types.Var); ok {
			declared := fn.l.diagnostic(v.Pos(), fn.l.kernel.Name, unsupported(types.Typ[types.String]))
			fn.l.diags = slices.DeleteFunc(fn.l.diags, func(d Diagnostic) bool { return d == declared })
		}
	}
	fn.errorf(e.Pos(), "%s", msg)
}

// constantString returns the value of a constant string expression.
func (fn *function) constantString(e ast.Expr) (string, bool) {
	tv := fn.src.Info.Types[e]
	if tv.Value == nil || tv.Value.Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(tv.Value), true
}
