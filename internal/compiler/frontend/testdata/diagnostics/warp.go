package p

import "quern.dev/kernel"

//quern:kernel
func laneOutOfRange(t kernel.Thread, x []float32) {
	x[0] = kernel.Shuffle(t, x[0], 32)
	x[1] = kernel.ShuffleDown(t, x[1], -1)
	x[2] = kernel.ShuffleXor(t, x[2], 1<<10)
}

type named struct{ slice []int32 }

//quern:kernel
func wrongTypes(t kernel.Thread, p *[4]int32, x []int32) {
	y := kernel.Shuffle(t, x, 0)
	_ = y
	q := kernel.ShuffleUp(t, &x[0], 1)
	_ = q
	_ = kernel.ShuffleXor(t, named{x}, 1)
}
