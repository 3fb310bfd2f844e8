package p

import "quern.dev/kernel"

//quern:unroll
func aboveAFunction(x []int32) {}

//quern:kernel
func misplaced(t kernel.Thread, x []int32) {
	//quern:unroll 4

	for i := range x {
		x[i]++
	}
	//quern:nounroll
	x[0] = 1 //quern:unroll
	for i := range x {
		x[i]++ //quern:unroll 2
	}
	// quern:unroll 8
	for i := range x { //quern:unroll
		for x[i] > 0 {
			x[i]--
		}
	}
}

//quern:kernel
func malformed(t kernel.Thread, x []int32) {
	//quern:unroll 0
	for i := range x {
		x[i]++
	}
	//quern:unroll many
	for i := range x {
		x[i]++
	}
	//quern:unroll 4 8
	for i := range x {
		x[i]++
	}
	//quern:unroll 65
	for i := range x {
		x[i]++
	}
	//quern:nounroll 1
	for i := range x {
		x[i]++
	}
	//quern:unrol
	for i := range x {
		x[i]++
	}
	//quern:unrolled
	for i := range x {
		x[i]++
	}
	//quern:unroll=4
	for i := range x {
		x[i]++
	}
	//quern:no-unroll
	for i := range x {
		x[i]++
	}
	//quern:pipeline
	for i := range x {
		x[i]++
	}
	//quern:kernal
	for i := range x {
		x[i]++
	}
	//quern:
}

//quern:uncheked
func trusted(x []int32) { x[0]++ }
