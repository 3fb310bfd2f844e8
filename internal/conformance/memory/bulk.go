package memory

import "quern.dev/kernel"

// bulkPipeline sums tiles like pipeline, with bulk copies.
//
//quern:kernel
func bulkPipeline(t kernel.Thread, tiles int, a []float32, out []float32) {
	const stages = 3
	arrived := kernel.Shared[[stages]kernel.CopyBarrier](t)
	ring := kernel.Shared[[stages][256]float32](t)
	i, n := t.ThreadIdx.X, t.BlockDim.X
	a = a[t.BlockIdx.X*tiles*256:]
	for s := range stages - 1 {
		if s < tiles {
			kernel.BulkCopy(t, &arrived[s], ring[s][:], a[s*256:])
		}
	}
	sum := float32(0)
	for k := range tiles {
		kernel.BulkWait(t, &arrived[k%stages])
		if next := k + stages - 1; next < tiles {
			kernel.BulkCopy(t, &arrived[next%stages], ring[next%stages][:], a[next*256:])
		}
		for j := i; j < 256; j += n {
			sum += ring[k%stages][j] * float32(k+1)
		}
	}
	out[t.Global()] = sum
}

// anySize copies from any element to the end, with several copies and one wait for all of
// them.
//
//quern:kernel
func anySize(t kernel.Thread, from int, a []int16, b []float64, out []int64) {
	arrived := kernel.Shared[kernel.CopyBarrier](t)
	words := kernel.Shared[[20]float64](t)
	small := kernel.Dynamic[int16](t)
	i := t.ThreadIdx.X + t.ThreadIdx.Y*t.BlockDim.X
	for k := i; k < 20; k += t.BlockDim.X * t.BlockDim.Y {
		words[k] = -1
	}
	t.Sync()
	kernel.BulkCopy(t, arrived, small, a[from:])
	kernel.BulkCopy(t, arrived, words[1:], b)
	kernel.BulkCopy(t, arrived, words[:0], b)
	kernel.BulkWait(t, arrived)
	sum := int64(0)
	for k := range len(small) {
		sum = sum*31 + int64(small[k])
	}
	for k := range 20 {
		sum = sum*31 + int64(2*words[k])
	}
	out[i] = sum
}

// forgotBulkWait reads data before it arrives.
//
//quern:kernel
func forgotBulkWait(t kernel.Thread, a, out []int32) {
	arrived := kernel.Shared[kernel.CopyBarrier](t)
	s := kernel.Shared[[32]int32](t)
	kernel.BulkCopy(t, arrived, s[:], a)
	t.Sync()
	out[t.ThreadIdx.X] = s[t.ThreadIdx.X]
	kernel.BulkWait(t, arrived)
}

// overwritesInUse copies to memory that other threads still read.
//
//quern:kernel
func overwritesInUse(t kernel.Thread, a, out []int32) {
	arrived := kernel.Shared[kernel.CopyBarrier](t)
	s := kernel.Shared[[32]int32](t)
	s[t.ThreadIdx.X] = a[t.ThreadIdx.X]
	t.Sync()
	sum := s[31-t.ThreadIdx.X]
	kernel.BulkCopy(t, arrived, s[:], a)
	kernel.BulkWait(t, arrived)
	out[t.ThreadIdx.X] = sum + s[t.ThreadIdx.X]
}
