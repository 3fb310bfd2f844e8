package ranges

import "quern.dev/internal/compiler/ir"

// dynamicLength is the length of the dynamic shared memory as a slice: a launch
// argument behind the others gives the bytes.
func (w *walker) dynamicLength(v *ir.SharedVar) *poly {
	bytes := w.launchAtom(ir.SymArg, int64(len(w.kernel.Func.Params)), interval{0, ir.MaxShared})
	size := v.Type.Elem.Size()
	if size == 1 {
		return bytes
	}
	return w.launchOp(ir.SymDiv, bytes, constPoly(size))
}
