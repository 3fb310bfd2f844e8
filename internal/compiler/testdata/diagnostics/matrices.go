package p

import "quern.dev/kernel"

//quern:kernel block=64
func inABranch(t kernel.Thread, x []int32) {
	if x[t.ThreadIdx.X] > 0 {
		var a kernel.MatrixA[int8]
		var b kernel.MatrixB[int8]
		x[t.ThreadIdx.X] = kernel.MMA(t, a, b, kernel.Accumulator[int32]{})[0]
	}
}

//quern:kernel block=64
func inABranchOfWarps(t kernel.Thread, x []int32) {
	if t.Warp() == 0 {
		var a kernel.MatrixA[int8]
		var b kernel.MatrixB[int8]
		x[t.ThreadIdx.X] = kernel.MMA(t, a, b, kernel.Accumulator[int32]{})[0]
	}
}

//quern:kernel block=32
func fromGlobalMemory(t kernel.Thread, lines [][8]kernel.Float16, x []uint32) {
	x[t.Lane()] = kernel.LoadMatrixA[kernel.Float16](t, &lines[t.Lane()])[0]
}

type odd struct {
	count uint16
	line  [8]kernel.Float16
}

//quern:kernel block=32
func misaligned(t kernel.Thread, x []uint32) {
	lines := kernel.Shared[[32]odd](t)
	lines[t.Lane()] = odd{}
	t.Sync()
	x[t.Lane()] = kernel.LoadMatrixA[kernel.Float16](t, &lines[t.Lane()].line)[0]
}
