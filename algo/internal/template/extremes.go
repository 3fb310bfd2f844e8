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

// vectorExtremes returns the least and the greatest of the elements from first to last-1, or one of
// them, that belong to the thread.
//
//quern:unchecked
func vectorExtremes[T any](t kernel.Thread, less func(a, b T) bool, least, greatest bool, first, last int, in []T) (lo, hi extreme[T]) {
	i, vectors := first/Vector+t.ThreadIdx.X, last/Vector // first is a multiple of Vector
	p := min(Vector*i, last-1)
	low, high := in[p], in[p]
	lowAt, highAt := p, p
	switch {
	case !greatest:
		for j := i; j < vectors; j += 2 * Threads {
			next := min(j+Threads, vectors-1)
			v, w := loadVector(in, j), loadVector(in, next)
			for k := range Vector {
				if less(v[k], low) {
					low, lowAt = v[k], Vector*j+k
				}
			}
			for k := range Vector {
				if less(w[k], low) {
					low, lowAt = w[k], Vector*next+k
				}
			}
		}
	case !least:
		for j := i; j < vectors; j += 2 * Threads {
			next := min(j+Threads, vectors-1)
			v, w := loadVector(in, j), loadVector(in, next)
			for k := range Vector {
				if less(high, v[k]) {
					high, highAt = v[k], Vector*j+k
				}
			}
			for k := range Vector {
				if less(high, w[k]) {
					high, highAt = w[k], Vector*next+k
				}
			}
		}
	default:
		for j := i; j < vectors; j += 2 * Threads {
			next := min(j+Threads, vectors-1)
			v, w := loadVector(in, j), loadVector(in, next)
			for k := range Vector {
				if less(v[k], low) {
					low, lowAt = v[k], Vector*j+k
				}
				if less(high, v[k]) {
					high, highAt = v[k], Vector*j+k
				}
			}
			for k := range Vector {
				if less(w[k], low) {
					low, lowAt = w[k], Vector*next+k
				}
				if less(high, w[k]) {
					high, highAt = w[k], Vector*next+k
				}
			}
		}
	}
	// Up to Vector-1 elements are left.
	if j := Vector*vectors + t.ThreadIdx.X; j < last {
		if less(in[j], low) || j < lowAt {
			low, lowAt = in[j], j
		}
		if less(high, in[j]) || j < highAt {
			high, highAt = in[j], j
		}
	}
	return extreme[T]{low, lowAt}, extreme[T]{high, highAt}
}

// Extremes finds the first one of the least elements, and the first one of the greatest
// elements, of each part of in. at has the positions of the elements, unless it is empty. part is a
// multiple of [Vector]. Part 0 writes what it has found to out[lo] and out[hi], and the positions
// to outAt, unless the slice is empty or the index is negative. The next part writes to the
// elements behind these.
//
//quern:template Less block=256 only=gpu
//quern:unchecked
func Extremes[T any](t kernel.Thread, less func(a, b T) bool, part, lo, hi int, in []T, at []int, out []T, outAt []int) {
	first, i := t.BlockIdx.X*part, t.ThreadIdx.X
	last := min(first+part, len(in))
	var l, h extreme[T]
	if len(at) > 0 {
		l, h = extremesOf(less, first+i, last, Threads, in, at)
	} else {
		l, h = vectorExtremes(t, less, lo >= 0, hi >= 0, first, last, in)
	}
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
		storeExtremes(l, h, t.BlockIdx.X, lo, hi, out, outAt)
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
func storeExtremes[T any](l, h extreme[T], part, lo, hi int, out []T, outAt []int) {
	step := 1
	if lo >= 0 && hi >= 0 {
		step = 2
	}
	storeExtreme(l, lo+step*part, lo, out, outAt)
	storeExtreme(h, hi+step*part, hi, out, outAt)
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
	storeExtremes(l, h, p, lo, hi, out, outAt)
}
