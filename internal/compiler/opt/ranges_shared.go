package opt

import (
	"strconv"

	"quern.dev/internal/compiler/ir"
)

// dynamicLength is the length of the dynamic shared memory as a slice, which is
// the same all through the kernel.
func (w *rangeWalk) dynamicLength(v *ir.SharedVar) *poly {
	path := "dynamic" + strconv.Itoa(v.ID)
	if w.fields[path] == nil {
		w.fields[path] = w.fresh(interval{0, min(w.maxLen(), ir.MaxDynamic(v.Type.Elem))})
	}
	return w.fields[path]
}
