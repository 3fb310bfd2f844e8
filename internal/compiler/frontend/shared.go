package frontend

import (
	"go/ast"
	"go/types"

	"quern.dev/internal/compiler/ir"
)

// sharedVar declares the shared variable of a kernel.Shared call.
func (fn *function) sharedVar(e *ast.CallExpr, t types.Type) ir.Expr {
	switch {
	case fn.loops > 0:
		fn.errorf(e.Pos(), "kernel.Shared is inside a loop; declare the shared variable before it")
	case fn.guards > 0:
		fn.errorf(e.Pos(), "kernel.Shared is under a condition; declare the shared variable before it")
	}
	v := &ir.SharedVar{Name: "shared", Type: fn.typ(t, e.Pos()), Pos: fn.l.pos(e.Pos())}
	if !plain(v.Type) {
		fn.errorf(e.Pos(), "shared memory cannot hold slices or pointers")
		v.Type = ir.TInt
	}
	if size := v.Type.Size(); size > ir.MaxShared {
		fn.errorf(e.Pos(), "the shared variable has %d bytes; a block has at most %d; let each block do less, or use a slice parameter", size, ir.MaxShared)
	}
	total := v.Type.Size()
	for _, other := range fn.l.kernel.Shared {
		if !other.IsDynamic() {
			total += other.Type.Size()
		}
	}
	if total > ir.MaxShared && v.Type.Size() <= ir.MaxShared {
		fn.errorf(e.Pos(), "the kernel's shared variables have %d bytes together; a block has at most %d; let each block do less, or use a slice parameter", total, ir.MaxShared)
	}
	fn.share(v)
	fn.l.sharing[fn.f] = true
	return &ir.Addr{T: ir.PointerTo(v.Type), Place: &ir.SharedPlace{Var: v}}
}

// sharedByCall reports the call of a function that declares a shared variable if it is
// inside a loop or under a condition: each call in the source has separate variables,
// which every thread of the block declares once.
func (fn *function) sharedByCall(e *ast.CallExpr, name string) {
	switch {
	case fn.loops > 0:
		fn.errorf(e.Pos(), "%s, which declares a shared variable, is called inside a loop; declare the shared variable before the loop and pass its address", name)
	case fn.guards > 0:
		fn.errorf(e.Pos(), "%s, which declares a shared variable, is called under a condition; declare the shared variable before it and pass its address", name)
	}
}

// sharedVars returns the number of variables declared so far by the kernel's calls of
// kernel.Shared.
func (l *lowering) sharedVars() int {
	n := 0
	for _, v := range l.kernel.Shared {
		if !v.IsDynamic() {
			n++
		}
	}
	return n
}

// dynamicShared returns the block's dynamic shared memory as a slice of elements of
// type t. The kernel has one variable per type.
func (fn *function) dynamicShared(e *ast.CallExpr, t types.Type) ir.Expr {
	elem := fn.typ(t, e.Pos())
	switch {
	case fn.l.inHandler():
		fn.errorf(e.Pos(), "kernel.Dynamic in the handler of an actor: the dynamic shared memory holds its messages; declare a variable with kernel.Shared")
		return &ir.Zero{T: ir.SliceOf(elem)}
	case holdsCopyBarrier(t):
		fn.errorf(e.Pos(), "kernel.Dynamic of %s: a kernel.CopyBarrier is not dynamic shared memory; declare it with kernel.Shared", types.TypeString(t, fn.l.pkg.qualifier))
		return &ir.Zero{T: ir.SliceOf(elem)}
	case !plain(elem):
		fn.errorf(e.Pos(), "shared memory cannot hold slices or pointers")
		return &ir.Zero{T: ir.SliceOf(elem)}
	case elem.Size() == 0:
		fn.errorf(e.Pos(), "kernel.Dynamic of %s, which has no bytes; use a type that has", elem)
		return &ir.Zero{T: ir.SliceOf(elem)}
	}
	for _, v := range fn.l.kernel.Shared {
		if v.IsDynamic() && v.Type.Elem.Equal(elem) && v.Type.Elem.Name == elem.Name {
			fn.f.UsesThread = true
			return &ir.Load{Place: &ir.SharedPlace{Var: v}}
		}
	}
	v := &ir.SharedVar{Name: "dynamic", Type: ir.SliceOf(elem), Pos: fn.l.pos(e.Pos())}
	fn.share(v)
	return &ir.Load{Place: &ir.SharedPlace{Var: v}}
}

// share adds a shared variable to the kernel.
func (fn *function) share(v *ir.SharedVar) {
	v.ID = len(fn.l.kernel.Shared)
	fn.l.kernel.Shared = append(fn.l.kernel.Shared, v)
	fn.f.UsesThread = true
}
