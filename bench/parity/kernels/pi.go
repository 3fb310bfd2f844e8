package kernels

import "quern.dev/kernel"

// pi adds to hits[0] the number of random points of the unit square that are within the
// unit circle. Each thread draws 2*rounds points, with the generator's counters that begin
// with the thread's index.
//
//quern:kernel block=256
func pi(t kernel.Thread, rounds int, seed uint32, hits []uint32) {
	piCount(t, rounds, seed, hits)
}

// piUnchecked is pi without bounds checks.
//
//quern:kernel block=256 unchecked
func piUnchecked(t kernel.Thread, rounds int, seed uint32, hits []uint32) {
	piCount(t, rounds, seed, hits)
}

func piCount(t kernel.Thread, rounds int, seed uint32, hits []uint32) {
	total := kernel.Shared[uint32](t)
	if t.ThreadIdx.X == 0 {
		*total = 0
	}
	t.Sync()
	var count uint32
	for round := range rounds {
		r := kernel.Philox([4]uint32{uint32(t.Global()), uint32(round)}, [2]uint32{seed})
		if within(r[0], r[1]) {
			count++
		}
		if within(r[2], r[3]) {
			count++
		}
	}
	kernel.AtomicAdd(total, count)
	t.Sync()
	if t.ThreadIdx.X == 0 {
		kernel.AtomicAdd(&hits[0], *total)
	}
}

// within reports whether a point is in the circle. Its coordinates have 24 bits.
func within(a, b uint32) bool {
	x, y := float32(a>>8)*(1./(1<<24)), float32(b>>8)*(1./(1<<24))
	return x*x+y*y < 1
}
