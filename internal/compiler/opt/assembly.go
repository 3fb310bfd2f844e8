package opt

import "quern.dev/internal/compiler/ir"

// inlineAssembly is the effect that takes the place of a call in caller. It has
// a destination for every result.
func inlineAssembly(caller *ir.Func, call *ir.Call) *ir.Effect {
	e := &ir.Effect{Op: ir.Inline, Func: call.Func, Args: call.Args, Pos: call.Pos, Dst: make([]*ir.Local, len(call.Func.Results))}
	copy(e.Dst, call.Dst)
	return e
}
