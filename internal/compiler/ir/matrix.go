package ir

import "quern.dev/internal/mma"

// IsLoadMatrix reports whether the operation reads matrices in shared memory.
func (op WarpOp) IsLoadMatrix() bool { return op == WarpLoadMatrix || op == WarpLoadMatrixTransposed }

// IsMMA reports whether the operation multiplies matrices.
func (op WarpOp) IsMMA() bool { return op >= WarpMMAFloat16 && op <= WarpMMAFloat64 }

// IsGroupMMA reports whether the operation multiplies tiles in shared memory.
func (op WarpOp) IsGroupMMA() bool { return op >= WarpGroupMMAFloat16 && op <= WarpGroupMMAUint8 }

// mmaFormats maps the formats of the factors to the operation.
var mmaFormats = map[[2]mma.Format]WarpOp{
	{mma.Float16, mma.Float16}:   WarpMMAFloat16,
	{mma.BFloat16, mma.BFloat16}: WarpMMABFloat16,
	{mma.TF32, mma.TF32}:         WarpMMATF32,
	{mma.Float64, mma.Float64}:   WarpMMAFloat64,
	{mma.E4M3, mma.E4M3}:         WarpMMAE4M3,
	{mma.E4M3, mma.E5M2}:         WarpMMAE4M3E5M2,
	{mma.E5M2, mma.E4M3}:         WarpMMAE5M2E4M3,
	{mma.E5M2, mma.E5M2}:         WarpMMAE5M2,
	{mma.Int8, mma.Int8}:         WarpMMAInt8,
	{mma.Int8, mma.Uint8}:        WarpMMAInt8Uint8,
	{mma.Uint8, mma.Int8}:        WarpMMAUint8Int8,
	{mma.Uint8, mma.Uint8}:       WarpMMAUint8,
}

// MMA returns the operation that multiplies matrices of two formats.
func MMA(a, b mma.Format) (op WarpOp, ok bool) {
	op, ok = mmaFormats[[2]mma.Format{a, b}]
	return op, ok
}

// GroupMMA is MMA for tiles in shared memory.
func GroupMMA(a, b mma.Format) (op WarpOp, ok bool) {
	op, ok = MMA(a, b)
	return op - WarpMMAFloat16 + WarpGroupMMAFloat16, ok && a != mma.Float64
}

// MMAFormats returns the formats of the factors of a multiplication.
func (op WarpOp) MMAFormats() (a, b mma.Format) {
	if op.IsGroupMMA() {
		op -= WarpGroupMMAFloat16 - WarpMMAFloat16
	}
	for formats, o := range mmaFormats {
		if o == op {
			return formats[0], formats[1]
		}
	}
	return 0, 0
}

// MMASum returns the element type of the sum.
func (op WarpOp) MMASum() *Type {
	switch a, _ := op.MMAFormats(); {
	case a >= mma.Int8:
		return TInt32
	case a == mma.Float64:
		return TFloat64
	}
	return TFloat32
}
