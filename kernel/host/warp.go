package host

import (
	"unsafe"

	"quern.dev/kernel"
)

// warpSize is the number of threads in a full warp.
const warpSize = 32

// The functions of this file carry out one warp operation in all warps of a
// block. Element i of src is the operand of thread i; element i of dst receives
// its result. If dst is shorter than src, the remaining results are dropped.

// SetThread makes thread n of the block, counted with X varying fastest, the
// current one. Failures are attributed to it.
func (r *Run) SetThread(n int) {
	r.ThreadIdx = kernel.Dim3{
		X: n % r.BlockDim.X,
		Y: n / r.BlockDim.X % r.BlockDim.Y,
		Z: n / (r.BlockDim.X * r.BlockDim.Y),
	}
}

// warp returns the parts of two slices that belong to the warp whose first thread
// is first.
func warp[D, S any](dst []D, src []S, first int) ([]D, []S) {
	return dst[min(first, len(dst)):min(first+warpSize, len(dst))], src[first:min(first+warpSize, len(src))]
}

func fill[T any](dst []T, v T) {
	for i := range dst {
		dst[i] = v
	}
}

// Shuffle gives every thread the value of one lane.
func Shuffle[T any](dst, src []T, lane int) {
	lane &= warpSize - 1
	for first := 0; first < len(src); first += warpSize {
		d, s := warp(dst, src, first)
		if lane < len(s) {
			fill(d, s[lane])
		} else {
			copy(d, s)
		}
	}
}

// ShuffleUp gives each thread the value of the lane delta below.
func ShuffleUp[T any](dst, src []T, delta int) {
	delta &= warpSize - 1
	for first := 0; first < len(src); first += warpSize {
		d, s := warp(dst, src, first)
		n := min(delta, len(d))
		if n < len(d) {
			copy(d[n:], s)
		}
		copy(d[:n], s)
	}
}

// ShuffleDown gives each thread the value of the lane delta above.
func ShuffleDown[T any](dst, src []T, delta int) {
	delta &= warpSize - 1
	for first := 0; first < len(src); first += warpSize {
		d, s := warp(dst, src, first)
		n := 0
		if delta < len(s) {
			n = copy(d, s[delta:])
		}
		if n < len(d) {
			copy(d[n:], s[n:])
		}
	}
}

// ShuffleXor gives each thread the value of the lane whose number has the bits of
// mask flipped.
func ShuffleXor[T any](dst, src []T, mask int) {
	mask &= warpSize - 1
	for first := 0; first < len(src); first += warpSize {
		d, s := warp(dst, src, first)
		for i := range d {
			from := i ^ mask
			if from >= len(s) {
				from = i
			}
			d[i] = s[from]
		}
	}
}

// Gather gives each thread the value of the lane that it names, or its own value
// if that lane does not exist.
func Gather[T any](dst, src []T, lanes []int) {
	for first := 0; first < len(src); first += warpSize {
		d, s := warp(dst, src, first)
		_, from := warp(dst, lanes, first)
		for i := range d {
			if at := from[i]; uint(at) < uint(len(s)) {
				d[i] = s[at]
			} else {
				d[i] = s[i]
			}
		}
	}
}

// Ballot gives every thread a mask of the lanes that have true.
func Ballot[B ~bool](dst []uint32, src []B) {
	for first := 0; first < len(src); first += warpSize {
		d, s := warp(dst, src, first)
		var mask uint32
		for i, p := range s {
			var bit uint32
			if p {
				bit = 1
			}
			mask |= bit << i
		}
		fill(d, mask)
	}
}

// Any reports whether any lane has true.
func Any[B ~bool](dst []bool, src []B) {
	for first := 0; first < len(src); first += warpSize {
		d, s := warp(dst, src, first)
		any := false
		for _, p := range s {
			any = any || bool(p)
		}
		fill(d, any)
	}
}

// All reports whether all lanes have true.
func All[B ~bool](dst []bool, src []B) {
	for first := 0; first < len(src); first += warpSize {
		d, s := warp(dst, src, first)
		all := true
		for _, p := range s {
			all = all && bool(p)
		}
		fill(d, all)
	}
}

// MatchAny gives each thread a mask of the lanes that have the same bits.
func MatchAny[T any](dst []uint32, src []T) {
	for first := 0; first < len(src); first += warpSize {
		d, s := warp(dst, src, first)
		for i := range d {
			d[i] = matching(s, &s[i])
		}
	}
}

// MatchAll gives every thread a mask of all lanes, and true, if all lanes have
// the same bits.
func MatchAll[T any](mask []uint32, all []bool, src []T) {
	for first := 0; first < len(src); first += warpSize {
		m, s := warp(mask, src, first)
		a, _ := warp(all, src, first)
		lanes := matching(s, &s[0])
		same := lanes == uint32(1<<len(s)-1)
		if !same {
			lanes = 0
		}
		fill(m, lanes)
		fill(a, same)
	}
}

func matching[T any](values []T, v *T) uint32 {
	var mask uint32
	for i := range values {
		var bit uint32
		if sameBits(&values[i], v) {
			bit = 1
		}
		mask |= bit << i
	}
	return mask
}

