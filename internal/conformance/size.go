package conformance

import "quern.dev/kernel"

// farIndex computes its indices with values that need more than 32 bits if base is large.
//
//quern:kernel
func farIndex(t kernel.Thread, base, step int, in []int32, out []int32) {
	for i := t.Global(); i < len(out); i += t.Stride() {
		far := base + i*step
		out[i] = in[far%len(in)] + int32(far>>20) + int32((far-base)/step)
	}
}

// countdown has loops that count down in steps larger than one, from values above 32 bits.
//
//quern:kernel
func countdown(t kernel.Thread, from int, in []int32, out []int32) {
	i := t.Global()
	if i >= len(out) {
		return
	}
	sum := int32(0)
	for k := from; k > from-50; k -= 7 {
		sum = sum*5 + in[(k+i)%len(in)]
	}
	for k := len(in) - 1; k >= 0; k -= 3 {
		sum ^= in[k]
	}
	out[i] = sum
}

// mark writes to both ends of a slice that may have more than 2^31 elements.
//
//quern:kernel
func mark(t kernel.Thread, out []uint8) {
	for i := t.Global(); i < len(out); i += t.Stride() {
		if i%4097 == 0 || i == len(out)-1 {
			out[i] = uint8(i>>24) | 1
		}
	}
}
