package p

import "quern.dev/kernel"

//quern:kernel block=32
func typesThatDoNotGoTogether(t kernel.Thread, x []float32) {
	var a kernel.MatrixA[kernel.Float16]
	var b kernel.MatrixB[kernel.BFloat16]
	var c kernel.Accumulator[float32]
	c = kernel.MMA(t, a, b, c)
	var d kernel.MatrixB[int8]
	c = kernel.MMA(t, a, d, c)
	x[0] = c[0]
}

//quern:kernel block=32
func wrongSums(t kernel.Thread, x []int32, y []float32) {
	var a kernel.MatrixA[kernel.Float16]
	var b kernel.MatrixB[kernel.Float16]
	var c kernel.Accumulator[int32]
	x[0] = kernel.MMA(t, a, b, c)[0]
	var d kernel.MatrixA[int8]
	var e kernel.MatrixB[uint8]
	var f kernel.Accumulator[float32]
	y[0] = kernel.MMA(t, d, e, f)[0]
}

//quern:kernel
func partialWarps(t kernel.Thread, x []float32) {
	tile := kernel.Shared[[16][2][4]float32](t)
	a := kernel.LoadMatrixA[float32](t, &tile[t.Lane()%16][t.Lane()/16])
	b, _ := kernel.LoadMatrixBTransposed[float32](t, &tile[t.Lane()%16][t.Lane()/16])
	x[0] = kernel.MMA(t, a, b, kernel.Accumulator[float32]{})[0]
}

//quern:kernel block=48
func oneAndAHalfWarps(t kernel.Thread, x []int32) {
	var a kernel.MatrixA[int8]
	var b kernel.MatrixB[int8]
	x[0] = kernel.MMA(t, a, b, kernel.Accumulator[int32]{})[0]
}

//quern:kernel block=32
func linesOfAnotherType(t kernel.Thread, x []uint32) {
	tile := kernel.Shared[[16][2][8]kernel.Float16](t)
	a := kernel.LoadMatrixA[kernel.BFloat16](t, &tile[t.Lane()%16][t.Lane()/16])
	b, _ := kernel.LoadMatrixB[kernel.BFloat16](t, &tile[t.Lane()%16][t.Lane()/16])
	x[0] = a[0] + b[0]
}
