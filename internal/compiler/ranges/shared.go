package ranges

import "quern.dev/internal/compiler/ir"

// dynamicLength returns the length of dynamic shared memory as a slice. An extra launch
// argument after the others gives the size in bytes.
func (w *walker) dynamicLength(v *ir.SharedVar) *poly {
	bytes := w.launchAtom(ir.SymArg, int64(len(w.kernel.Func.Params)), interval{0, ir.MaxShared})
	size := v.Type.Elem.Size()
	if size == 1 {
		return bytes
	}
	return w.launchOp(ir.SymDiv, bytes, constPoly(size))
}
