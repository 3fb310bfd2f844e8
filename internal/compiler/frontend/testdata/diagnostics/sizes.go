package p

import "quern.dev/kernel"

//quern:kernel
func largeParameter(t kernel.Thread, x []int32, table [1100]float32) {}

// 16 + 4320 bytes, and 12 of the compiler.
//
//quern:kernel
func fits(t kernel.Thread, x []int32, table [1080]float32) {}

// The same with an address that has to be aligned.
//
//quern:kernel
func tooManyByFour(t kernel.Thread, x []int32, flag bool, a [1079]float32, b float32) {}

type row struct {
	values [512]float64
	last   bool
}

//quern:kernel
func severalParameters(t kernel.Thread, a row, x []float64, b row, y []float64) {}

//quern:kernel
func emptyParameters(t kernel.Thread, x []int, none struct{}, zero [0]int) {}

//quern:kernel
func largeLocal(t kernel.Thread, x []int32) {
	var fits [1 << 17]int32
	var local [1<<17 + 1]int32
	for i := range local {
		local[i] = x[i]
	}
	x[0] = local[x[1]] + fits[x[2]]
}

//quern:kernel
func absurdLocals(t kernel.Thread, x []int) {
	var a [1 << 40]int
	var b [1 << 32][1 << 32]int
	var c [1 << 36]struct {
		a [1 << 10]int
		b bool
	}
	x[0] = a[0] + b[1][1] + c[2].a[3]
}

var large [1 << 36]int

//quern:kernel
func largeTable(t kernel.Thread, x []int) {
	x[0] = large[x[1]]
}

//quern:kernel
func elements(t kernel.Thread, x [][1 << 20]int) {
	x[0][5] = 1
	y := x[1]
	for i, v := range x[2] {
		x[0][i] = v + y[i]
	}
}

type (
	half  struct{ a [1 << 36]int }
	whole struct{ a, b half }
	twice struct{ a, b whole }
)

//quern:kernel
func structs(t kernel.Thread, x []int) {
	var a twice
	x[0] = a.b.a.a[0]
}
