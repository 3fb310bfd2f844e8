package opt

import "quern.dev/internal/compiler/ir"

// inlineAssembly returns the effect that replaces a call in caller. It has one
// destination per result.
func inlineAssembly(caller *ir.Func, call *ir.Call) *ir.Effect {
	e := &ir.Effect{Op: ir.Inline, Func: call.Func, Args: call.Args, Pos: call.Pos, Dst: make([]*ir.Local, len(call.Func.Results))}
	copy(e.Dst, call.Dst)
	return e
}
