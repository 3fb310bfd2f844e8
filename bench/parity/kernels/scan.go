package kernels

import "quern.dev/kernel"

const (
	// ScanTile is the number of elements that a block of blockScan adds up.
	ScanTile = ScanThreads * scanEach

	// ScanThreads is the number of threads of a block.
	ScanThreads = 256

	scanEach = 4 // elements of a thread
)

// blockScan writes the running sums of every ScanTile elements of in to out, and
// the sum of each tile to totals.
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
	sums := kernel.Shared[[ScanThreads]uint32](t)
	tx := t.ThreadIdx.X
	first := t.BlockIdx.X*ScanTile + tx*scanEach
	var mine [scanEach]uint32
	var sum uint32
	for k := range scanEach {
		if first+k < len(in) {
			sum += in[first+k]
		}
		mine[k] = sum
	}
	sums[tx] = sum
	for distance := 1; distance < ScanThreads; distance *= 2 {
		t.Sync()
		var left uint32
		if tx >= distance {
			left = sums[tx-distance]
		}
		t.Sync()
		sums[tx] += left
	}
	before := sums[tx] - sum
	for k := range scanEach {
		if first+k < len(in) {
			out[first+k] = before + mine[k]
		}
	}
	if tx == ScanThreads-1 {
		totals[t.BlockIdx.X] = sums[tx]
	}
}
