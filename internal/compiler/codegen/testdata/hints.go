package codegen

import "quern.dev/kernel"

// A loop that is unrolled four times has one comparison for four elements; the
// launch promises that the slice is long enough, so that no index is checked.
//
// ptx:-"setp.ge.u"
//
//quern:kernel
func unrolled(t kernel.Thread, x, sums []float32) {
	if i := t.Global(); i < len(sums) {
		s := float32(0)
		//quern:unroll 4
		for j := range x { // ptx:"pragma .nounroll."
			s += x[j] // ptx:"ld.global.f32"
		}
		sums[i] = s
	}
}

// A short loop that would be unrolled stays.
//
// ptx:"pragma .nounroll."
//
//quern:kernel
func rolled(t kernel.Thread, x []int32) {
	//quern:nounroll
	for j := range 4 {
		x[t.Global()*4+j]++
	}
}

// A long loop that would stay is unrolled: no loop is left.
//
// ptx:-"bra" ptx:-"pragma"
//
//quern:kernel unchecked
func whole(t kernel.Thread, x []int32) {
	v := x[t.Global()]
	//quern:unroll
	for j := range int32(200) {
		v = v*3 + j // ptx:-"setp"
	}
	x[t.Global()] = v
}
