package template

import "quern.dev/kernel"

// extreme is an element and its position.
type extreme[T any] = struct {
	V  T
	At int
}

// lesser returns the lesser of two elements, and the first one of equal elements.
func lesser[T any](less func(a, b T) bool, a, b extreme[T]) extreme[T] {
	if less(b.V, a.V) || b.At < a.At && !less(a.V, b.V) {
		return b
	}
	return a
}

// greater returns the greater of two elements, and the first one of equal elements.
func greater[T any](less func(a, b T) bool, a, b extreme[T]) extreme[T] {
	if less(a.V, b.V) || b.At < a.At && !less(b.V, a.V) {
		return b
	}
	return a
}

// extremesOf returns the least and the greatest of some elements: every stride-th vector of
// width elements from first to last-1. The positions of elements are in at, if it is not empty.
//
//quern:unchecked
func extremesOf[T any](less func(a, b T) bool, first, last, stride int, in []T, at []int) (lo, hi extreme[T]) {
	p := min(first, last-1)
	if len(at) > 0 {
		lo = extreme[T]{in[p], at[p]}
		hi = lo
		for i := first; i < last; i += stride {
			e := extreme[T]{in[i], at[i]}
			lo, hi = lesser(less, lo, e), greater(less, hi, e)
		}
		return lo, hi
	}
	lo = extreme[T]{in[p], p}
	hi = lo
	for from := first; from < last; from += polled * stride {
		i := from
		for range min((last-from+stride-1)/stride, polled) {
			v := in[i]
			if less(v, lo.V) {
				lo = extreme[T]{v, i}
			}
			if less(hi.V, v) {
				hi = extreme[T]{v, i}
			}
			i += stride
		}
	}
	return lo, hi
}

// Extremes finds the first one of the least elements, and the first one of the greatest
// elements, of each part of in. at has the positions of the elements, unless it is empty. Part p
// writes what it has found to out[2*p+lo] and out[2*p+hi], and the positions to outAt, unless
// the slice is empty or the offset is negative.
//
//quern:template Less block=256 only=gpu
//quern:unchecked
func Extremes[T any](t kernel.Thread, less func(a, b T) bool, part, lo, hi int, in []T, at []int, out []T, outAt []int) {
	first, i := t.BlockIdx.X*part, t.ThreadIdx.X
	l, h := extremesOf(less, first+i, min(first+part, len(in)), Threads, in, at)
	l, h = least(t, less, l), greatest(t, less, h)
	lowest, highest := kernel.Shared[[warps]extreme[T]](t), kernel.Shared[[warps]extreme[T]](t)
	if t.Lane() == 0 {
		lowest[t.Warp()], highest[t.Warp()] = l, h
	}
	t.Sync()
	if i == 0 {
		//quern:nounroll
		for w := 1; w < warps; w++ {
			l, h = lesser(less, l, lowest[w]), greater(less, h, highest[w])
		}
		storeExtreme(l, lo+2*t.BlockIdx.X, lo, out, outAt)
		storeExtreme(h, hi+2*t.BlockIdx.X, hi, out, outAt)
	}
}

// least returns the lesser of the values of a warp's threads to its first thread.
func least[T any](t kernel.Thread, less func(a, b T) bool, e extreme[T]) extreme[T] {
	//quern:nounroll
	for d := warpSize / 2; d > 0; d /= 2 {
		e = lesser(less, e, extreme[T]{kernel.ShuffleDown(t, e.V, d), kernel.ShuffleDown(t, e.At, d)})
	}
	return e
}

// greatest returns the greater of the values of a warp's threads to its first thread.
func greatest[T any](t kernel.Thread, less func(a, b T) bool, e extreme[T]) extreme[T] {
	//quern:nounroll
	for d := warpSize / 2; d > 0; d /= 2 {
		e = greater(less, e, extreme[T]{kernel.ShuffleDown(t, e.V, d), kernel.ShuffleDown(t, e.At, d)})
	}
	return e
}

//quern:unchecked
func storeExtreme[T any](e extreme[T], i, offset int, out []T, outAt []int) {
	if offset < 0 {
		return
	}
	if len(out) > 0 {
		out[i] = e.V
	}
	if len(outAt) > 0 {
		outAt[i] = e.At
	}
}

// ExtremeParts is [Extremes] with one thread per part.
//
//quern:template Less only=cpu
func ExtremeParts[T any](t kernel.Thread, less func(a, b T) bool, part, lo, hi int, in []T, at []int, out []T, outAt []int) {
	p := t.Global()
	first := p * part
	if first >= len(in) {
		return
	}
	l, h := extremesOf(less, first, min(first+part, len(in)), 1, in, at)
	storeExtreme(l, lo+2*p, lo, out, outAt)
	storeExtreme(h, hi+2*p, hi, out, outAt)
}
