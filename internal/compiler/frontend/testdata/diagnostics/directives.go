package p

import "quern.dev/kernel"

//quern:kernel

func detached(t kernel.Thread, x []int) {}

// quern:kernel
func spaced(t kernel.Thread, x []int) {}

// documented has its directive in its comment.
//
// quern:kernel unchecked block=16x16
func documented(t kernel.Thread, x []int) {}

// quern:kernel stands in this sentence, which is no mistake.
//
//	quern:kernel
func mentions() {}

//quern:kernel unchecked
//quern:kernel fastmath
func twice(t kernel.Thread, x []int) {
	//quern:kernel
	x[0] = 1
}

type (
	//quern:kernel
	inner int
)

//quern:kernel
func WARP_SZ(t kernel.Thread, x []int) {}

//quern:unchecked indices
func uncheckedWithOption(x []int) int { return x[0] }

//quern:unchecked
type uncheckedType int
