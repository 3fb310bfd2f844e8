package kernels

import "quern.dev/gpu"

// All returns the kernels.
func All() []*gpu.Kernel {
	return []*gpu.Kernel{
		quernSpin, quernFma32, quernFma64, quernClockRate,
		quernStreamCopy, quernStreamMul, quernStreamAdd, quernStreamTriad, quernStreamDot,
		quernStrided, quernGather, quernReread, quernRereadChunks, quernConflicts, quernAddAtomically,
		quernEmpty, quernTouch, quernIntegers, quernRoots, quernFunctions, quernBarriers, quernChase,
	}
}
