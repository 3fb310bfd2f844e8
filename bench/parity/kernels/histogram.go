package kernels

import "quern.dev/kernel"

// HistogramThreads is the number of threads per block of histogram, one per bin.
const HistogramThreads = 256

// histogram adds to bins the number of occurrences of each value in data.
//
//quern:kernel block=256
func histogram(t kernel.Thread, data []uint8, bins []uint32) {
	histogramBins(t, data, bins)
}

// histogramUnchecked is histogram without bounds checks.
//
//quern:kernel block=256 unchecked
func histogramUnchecked(t kernel.Thread, data []uint8, bins []uint32) {
	histogramBins(t, data, bins)
}

func histogramBins(t kernel.Thread, data []uint8, bins []uint32) {
	local := kernel.Shared[[256]uint32](t)
	tx := t.ThreadIdx.X
	local[tx] = 0
	t.Sync()
	for i := t.Global(); i < len(data); i += t.Stride() {
		kernel.AtomicAdd(&local[data[i]], 1)
	}
	t.Sync()
	kernel.AtomicAdd(&bins[tx], local[tx])
}
