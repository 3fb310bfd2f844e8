package p

import "quern.dev/kernel"

//quern:kernel
func undeclared(t kernel.Thread, out []int32) {
	out[0] = missing
	out[1] = 1.5
}

// Go's own errors come first: this kernel is looked at when they are gone.
//
//quern:kernel
func unsupported(t kernel.Thread, out []int32) {
	m := map[int]int{}
	out[0] = int32(m[1])
}
