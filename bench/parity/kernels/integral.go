package kernels

import "quern.dev/kernel"

// IntegralThreads is the number of threads per block of integral.
const IntegralThreads = 256

// integral writes the running sums of each row of an image of width w, one row per block.
//
//quern:kernel block=IntegralThreads also=unchecked
func integral(t kernel.Thread, w int, in []uint8, out []uint32) {
	warps := kernel.Shared[[IntegralThreads / 32]uint32](t)
	row := t.BlockIdx.X * w
	var carry uint32 // sum of the pixels to the left of the tile
	for left := 0; left < w; left += IntegralThreads {
		x := left + t.ThreadIdx.X
		var v uint32
		if x < w {
			v = uint32(in[row+x])
		}
		v = kernel.WarpScanAdd(t, v)
		if t.Lane() == 31 {
			warps[t.Warp()] = v
		}
		t.Sync()
		var total uint32
		for i, s := range warps {
			if i < t.Warp() {
				v += s
			}
			total += s
		}
		if x < w {
			out[row+x] = carry + v
		}
		carry += total
		t.Sync()
	}
}
