package frontend

import (
	"go/token"
	"go/types"
)

// holdsCopyBarrier reports whether values of a type contain a kernel.CopyBarrier, not
// counting what they point to.
func holdsCopyBarrier(t types.Type) bool {
	if isKernelType(t, "CopyBarrier") {
		return true
	}
	switch u := t.Underlying().(type) {
	case *types.Array:
		return holdsCopyBarrier(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if holdsCopyBarrier(f.Type()) {
				return true
			}
		}
	}
	return false
}

// copied reports values that must not be copied: a GPU identifies a barrier by its
// address, and its state changes while copies arrive.
func (fn *function) copied(t types.Type, pos token.Pos) {
	if t != nil && holdsCopyBarrier(t) {
		fn.errorf(pos, "a kernel.CopyBarrier cannot be copied; declare it with kernel.Shared and pass its address")
	}
}
