package gpu

import (
	"cmp"
	"context"
	"fmt"
	"math/bits"
	"runtime"
	"slices"
	"unsafe"

	"quern.dev/internal/driver"
)

// Strided says which elements of a Go slice are those of an array of any number
// of dimensions: element (i, j, ...) is at Offset + i*Stride[0] + j*Stride[1] +
// ... A column of a row-major matrix with rows of w elements is
// {Offset: column, Shape: {rows}, Stride: {w}}, its transpose {Shape: {w, rows},
// Stride: {1, w}}.
type Strided struct {
	Offset int
	Shape  []int // elements in each dimension
	Stride []int // elements from one to the next in each dimension; may be negative
}

// CopyInStrided gathers the elements of v in src, the last dimension fastest, and
// copies them to dst, which has as many elements. It returns when src may be
// changed again.
func CopyInStrided[T any](s *Stream, dst *Buffer[T], src []T, v Strided) error {
	const doing = "copy strided in"
	if err := s.acquire(); err != nil {
		return driverError(doing, err)
	}
	defer s.release()
	if err := dst.acquireOn(s, writes); err != nil {
		return driverError(doing, err)
	}
	defer dst.mem.release()
	l, err := v.layout(len(src), dst.length)
	if err != nil || dst.length == 0 {
		return driverError(doing, err)
	}
	err = s.fillIn(dst.at(), dst.bytes(), func(chunk []byte, at int64) { gather(chunk, src, l, at) })
	runtime.KeepAlive(src)
	return driverError(doing, err)
}

// DownloadStrided waits for the work on s and scatters the elements of src, which
// has as many, to those of v in dst, the last dimension fastest. Each element of
// dst is written at most once. If a kernel on the stream failed, it returns the
// [*KernelError]. Cancelling ctx ends the wait and leaves dst as it was. After any
// other error the contents of the elements are undefined.
func DownloadStrided[T any](ctx context.Context, s *Stream, dst []T, v Strided, src *Buffer[T]) error {
	const doing = "download strided"
	if err := s.acquire(); err != nil {
		return driverError(doing, err)
	}
	defer s.release()
	if err := src.acquireOn(s, reads); err != nil {
		return driverError(doing, err)
	}
	defer src.mem.release()
	l, err := v.layout(len(dst), src.length)
	if err == nil && !l.distinct() {
		err = invalid("elements of shape %v with strides %v are not all different", v.Shape, v.Stride)
	}
	if err != nil {
		return driverError(doing, err)
	}
	if err := s.await(ctx); err != nil {
		return driverError(doing, err)
	}
	if src.length > 0 {
		err := s.takeOut(src.at(), src.bytes(), func(chunk []byte, at int64) { scatter(dst, chunk, l, at) })
		runtime.KeepAlive(dst)
		if err != nil {
			return driverError(doing, err)
		}
	}
	return s.fault()
}

// gatherPiece is the number of bytes that are gathered or scattered at a time.
const gatherPiece = 1 << 20

// fillIn copies n > 0 bytes that fill writes, those from at on, to dst. Several
// goroutines may call fill.
func (s *Stream) fillIn(dst driver.Memory, n int64, fill func(chunk []byte, at int64)) error {
	if staged, err := s.stageIn(dst, n, fill); staged {
		return err
	}
	piece := make([]byte, min(n, gatherPiece))
	for at := int64(0); at < n; at += gatherPiece {
		chunk := piece[:min(n-at, gatherPiece)]
		fill(chunk, at)
		if err := s.drv.CopyIn(dst.Offset(at), unsafe.Pointer(unsafe.SliceData(chunk)), int64(len(chunk))); err != nil {
			return err
		}
	}
	return nil
}

// takeOut copies n > 0 bytes from src, which take reads, those from at on. Several
// goroutines may call take.
func (s *Stream) takeOut(src driver.Memory, n int64, take func(chunk []byte, at int64)) error {
	if staged, err := s.stageOut(src, n, take); staged {
		return err
	}
	piece := make([]byte, min(n, gatherPiece))
	for at := int64(0); at < n; at += gatherPiece {
		chunk := piece[:min(n-at, gatherPiece)]
		if err := s.drv.CopyOut(unsafe.Pointer(unsafe.SliceData(chunk)), src.Offset(at), int64(len(chunk))); err != nil {
			return err
		}
		take(chunk, at)
	}
	return nil
}

// layout is a Strided that lies in its slice, with as few dimensions as there can
// be, at least one.
type layout struct {
	first int
	dims  []dimension // outermost first
}

type dimension struct{ n, stride int }

// layout checks that the elements of v are in a slice of the given length, and
// that they are as many as wanted.
func (v Strided) layout(length, wanted int) (*layout, error) {
	if len(v.Shape) != len(v.Stride) {
		return nil, invalid("shape %v with strides %v", v.Shape, v.Stride)
	}
	total := uint64(1)
	for _, n := range v.Shape {
		if n < 0 {
			return nil, invalid("negative shape %v", v.Shape)
		}
		high, low := bits.Mul64(total, uint64(n))
		if high > 0 || low > 1<<62 {
			return nil, invalid("shape %v is too large", v.Shape)
		}
		total = low
	}
	if total != uint64(wanted) {
		return nil, invalid("shape %v for a buffer of %s", v.Shape, count(wanted, "element"))
	}
	if total == 0 {
		return &layout{dims: []dimension{{}}}, nil
	}
	if err := v.checkRange(length); err != nil {
		return nil, err
	}
	l := &layout{first: v.Offset}
	for i, n := range v.Shape {
		l.add(dimension{n, v.Stride[i]})
	}
	if len(l.dims) == 0 {
		l.dims = []dimension{{1, 1}}
	}
	return l, nil
}

// checkRange reports elements that are outside of a slice.
func (v Strided) checkRange(length int) error {
	outside := invalid("%v reach outside of %s", v, count(length, "element"))
	if v.Offset < 0 || v.Offset >= length {
		return outside
	}
	below, above := uint64(v.Offset), uint64(length-1-v.Offset) // room
	for i, n := range v.Shape {
		room, stride := &above, uint64(v.Stride[i])
		if v.Stride[i] < 0 {
			room, stride = &below, -stride
		}
		high, reach := bits.Mul64(uint64(n-1), stride)
		if high > 0 || reach > *room {
			return outside
		}
		*room -= reach
	}
	return nil
}

// add adds an inner dimension, to the one before if they are one.
func (l *layout) add(d dimension) {
	if d.n == 1 && len(l.dims) > 0 {
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

// distinct reports whether no element of the slice occurs twice.
func (l *layout) distinct() bool {
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
func (l *layout) mark(reach, total int) bool {
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
func (l *layout) runs(lo, hi int, f func(run)) {
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

// gather writes the bytes from at on of the elements, one after the other, to
// chunk.
func gather[T any](chunk []byte, src []T, l *layout, at int64) {
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

// scatter is the reverse of gather.
func scatter[T any](dst []T, chunk []byte, l *layout, at int64) {
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
func byBytes[T any](chunk []byte, elements []T, l *layout, at int64, move func(part, element []byte)) {
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

// String returns v in the form "offset 3, shape [4 5], strides [5 1]".
func (v Strided) String() string {
	return fmt.Sprintf("offset %d, shape %v, strides %v", v.Offset, v.Shape, v.Stride)
}
