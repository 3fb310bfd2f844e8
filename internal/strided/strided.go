// Package strided moves elements between a Go slice, where they lie apart in any number of
// dimensions, and bytes that are contiguous, in chunks that several goroutines may work on
// at once.
package strided

import (
	"cmp"
	"slices"
	"unsafe"
)

// Layout says where elements are in a slice, with as few dimensions as there can be, at
// least one.
type Layout struct {
	first int
	dims  []dimension // outermost first
}

type dimension struct{ n, stride int }

// New returns the layout of one element.
func New(first int) *Layout { return &Layout{first, []dimension{{1, 1}}} }

// Add adds an inner dimension of n elements that are a stride apart. It becomes part of
// the one before if the two are one.
func (l *Layout) Add(n, stride int) {
	d := dimension{n, stride}
	if n == 1 {
		return
	}
	if k := len(l.dims) - 1; k >= 0 && l.dims[k].n == 1 {
		l.dims = l.dims[:k]
	}
	if k := len(l.dims) - 1; k >= 0 && l.dims[k].stride == d.n*d.stride {
		l.dims[k] = dimension{l.dims[k].n * d.n, d.stride}
		return
	}
	l.dims = append(l.dims, d)
}

// Distinct reports whether no element of the slice occurs twice.
func (l *Layout) Distinct() bool {
	dims := slices.Clone(l.dims)
	slices.SortFunc(dims, func(a, b dimension) int { return cmp.Compare(abs(a.stride), abs(b.stride)) })
	reach, total, nested := 0, 1, true
	for _, d := range dims {
		nested = nested && (d.n <= 1 || abs(d.stride) > reach)
		reach += (d.n - 1) * abs(d.stride)
		total *= d.n
	}
	// Each dimension may step over all that the finer ones reach. If not, no more
	// elements than there are places are marked one by one.
	return nested || total <= reach+1 && l.mark(reach, total)
}

// mark reports whether no element occurs twice, of a total number of them that
// reach over one more place than reach.
func (l *Layout) mark(reach, total int) bool {
	low := l.first
	for _, d := range l.dims {
		low += min(0, (d.n-1)*d.stride)
	}
	seen, twice := make([]uint64, reach/64+1), false
	l.runs(0, total, func(r run) {
		r.pairs(func(place, _ int) {
			bit := uint64(1) << ((place - low) % 64)
			twice = twice || seen[(place-low)/64]&bit != 0
			seen[(place-low)/64] |= bit
		})
	})
	return !twice
}

// run is a piece of a layout: rows of n elements that are a stride apart, from
// element at of the slice, the number i of the layout.
type run struct {
	at, i           int
	rows, rowStride int
	n, stride       int
}

// runs calls f for the elements lo to hi-1 in order.
func (l *Layout) runs(lo, hi int, f func(run)) {
	inner := l.dims[len(l.dims)-1]
	outer := l.dims[:len(l.dims)-1]
	index := make([]int, len(outer))
	at, rest := l.first, lo/inner.n
	for k := len(outer) - 1; k >= 0; k-- {
		index[k] = rest % outer[k].n
		rest /= outer[k].n
		at += index[k] * outer[k].stride
	}
	skip := lo % inner.n
	for i := lo; i < hi; {
		r := run{at: at + skip*inner.stride, i: i, rows: 1, n: min(inner.n-skip, hi-i), stride: inner.stride}
		if k := len(outer) - 1; k >= 0 && r.n == inner.n {
			r.rows, r.rowStride = min(outer[k].n-index[k], (hi-i)/r.n), outer[k].stride
			index[k] += r.rows - 1
			at += (r.rows - 1) * r.rowStride
		}
		f(r)
		i, skip = i+r.rows*r.n, 0
		for k := len(outer) - 1; k >= 0; k-- {
			index[k]++
			at += outer[k].stride
			if index[k] < outer[k].n {
				break
			}
			at -= index[k] * outer[k].stride
			index[k] = 0
		}
	}
}

// tileRows is the number of rows of a run that are taken together if their
// elements are nearer to each other than those of one row, as in a transpose:
// half a cache line of 4-byte elements.
const tileRows = 8

// pairs calls f for each element of the run: its place in the slice, and its
// number less i.
func (r *run) pairs(f func(place, number int)) {
	together := 1
	if abs(r.rowStride) < abs(r.stride) {
		together = tileRows
	}
	for first := 0; first < r.rows; first += together {
		rows := min(together, r.rows-first)
		at, number := r.at+first*r.rowStride, first*r.n
		for k := range r.n {
			for row := range rows {
				f(at+k*r.stride+row*r.rowStride, number+k+row*r.n)
			}
		}
	}
}

func abs(n int) int { return max(n, -n) }

// Gather writes the bytes from at on of the elements, one after the other, to
// chunk.
func Gather[T any](chunk []byte, src []T, l *Layout, at int64) {
	dst, first, ok := elementsOf[T](chunk, at)
	if !ok {
		byBytes(chunk, src, l, at, func(part, element []byte) { copy(part, element) })
		return
	}
	l.runs(first, first+len(dst), func(r run) {
		to := dst[r.i-first:][:r.rows*r.n]
		if r.stride == 1 {
			for row := range r.rows {
				copy(to[row*r.n:][:r.n], src[r.at+row*r.rowStride:])
			}
			return
		}
		r.pairs(func(place, number int) { to[number] = src[place] })
	})
}

// Scatter is the reverse of Gather.
func Scatter[T any](dst []T, chunk []byte, l *Layout, at int64) {
	src, first, ok := elementsOf[T](chunk, at)
	if !ok {
		byBytes(chunk, dst, l, at, func(part, element []byte) { copy(element, part) })
		return
	}
	l.runs(first, first+len(src), func(r run) {
		from := src[r.i-first:][:r.rows*r.n]
		if r.stride == 1 {
			for row := range r.rows {
				copy(dst[r.at+row*r.rowStride:], from[row*r.n:][:r.n])
			}
			return
		}
		r.pairs(func(place, number int) { dst[place] = from[number] })
	})
}

// elementsOf returns a chunk as elements, and the number of the first, if the
// chunk begins and ends with whole ones.
func elementsOf[T any](chunk []byte, at int64) (elements []T, first int, ok bool) {
	var zero T
	size := int64(unsafe.Sizeof(zero))
	p := unsafe.Pointer(unsafe.SliceData(chunk))
	if at%size != 0 || int64(len(chunk))%size != 0 || uintptr(p)%unsafe.Alignof(zero) != 0 {
		return nil, 0, false
	}
	return unsafe.Slice((*T)(p), int64(len(chunk))/size), int(at / size), true
}

// byBytes calls move for the part of chunk, whose first byte has number at, and
// the bytes of the element that belong together.
func byBytes[T any](chunk []byte, elements []T, l *Layout, at int64, move func(part, element []byte)) {
	var zero T
	size := int64(unsafe.Sizeof(zero))
	end := at + int64(len(chunk))
	l.runs(int(at/size), int((end+size-1)/size), func(r run) {
		r.pairs(func(place, number int) {
			begin := int64(r.i+number) * size
			lo, hi := max(begin, at), min(begin+size, end)
			e := unsafe.Slice((*byte)(unsafe.Pointer(&elements[place])), size)
			move(chunk[lo-at:hi-at], e[lo-begin:hi-begin])
		})
	})
}
