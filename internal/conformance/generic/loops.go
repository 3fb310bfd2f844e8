package generic

import "quern.dev/kernel"

// unrolled has loops with unroll hints: they count up and down, in steps, with constant
// and variable bounds, with break and continue, and over integers that wrap around.
//
//quern:kernel
func unrolled(t kernel.Thread, n int32, x []int32) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	v := x[i]
	//quern:unroll
	for j := range 5 {
		v += int32(j) * v
	}
	//quern:unroll 4
	for j := range n {
		v += j ^ v
	}
	//quern:unroll 3
	for j := n; j > -2; j -= 2 {
		v = v*3 + j
	}
	k := int32(0)
	//quern:unroll 8
	for ; k <= v&31; k += 3 {
		if k == n {
			continue
		}
		if k*k > 400 {
			break
		}
		v += k * n
	}
	v += k
	//quern:nounroll
	for j := range 4 {
		v ^= int32(j) << 3
	}
	//quern:unroll 5
	for j := uint8(250); j >= 3; j -= 4 {
		v += int32(j)
	}
	//quern:unroll 2
outer:
	for j := int64(n) - 5; j < int64(n); j++ {
		//quern:unroll 2
		for l := int16(0); l < int16(n)+4; l++ {
			if l == 11 {
				continue outer
			}
			if int64(l)+j == 40 {
				break outer
			}
			v += int32(l) + int32(j)
		}
	}
	//quern:unroll 4
	for v > 1000 {
		v /= 2
	}
	x[i] = v
}

// atTheEdges counts to the limits of integer types, where the bound of the unrolled loop
// must not wrap around.
//
//quern:kernel
func atTheEdges(t kernel.Thread, n int64, x []int64) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	v := int64(0)
	first, last := int64(-1<<63), int64(1<<63-1)
	//quern:unroll 4
	for j := first; j < first+n; j++ {
		v = v*5 + j>>60
	}
	//quern:unroll 4
	for j := last; j > last-n; j-- {
		v = v*7 + j&3
	}
	//quern:unroll 4
	for j := uint64(0); j < uint64(n)&7; j++ {
		v += int64(j)
	}
	m := int8(n)
	//quern:unroll 16
	for j := int8(-120); j < m; j += 9 {
		v = v*3 + int64(j)
		if j > 110 {
			break
		}
	}
	x[i] += v
}

// reduced sums slices of a slice in an unrolled loop with checked indices.
//
//quern:kernel
func reduced(t kernel.Thread, x []float32, sums []float32) {
	if i := t.Global(); i < len(sums) {
		s := float32(0)
		//quern:unroll 4
		for j := i; j < len(x); j += len(sums) {
			s += x[j]
		}
		//quern:unroll 4
		for j := range x {
			s += x[j] * 0.5
		}
		sums[i] = s
	}
}
