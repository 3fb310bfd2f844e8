package kernels

import "quern.dev/kernel"

// The operations of windows.
const (
	Sum = iota
	Min
	Max
)

// Windows of w elements are computed at a cost that does not depend on w, after van Herk, and
// Gil and Werman. A line and what lies beyond its ends is divided into segments of w elements.
// A window that begins in one segment ends in the next one, or at the end of the same one: its
// result combines that of the elements up to the end of the segment (computed backward) and
// that of the elements of the next one (computed forward). No sum is ever subtracted, so
// neither rounding errors nor infinities spread.

func combine[T kernel.Number](op int, a, b T) T {
	switch op {
	case Sum:
		return a + b
	case Min:
		return min(a, b)
	default:
		return max(a, b)
	}
}

// neutral returns the value that changes nothing.
func neutral[T kernel.Number](op int) T {
	switch op {
	case Sum:
		return 0
	case Min:
		return highest[T]()
	default:
		return lowest[T]()
	}
}

func highest[T kernel.Number]() T {
	if T(1)/2 != 0 {
		big := float32(3e38)
		return T(big * big)
	}
	var zero T
	return zero - 1
}

func lowest[T kernel.Number]() T {
	if T(1)/2 != 0 {
		big := float32(3e38)
		return T(-big * big)
	}
	return 0
}

// mean returns a sum divided by a number, rounded to the nearest integer, ties to even.
func mean[Out, T kernel.Number](sum T, n uint32) Out {
	if T(1)/2 != 0 {
		return Out(sum / T(n))
	}
	total := uint32(sum)
	q, r := total/n, total%n
	if r > n-r || r == n-r && q&1 == 1 {
		q++
	}
	return Out(q)
}

// windowRows combines, for each element of a row, the width elements from center elements
// before it on. Each warp computes segments*width pixels of a row. Its first 32/c*c lanes
// scan: those of a channel are c apart.
//
// Unchecked, because inside returns the elements that are read, and the elements that are
// written are compared with w*c.
//
//quern:kernel block=32 unchecked only=gpu instantiate=uint8:uint8,uint16:uint16,float32:float32,uint32:uint8,uint32:uint16
func windowRows[Acc, In kernel.Number](t kernel.Thread, op, mode int, value In, width, center, segments, w, h, c, srcStride, srcPlane, dstStride, dstPlane int, src []In, dst []Acc) {
	lane := t.Lane()
	lanes := 32 / c
	pixel, channel := lane/c, lane%c
	row := src[t.BlockIdx.Z*srcPlane+t.BlockIdx.Y*srcStride:]
	out := dst[t.BlockIdx.Z*dstPlane+t.BlockIdx.Y*dstStride:]
	begin := t.BlockIdx.X * segments * width
	end := min(begin+segments*width, w)
	steps := (segments*width + lanes - 1) / lanes
	none := neutral[Acc](op)
	// Backward: lane 0 has the last pixel.
	carry := none
	for step := range steps {
		back := step*lanes + pixel // pixels from the end
		at := segments*width - 1 - back
		left := back % width // pixels between this one and the end of its segment
		v := none
		if at >= 0 && pixel < lanes {
			v = Acc(value)
			if x := inside(mode, begin+at-center, w); x >= 0 {
				v = Acc(row[x*c+channel])
			}
		}
		for d := 1; d < lanes; d *= 2 {
			u := kernel.ShuffleUp(t, v, d*c)
			if pixel >= d && left >= d {
				v = combine(op, u, v)
			}
		}
		if left > pixel { // the segment has begun in an earlier step
			v = combine(op, carry, v)
		}
		carry = kernel.Shuffle(t, v, (lanes-1)*c+channel)
		if x := begin + at; at >= 0 && pixel < lanes && x < end {
			out[x*c+channel] = v
		}
	}
	t.SyncWarp()
	// Forward, width-1 pixels ahead: what follows the segment.
	carry = none
	for step := range steps {
		at := step*lanes + pixel
		before := at % width // pixels between the start of the next segment and this one, plus 1
		v := none
		if at < segments*width && pixel < lanes && before > 0 {
			v = Acc(value)
			if x := inside(mode, begin+at+width-1-center, w); x >= 0 {
				v = Acc(row[x*c+channel])
			}
		}
		for d := 1; d < lanes; d *= 2 {
			u := kernel.ShuffleUp(t, v, d*c)
			if pixel >= d && before >= d {
				v = combine(op, u, v)
			}
		}
		if before > pixel {
			v = combine(op, carry, v)
		}
		carry = kernel.Shuffle(t, v, (lanes-1)*c+channel)
		if x := begin + at; before > 0 && at < segments*width && pixel < lanes && x < end {
			out[x*c+channel] = combine(op, out[x*c+channel], v)
		}
	}
}

