package warp

import "quern.dev/kernel"

// linear returns the index of the thread in the grid.
func linear(t kernel.Thread) int {
	b := t.BlockIdx.X + t.GridDim.X*(t.BlockIdx.Y+t.GridDim.Y*t.BlockIdx.Z)
	i := t.ThreadIdx.X + t.BlockDim.X*(t.ThreadIdx.Y+t.BlockDim.Y*t.ThreadIdx.Z)
	return b*t.BlockDim.X*t.BlockDim.Y*t.BlockDim.Z + i
}

// perThread is the number of elements that each thread of values writes.
const perThread = 20

// values executes every operation that exists for all numeric types. Lanes are arbitrary
// numbers.
func values[T kernel.Number](t kernel.Thread, in []T, lanes []int32, out []T, masks []uint32) {
	i := linear(t)
	v, lane := in[i], int(lanes[i])
	o := out[i*perThread:][:perThread]
	o[0] = kernel.Shuffle(t, v, 0)
	o[1] = kernel.Shuffle(t, v, 21)
	o[2] = kernel.Shuffle(t, v, lane)
	o[3] = kernel.ShuffleUp(t, v, 1)
	o[4] = kernel.ShuffleUp(t, v, 31)
	o[5] = kernel.ShuffleUp(t, v, lane)
	o[6] = kernel.ShuffleDown(t, v, 4)
	o[7] = kernel.ShuffleDown(t, v, 0)
	o[8] = kernel.ShuffleDown(t, v, lane)
	o[9] = kernel.ShuffleXor(t, v, 16)
	o[10] = kernel.ShuffleXor(t, v, 5)
	o[11] = kernel.ShuffleXor(t, v, lane)
	o[12] = kernel.WarpReduceAdd(t, v)
	o[13] = kernel.WarpReduceMin(t, v)
	o[14] = kernel.WarpReduceMax(t, v)
	o[15] = kernel.WarpScanAdd(t, v)
	o[16] = kernel.WarpScanExclusiveAdd(t, v)
	o[17] = kernel.WarpReduceAdd(t, v*v) + kernel.Shuffle(t, kernel.ShuffleXor(t, v, 1)+v, 3)
	masks[4*i] = kernel.MatchAny(t, v)
	mask, all := kernel.MatchAll(t, v)
	masks[4*i+1] = mask
	masks[4*i+2] = kernel.Ballot(t, all) ^ kernel.Ballot(t, v > kernel.Shuffle(t, v, 7))
	if same, _ := kernel.MatchAll(t, kernel.Shuffle(t, v, 0)); same != 0 {
		masks[4*i+3] = same
	}
}

// integers executes the operations that exist only for integers.
func integers[T kernel.Integer](t kernel.Thread, in, out []T) {
	i := linear(t)
	out[3*i] = kernel.WarpReduceAnd(t, in[i])
	out[3*i+1] = kernel.WarpReduceOr(t, in[i])
	out[3*i+2] = kernel.WarpReduceXor(t, in[i])
}

//quern:kernel
func valuesInt8(t kernel.Thread, in []int8, lanes []int32, out []int8, masks []uint32) {
	values(t, in, lanes, out, masks)
}

//quern:kernel
func integersInt8(t kernel.Thread, in, out []int8) { integers(t, in, out) }

//quern:kernel
func valuesInt16(t kernel.Thread, in []int16, lanes []int32, out []int16, masks []uint32) {
	values(t, in, lanes, out, masks)
}

//quern:kernel
func integersInt16(t kernel.Thread, in, out []int16) { integers(t, in, out) }

//quern:kernel
func valuesInt32(t kernel.Thread, in []int32, lanes []int32, out []int32, masks []uint32) {
	values(t, in, lanes, out, masks)
}

//quern:kernel
func integersInt32(t kernel.Thread, in, out []int32) { integers(t, in, out) }

//quern:kernel
func valuesInt64(t kernel.Thread, in []int64, lanes []int32, out []int64, masks []uint32) {
	values(t, in, lanes, out, masks)
}

//quern:kernel
func integersInt64(t kernel.Thread, in, out []int64) { integers(t, in, out) }

//quern:kernel
func valuesInt(t kernel.Thread, in []int, lanes []int32, out []int, masks []uint32) {
	values(t, in, lanes, out, masks)
}

//quern:kernel
func integersInt(t kernel.Thread, in, out []int) { integers(t, in, out) }

//quern:kernel
func valuesUint8(t kernel.Thread, in []uint8, lanes []int32, out []uint8, masks []uint32) {
	values(t, in, lanes, out, masks)
}

//quern:kernel
func integersUint8(t kernel.Thread, in, out []uint8) { integers(t, in, out) }

//quern:kernel
func valuesUint16(t kernel.Thread, in []uint16, lanes []int32, out []uint16, masks []uint32) {
	values(t, in, lanes, out, masks)
}

//quern:kernel
func integersUint16(t kernel.Thread, in, out []uint16) { integers(t, in, out) }

//quern:kernel
func valuesUint32(t kernel.Thread, in []uint32, lanes []int32, out []uint32, masks []uint32) {
	values(t, in, lanes, out, masks)
}

//quern:kernel
func integersUint32(t kernel.Thread, in, out []uint32) { integers(t, in, out) }

//quern:kernel
func valuesUint64(t kernel.Thread, in []uint64, lanes []int32, out []uint64, masks []uint32) {
	values(t, in, lanes, out, masks)
}

//quern:kernel
func integersUint64(t kernel.Thread, in, out []uint64) { integers(t, in, out) }

//quern:kernel
func valuesUint(t kernel.Thread, in []uint, lanes []int32, out []uint, masks []uint32) {
	values(t, in, lanes, out, masks)
}

//quern:kernel
func integersUint(t kernel.Thread, in, out []uint) { integers(t, in, out) }

//quern:kernel
func valuesFloat32(t kernel.Thread, in []float32, lanes []int32, out []float32, masks []uint32) {
	values(t, in, lanes, out, masks)
}

//quern:kernel
func valuesFloat64(t kernel.Thread, in []float64, lanes []int32, out []float64, masks []uint32) {
	values(t, in, lanes, out, masks)
}

// valuesDeclared is values in a block that is declared to consist of whole warps.
//
//quern:kernel block=64x2
func valuesDeclared(t kernel.Thread, in []float32, lanes []int32, out []float32, masks []uint32) {
	values(t, in, lanes, out, masks)
}

// valuesPartial is values in a block that is declared not to.
//
//quern:kernel block=7x9
func valuesPartial(t kernel.Thread, in []int64, lanes []int32, out []int64, masks []uint32) {
	values(t, in, lanes, out, masks)
}
