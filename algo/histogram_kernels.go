package algo

import "quern.dev/kernel"

// maxLocalBins is how many bins a block counts in shared memory.
const maxLocalBins = 48 << 10 / 4

// histogram counts the elements of in by bin. bin returns the bin of an element, or a negative
// number. A block counts in copies of the bins in shared memory, one per group of warps, unless
// copies is 0.
//
//quern:unchecked
func histogram[T any](t kernel.Thread, copies, bins int, in []T, counts []uint32, bin func(x T) int) {
	local := kernel.Dynamic[uint32](t)
	for i := t.ThreadIdx.X; i < copies*bins; i += t.BlockDim.X {
		local[i] = 0
	}
	t.Sync()
	if copies == 0 {
		for i := t.Global(); i < len(in); i += t.Stride() {
			if b := bin(in[i]); b >= 0 {
				kernel.AtomicAdd(&counts[b], 1)
			}
		}
		return
	}
	first := t.Warp() % copies * bins
	for i := t.Global(); i < len(in); i += t.Stride() {
		if b := bin(in[i]); b >= 0 {
			kernel.AtomicAdd(&local[first+b], 1, kernel.BlockScope)
		}
	}
	t.Sync()
	for i := t.ThreadIdx.X; i < bins; i += t.BlockDim.X {
		n := uint32(0)
		for c := range copies {
			n += local[c*bins+i]
		}
		if n > 0 {
			kernel.AtomicAdd(&counts[i], n)
		}
	}
}

// histogramPart counts a part of in per thread, in bins counters of its own.
func histogramPart[T any](t kernel.Thread, part, bins int, in []T, counts []uint32, bin func(x T) int) {
	p := t.Global()
	if (p+1)*bins > len(counts) {
		return
	}
	own := counts[p*bins : (p+1)*bins]
	clear(own)
	for _, x := range in[min(p*part, len(in)):min((p+1)*part, len(in))] {
		if b := bin(x); b >= 0 {
			own[b]++
		}
	}
}

// addParts adds up the counters of all parts.
//
//quern:kernel only=cpu
func addParts(t kernel.Thread, parts int, partial, counts []uint32) {
	i := t.Global()
	if i >= len(counts) {
		return
	}
	n := uint32(0)
	for p := range parts {
		n += partial[p*len(counts)+i]
	}
	counts[i] = n
}

// evenBin returns the bin of x, of bins bins of equal width from low to high, or -1.
func evenBin[T kernel.Float](x, low, high, scale T, bins int) int {
	if !(x >= low && x <= high) {
		return -1
	}
	return min(int((x-low)*scale), bins-1)
}

// edgeBin returns the bin of x: the last one whose lower edge is not above x. The last edge
// belongs to the last bin.
func edgeBin[T kernel.Number](x T, edges []T) int {
	last := len(edges) - 1
	if !(x >= edges[0] && x <= edges[last]) {
		return -1
	}
	low, high := 0, last // edges[low] <= x, and x < edges[high] or high is the last
	for high-low > 1 {
		if mid := int(uint(low+high) / 2); x >= edges[mid] {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}

// valueBin returns the bin of an integer: the value itself if there is a bin for it.
func valueBin[T kernel.Integer](x T, bins int) int {
	if x < 0 || int(x) >= bins {
		return -1
	}
	return int(x)
}

//quern:kernel block=256 only=gpu instantiate=float32,float64
func histogramEven[T kernel.Float](t kernel.Thread, copies, bins int, low, high, scale T, in []T, counts []uint32) {
	histogram(t, copies, bins, in, counts, func(x T) int { return evenBin(x, low, high, scale, bins) })
}

//quern:kernel only=cpu instantiate=float32,float64
func histogramEvenParts[T kernel.Float](t kernel.Thread, part, bins int, low, high, scale T, in []T, counts []uint32) {
	p := t.Global()
	if (p+1)*bins > len(counts) {
		return
	}
	own := counts[p*bins : (p+1)*bins]
	clear(own)
	// As evenBin, with fewer comparisons. What is above high is, also when it is rounded, in the bin of high or beyond.
	within := own[:min(uint((high-low)*scale), uint(len(own)))]
	for _, x := range in[min(p*part, len(in)):min((p+1)*part, len(in))] {
		b := int((x - low) * scale)
		if x >= low && uint(b) < uint(len(within)) {
			within[b]++
		} else if x >= low && x <= high {
			own[min(uint(b), uint(len(own)-1))]++
		}
	}
}

//quern:kernel block=256 only=gpu instantiate=int32,float32,float64
func histogramEdges[T kernel.Number](t kernel.Thread, copies, bins int, edges, in []T, counts []uint32) {
	histogram(t, copies, bins, in, counts, func(x T) int { return edgeBin(x, edges) })
}

//quern:kernel only=cpu instantiate=int32,float32,float64
func histogramEdgesParts[T kernel.Number](t kernel.Thread, part, bins int, edges, in []T, counts []uint32) {
	histogramPart(t, part, bins, in, counts, func(x T) int { return edgeBin(x, edges) })
}

//quern:kernel block=256 only=gpu instantiate=uint8,uint16,int32,int64
func histogramValues[T kernel.Integer](t kernel.Thread, copies, bins int, in []T, counts []uint32) {
	histogram(t, copies, bins, in, counts, func(x T) int { return valueBin(x, bins) })
}

//quern:kernel only=cpu instantiate=uint8,uint16,int32,int64
func histogramValuesParts[T kernel.Integer](t kernel.Thread, part, bins int, in []T, counts []uint32) {
	histogramPart(t, part, bins, in, counts, func(x T) int { return valueBin(x, bins) })
}
