package kernels

import "quern.dev/kernel"

// SortTile is the number of keys that a block sorts, two per thread.
const SortTile = 1024

// bitonicSort sorts every SortTile keys with a bitonic network in shared memory.
//
//quern:kernel block=512
func bitonicSort(t kernel.Thread, keys []uint32) {
	bitonicTile(t, keys)
}

// bitonicSortUnchecked is bitonicSort without bounds checks.
//
//quern:kernel block=512 unchecked
func bitonicSortUnchecked(t kernel.Thread, keys []uint32) {
	bitonicTile(t, keys)
}

func bitonicTile(t kernel.Thread, keys []uint32) {
	tile := kernel.Shared[[SortTile]uint32](t)
	tx, first := t.ThreadIdx.X, t.BlockIdx.X*SortTile
	tile[tx] = keys[first+tx]
	tile[tx+SortTile/2] = keys[first+tx+SortTile/2]
	for size := 2; size <= SortTile; size *= 2 {
		for stride := size / 2; stride > 0; stride /= 2 {
			t.Sync()
			i := 2*tx - tx&(stride-1)
			a, b := tile[i], tile[i+stride]
			if (a > b) == (i&size == 0) {
				tile[i], tile[i+stride] = b, a
			}
		}
	}
	t.Sync()
	keys[first+tx] = tile[tx]
	keys[first+tx+SortTile/2] = tile[tx+SortTile/2]
}
