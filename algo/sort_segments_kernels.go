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

// keepOutside makes the positions before the first segment and behind the last one those of the
// elements that are there.
//
//quern:kernel
func keepOutside(t kernel.Thread, ends []int32, at []uint32) {
	if i := t.Global(); i < len(at) && (i < int(ends[0]) || i >= int(ends[len(ends)-1])) {
		at[i] = uint32(i)
	}
}