// windowColumns does the same along another direction: lines of n elements that are srcStep
// apart, inner of them beside each other, outer times. Each thread computes a segment of a
// line. It keeps the backward results in partial, which is dst if their types agree. A divisor
// other than 0 turns sums into means.
//
// Unchecked, because inside returns the elements that are read, and the elements that are
// written are compared with n.
//
//quern:kernel block=256 unchecked only=gpu instantiate=uint8:uint8:uint8,uint16:uint16:uint16,float32:float32:float32,uint8:uint32:uint32,uint16:uint32:uint32
func windowColumns[Out, Acc, In kernel.Number](t kernel.Thread, op, mode int, value In, divisor uint32, width, center, inner, n, outer, srcStep, srcOuter, partialStep, partialOuter, dstStep, dstOuter int, src []In, partial []Acc, dst []Out) {
	e := t.Global()
	if e >= inner {
		return
	}
	begin := t.BlockIdx.Y * width
	end := min(begin+width, n)
	for o := t.BlockIdx.Z; o < outer; o += t.GridDim.Z {
		in := src[o*srcOuter+e:]
		part := partial[o*partialOuter+e:]
		out := dst[o*dstOuter+e:]
		v := neutral[Acc](op)
		for i := begin + width - 1; i >= begin; i-- {
			u := Acc(value)
			if at := inside(mode, i-center, n); at >= 0 {
				u = Acc(in[at*srcStep])
			}
			v = combine(op, u, v)
			if i < end {
				part[i*partialStep] = v
			}
		}
		v = neutral[Acc](op)
		for i := begin; i < end; i++ {
			if i > begin {
				u := Acc(value)
				if at := inside(mode, i+width-1-center, n); at >= 0 {
					u = Acc(in[at*srcStep])
				}
				v = combine(op, v, u)
			}
			u := combine(op, part[i*partialStep], v)
			if divisor > 0 {
				out[i*dstStep] = mean[Out](u, divisor)
			} else {
				out[i*dstStep] = Out(u)
			}
		}
	}
}

// windowRowsCPU is the form of windowRows for processors: a block of one thread computes a row.
//
//quern:kernel block=1 unchecked only=cpu instantiate=uint8:uint8,uint16:uint16,float32:float32,uint32:uint8,uint32:uint16
func windowRowsCPU[Acc, In kernel.Number](t kernel.Thread, op, mode int, value In, width, center, w, h, c, srcStride, srcPlane, dstStride, dstPlane int, src []In, dst []Acc) {
	row := src[t.BlockIdx.Z*srcPlane+t.BlockIdx.Y*srcStride:][:w*c]
	out := dst[t.BlockIdx.Z*dstPlane+t.BlockIdx.Y*dstStride:][:w*c]
	for channel := range c {
		for begin := 0; begin < w; begin += width {
			end := min(begin+width, w)
			v := neutral[Acc](op)
			for i := begin + width - 1; i >= begin; i-- {
				u := Acc(value)
				if x := inside(mode, i-center, w); x >= 0 {
					u = Acc(row[x*c+channel])
				}
				v = combine(op, u, v)
				if i < end {
					out[i*c+channel] = v
				}
			}
			v = neutral[Acc](op)
			for i := begin + 1; i < end; i++ {
				u := Acc(value)
				if x := inside(mode, i+width-1-center, w); x >= 0 {
					u = Acc(row[x*c+channel])
				}
				v = combine(op, v, u)
				out[i*c+channel] = combine(op, out[i*c+channel], v)
			}
		}
	}
}

