package algo

import "quern.dev/kernel"

// segmentsOf writes to segments how many of ends are not above the positions at.
//
//quern:kernel
func segmentsOf(t kernel.Thread, ends []int32, at, segments []uint32) {
	i := t.Global()
	if i >= len(at) || i >= len(segments) {
		return
	}
	position := int32(at[i])
	low, high := 0, len(ends) // ends[low-1] <= position < ends[high]
	for low < high {
		if mid := int(uint(low+high) / 2); ends[mid] <= position {
			low = mid + 1
		} else {
			high = mid
		}
	}
	segments[i] = uint32(low)
}

// placeSegments copies the keys at the positions at to out, one after another. Places before the
// first segment and behind the last one keep what they have.
//
//quern:kernel instantiate=uint8,uint16,uint32,uint64
func placeSegments[W chunk](t kernel.Thread, ends []int32, at []uint32, in, out []W) {
	if i := t.Global(); i < len(out) && i < len(at) && i >= int(ends[0]) && i < int(ends[len(ends)-1]) {
		out[i] = in[at[i]]
	}
}