// sameBits compares numbers as integers of their size, which is a constant in
// each instance. Numbers have no pointers and are aligned to their size.
func sameBits[T any](x, y *T) bool {
	switch unsafe.Sizeof(*x) {
	case 1:
		return *(*uint8)(unsafe.Pointer(x)) == *(*uint8)(unsafe.Pointer(y))
	case 2:
		return *(*uint16)(unsafe.Pointer(x)) == *(*uint16)(unsafe.Pointer(y))
	case 4:
		return *(*uint32)(unsafe.Pointer(x)) == *(*uint32)(unsafe.Pointer(y))
	}
	return *(*uint64)(unsafe.Pointer(x)) == *(*uint64)(unsafe.Pointer(y))
}

// ReduceAdd gives every thread the sum over the warp. It adds in tree order, with
// distances of 16, 8, 4, 2 and 1.
func ReduceAdd[T kernel.Number](dst, src []T) {
	if len(src) == warpSize && len(dst) == 1 {
		dst[0] = Sum((*[warpSize]T)(src))
		return
	}
	for first := 0; first < len(src); first += warpSize {
		d, s := warp(dst, src, first)
		if len(s) == warpSize {
			fill(d, Sum((*[warpSize]T)(s)))
			continue
		}
		var v [warpSize]T
		n := copy(v[:], s)
		for step := warpSize / 2; step > 0; step /= 2 {
			for i := range min(step, n-step) {
				v[i] += v[i+step]
			}
		}
		fill(d, v[0])
	}
}

// Sum returns what ReduceAdd gives the threads of a full warp.
func Sum[T kernel.Number](s *[warpSize]T) T {
	q0 := ((s[0] + s[16]) + (s[8] + s[24])) + ((s[4] + s[20]) + (s[12] + s[28]))
	q1 := ((s[1] + s[17]) + (s[9] + s[25])) + ((s[5] + s[21]) + (s[13] + s[29]))
	q2 := ((s[2] + s[18]) + (s[10] + s[26])) + ((s[6] + s[22]) + (s[14] + s[30]))
	q3 := ((s[3] + s[19]) + (s[11] + s[27])) + ((s[7] + s[23]) + (s[15] + s[31]))
	return (q0 + q2) + (q1 + q3)
}

// ReduceMin gives every thread the smallest value of the warp, or NaN if there is
// one.
func ReduceMin[T kernel.Number](dst, src []T) {
	for first := 0; first < len(src); first += warpSize {
		d, s := warp(dst, src, first)
		v0, v1, v2, v3 := s[0], s[0], s[0], s[0]
		for ; len(s) >= 4; s = s[4:] {
			v0, v1, v2, v3 = min(v0, s[0]), min(v1, s[1]), min(v2, s[2]), min(v3, s[3])
		}
		for _, v := range s {
			v0 = min(v0, v)
		}
		fill(d, min(min(v0, v1), min(v2, v3)))
	}
}

// ReduceMax gives every thread the largest value of the warp, or NaN if there is
// one.
func ReduceMax[T kernel.Number](dst, src []T) {
	for first := 0; first < len(src); first += warpSize {
		d, s := warp(dst, src, first)
		v0, v1, v2, v3 := s[0], s[0], s[0], s[0]
		for ; len(s) >= 4; s = s[4:] {
			v0, v1, v2, v3 = max(v0, s[0]), max(v1, s[1]), max(v2, s[2]), max(v3, s[3])
		}
		for _, v := range s {
			v0 = max(v0, v)
		}
		fill(d, max(max(v0, v1), max(v2, v3)))
	}
}

// ReduceAnd gives every thread the bitwise and over the warp.
func ReduceAnd[T kernel.Integer](dst, src []T) {
	for first := 0; first < len(src); first += warpSize {
		d, s := warp(dst, src, first)
		v := s[0]
		for _, w := range s {
			v &= w
		}
		fill(d, v)
	}
}

// ReduceOr gives every thread the bitwise or over the warp.
func ReduceOr[T kernel.Integer](dst, src []T) {
	for first := 0; first < len(src); first += warpSize {
		d, s := warp(dst, src, first)
		var v T
		for _, w := range s {
			v |= w
		}
		fill(d, v)
	}
}

// ReduceXor gives every thread the bitwise exclusive or over the warp.
func ReduceXor[T kernel.Integer](dst, src []T) {
	for first := 0; first < len(src); first += warpSize {
		d, s := warp(dst, src, first)
		var v T
		for _, w := range s {
			v ^= w
		}
		fill(d, v)
	}
}

// ScanAdd gives each thread the sum over the lanes up to and including its own.
// Each lane adds the values of the lanes 1, 2, 4, 8 and 16 below, in this order.
func ScanAdd[T kernel.Number](dst, src []T) {
	for first := 0; first < len(src); first += warpSize {
		d, s := warp(dst, src, first)
		scan(d, s[:len(d)])
	}
}

// ScanExclusiveAdd gives each thread the result of ScanAdd in the lane below, and
// zero to lane 0.
func ScanExclusiveAdd[T kernel.Number](dst, src []T) {
	for first := 0; first < len(src); first += warpSize {
		d, s := warp(dst, src, first)
		scan(d[1:], s[:len(d)-1])
		d[0] = 0
	}
}

// scan writes the running sums of s to d. Both have the same length.
func scan[T kernel.Number](d, s []T) {
	d = d[:len(s)]
	if T(1)/T(2) == 0 { // the order of integer additions does not matter
		var sum T
		for i, w := range s {
			sum += w
			d[i] = sum
		}
		return
	}
	copy(d, s)
	for step := 1; step < len(d); step *= 2 {
		for i := len(d) - 1; i >= step; i-- {
			d[i] += d[i-step]
		}
	}
}