// windowColumnsCPU is the form of windowColumns for processors: a block of one thread computes
// a segment of a strip of lines.
//
//quern:kernel block=1 unchecked only=cpu instantiate=uint8:uint8:uint8,uint16:uint16:uint16,float32:float32:float32,uint8:uint32:uint32,uint16:uint32:uint32
func windowColumnsCPU[Out, Acc, In kernel.Number](t kernel.Thread, op, mode int, value In, divisor uint32, width, center, inner, n, outer, srcStep, srcOuter, partialStep, partialOuter, dstStep, dstOuter int, src []In, partial []Acc, dst []Out) {
	var sums [strip]Acc
	e := t.BlockIdx.X * strip
	v := sums[:min(strip, inner-e)]
	begin := t.BlockIdx.Y * width
	end := min(begin+width, n)
	for o := t.BlockIdx.Z; o < outer; o += t.GridDim.Z {
		// step < width: backward, which ends with the segment's first row; then forward.
		for step := 0; step < 2*width; step++ {
			i := begin + width - 1 - step
			reads := i
			if step >= width {
				i = begin + step - width
				reads = i + width - 1
			}
			if step == 0 || step == width {
				//quern:nounroll
				for k := range v {
					v[k] = neutral[Acc](op)
				}
			}
			if step != width { // forward, the first window ends with its segment
				at := inside(mode, reads-center, n)
				in := src[:0]
				if at >= 0 {
					in = src[o*srcOuter+at*srcStep+e:][:len(v)]
				}
				addLine(op, v, in, value)
			}
			if i >= end {
				continue
			}
			part := partial[o*partialOuter+i*partialStep+e:][:len(v)]
			if step < width {
				copy(part, v)
				continue
			}
			out := dst[o*dstOuter+i*dstStep+e:][:len(v)]
			if divisor > 0 {
				//quern:nounroll
				for k, u := range part {
					out[k] = mean[Out](u+v[k], divisor)
				}
			} else {
				//quern:nounroll
				for k, u := range part {
					out[k] = Out(combine(op, u, v[k]))
				}
			}
		}
	}
}

// addLine combines each element of v with that of in, or with value if in is empty.
func addLine[Acc, In kernel.Number](op int, v []Acc, in []In, value In) {
	switch {
	case len(in) == 0:
		//quern:nounroll
		for k := range v {
			v[k] = combine(op, Acc(value), v[k])
		}
	case op == Sum:
		//quern:nounroll
		for k, u := range in {
			v[k] += Acc(u)
		}
	case op == Min:
		//quern:nounroll
		for k, u := range in {
			v[k] = min(v[k], Acc(u))
		}
	default:
		//quern:nounroll
		for k, u := range in {
			v[k] = max(v[k], Acc(u))
		}
	}
}

// maskedExtreme computes the minimum or maximum of the pixels around each one at which a mask
// of mw*mh weights is not 0. For a dilation the mask is rotated by 180 degrees.
//
// Unchecked, because inside returns the pixels that are read.
//
//quern:kernel block=32x8 unchecked instantiate=uint8,uint16,float32
func maskedExtreme[T kernel.Number](t kernel.Thread, op, mode int, value T, mw, mh, cx, cy int, w, h, c, srcStride, dstStride int, mask []float32, src, dst []T) {
	e, y := t.Global2()
	if e >= w*c || y >= h {
		return
	}
	x := e / c
	channel := e - x*c
	v := neutral[T](op)
	for j := range mh {
		yy := inside(mode, y+j-cy, h)
		for i := range mw {
			if mask[j*mw+i] == 0 {
				continue
			}
			u := value
			if xx := inside(mode, x+i-cx, w); xx >= 0 && yy >= 0 {
				u = src[yy*srcStride+xx*c+channel]
			}
			v = combine(op, u, v)
		}
	}
	dst[y*dstStride+e] = v
}

// subtract writes a - b. Differences of integers below 0 become 0.
//
//quern:kernel block=32x8 instantiate=uint8,uint16,float32
func subtract[T kernel.Number](t kernel.Thread, row, h, aStride, bStride, dstStride int, a, b, dst []T) {
	e, y := t.Global2()
	if e >= row || y >= h {
		return
	}
	u, v := a[y*aStride+e], b[y*bStride+e]
	if T(1)/2 == 0 {
		v = min(u, v)
	}
	dst[y*dstStride+e] = u - v
}
