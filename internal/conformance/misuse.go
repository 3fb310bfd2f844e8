package conformance

import "quern.dev/kernel"

// Kernels with mistakes that the simulator detects and a GPU does not.

//quern:kernel
func globalRace(t kernel.Thread, out []int32) {
	out[t.Global()/2] = int32(t.Global())
}

//quern:kernel
func raceBetweenBlocks(t kernel.Thread, out []int32) {
	if t.ThreadIdx.X == 0 {
		out[0] += 1
	}
}

//quern:kernel block=32
func missingBarrier(t kernel.Thread, in, out []int32) {
	s := kernel.Shared[[32]int32](t)
	s[t.ThreadIdx.X] = in[t.Global()]
	out[t.Global()] = s[31-t.ThreadIdx.X]
}

//quern:kernel block=32
func sharedRace(t kernel.Thread, in, out []int32) {
	s := kernel.Shared[[32]int32](t)
	s[t.ThreadIdx.X] = in[t.Global()]
	t.Sync()
	s[31-t.ThreadIdx.X] += s[t.ThreadIdx.X]
	t.Sync()
	out[t.Global()] = s[t.ThreadIdx.X]
}

//quern:kernel
func readsUnwritten(t kernel.Thread, in, out []int32) {
	out[t.Global()] = in[t.Global()]
}

//quern:kernel unchecked
func uncheckedOutOfBounds(t kernel.Thread, in, out []int32) {
	out[t.Global()] = in[t.Global()+len(in)]
}

//quern:kernel
func neverEnds(t kernel.Thread, out []int32) {
	for out[t.Global()] >= 0 {
		out[t.Global()]++
		out[t.Global()]--
	}
}
