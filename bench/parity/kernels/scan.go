package kernels

import "quern.dev/kernel"

const (
	// ScanTile is the number of elements that a block of blockScan scans.
	ScanTile = ScanThreads * scanEach

	// ScanThreads is the number of threads per block.
	ScanThreads = 256

	scanEach = 4 // elements per thread
)

// blockScan writes the running sums of every ScanTile elements of in to out, and the sum
// of each tile to totals.
//
//quern:kernel block=256
func blockScan(t kernel.Thread, in, out, totals []uint32) {
	scanTile(t, in, out, totals)
}

// blockScanUnchecked is blockScan without bounds checks.
//
//quern:kernel block=256 unchecked
func blockScanUnchecked(t kernel.Thread, in, out, totals []uint32) {
	scanTile(t, in, out, totals)
}

func scanTile(t kernel.Thread, in, out, totals []uint32) {
	warps := kernel.Shared[[ScanThreads / 32]uint32](t)
	first := t.BlockIdx.X*ScanTile + t.ThreadIdx.X*scanEach
	var mine [scanEach]uint32
	var sum uint32
	for k := range scanEach {
		if first+k < len(in) {
			sum += in[first+k]
		}
		mine[k] = sum
	}
	upTo := kernel.WarpScanAdd(t, sum)
	if t.Lane() == 31 {
		warps[t.Warp()] = upTo
	}
	t.Sync()
	if t.Warp() == 0 {
		var w uint32
		if t.Lane() < len(warps) {
			w = warps[t.Lane()]
		}
		w = kernel.WarpScanAdd(t, w)
		if t.Lane() < len(warps) {
			warps[t.Lane()] = w
		}
	}
	t.Sync()
	before := upTo - sum
	if t.Warp() > 0 {
		before += warps[t.Warp()-1]
	}
	for k := range scanEach {
		if first+k < len(in) {
			out[first+k] = before + mine[k]
		}
	}
	if t.ThreadIdx.X == ScanThreads-1 {
		totals[t.BlockIdx.X] = before + sum
	}
}
