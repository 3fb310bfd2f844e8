package blas

import (
	"math/bits"

	"quern.dev/blas/internal/kernels"
	"quern.dev/gpu"
)

// TransposeAxes writes an array with its axes in another order to dst. shape has the extents of src,
// in row-major order; axis i of dst is axis axes[i] of src. Axes are counted from 0, and from -1
// backward; without axes, their order is reversed. An array has up to 8 axes, and elements of any
// type. dst has as many elements as src, and shares none with it.
//
//	err := blas.TransposeAxes(s, planes, pixels, []int{n, height, width, 3}, 0, 3, 1, 2)
func TransposeAxes[T any](s *gpu.Stream, dst, src *gpu.Buffer[T], shape []int, axes ...int) error {
	const op = "TransposeAxes"
	p, err := orderAxes(op, shape, axes)
	if err != nil {
		return err
	}
	if src.Len() != p.size {
		return invalid(op, "src", "has %d elements, but the shape %v has %d", src.Len(), copyOf(shape), p.size)
	}
	if dst.Len() != p.size {
		return invalid(op, "dst", "has %d elements, but src has %d", dst.Len(), src.Len())
	}
	all := region{1, p.size * sizeOf[T](), max(p.size*sizeOf[T](), 1), 1, 0}
	switch {
	case all.isEmpty():
		return nil
	case overlap(src, all, dst, all):
		return invalid(op, "dst", "shares elements with src")
	}
	// A word has 1, 2, 4 or 8 bytes. Several are an axis of their own.
	size := sizeOf[T]()
	word := min(size&-size, 8)
	p.merge(size / word)
	if p.count < 2 {
		return wrap(op, gpu.Copy(s, dst, src))
	}
	tmp, err := gpu.OpenScratch(s, nil)
	if err != nil {
		return wrap(op, err)
	}
	defer tmp.Close()
	switch word {
	case 1:
		err = transposeAxes(s, p, gpu.ViewAs[uint8](tmp, dst), gpu.ViewAs[uint8](tmp, src))
	case 2:
		err = transposeAxes(s, p, gpu.ViewAs[uint16](tmp, dst), gpu.ViewAs[uint16](tmp, src))
	case 4:
		err = transposeAxes(s, p, gpu.ViewAs[uint32](tmp, dst), gpu.ViewAs[uint32](tmp, src))
	default:
		err = transposeAxes(s, p, gpu.ViewAs[uint64](tmp, dst), gpu.ViewAs[uint64](tmp, src))
	}
	return wrap(op, err)
}

// mostShape is how many axes an array has at most.
const mostShape = kernels.MostAxes

// axisOrder is the axes of a transposition, in the order of the result.
type axisOrder struct {
	count        int
	extent, from [mostShape + 1]int // from is how far apart the elements of src are
	size         int                // elements of the array
}

// orderAxes checks a shape and an order of its axes.
func orderAxes(op string, shape, axes []int) (p axisOrder, err error) {
	n := len(shape)
	if n > mostShape {
		return p, invalid(op, "shape", "has %d axes; at most %d are supported", n, mostShape)
	}
	if len(axes) != n && len(axes) != 0 {
		return p, invalid(op, "axes", "are %d, but the shape has %d", len(axes), n)
	}
	var strides [mostShape]int
	p.size = 1
	empty := false
	for i := n - 1; i >= 0; i-- {
		if shape[i] < 0 {
			return p, invalid(op, "shape", "has a negative extent: %v", copyOf(shape))
		}
		strides[i] = p.size
		empty = empty || shape[i] == 0
		over, size := bits.Mul64(uint64(p.size), uint64(max(shape[i], 1)))
		if over != 0 || int(size) < 0 {
			return p, invalid(op, "shape", "has too many elements: %v", copyOf(shape))
		}
		p.size = int(size)
	}
	if empty {
		p.size = 0
	}
	seen := 0
	for i := range n {
		axis := n - 1 - i
		if len(axes) > 0 {
			axis = axes[i]
		}
		if axis < 0 {
			axis += n
		}
		if axis < 0 || axis >= n || seen>>axis&1 == 1 {
			return p, invalid(op, "axes", "%v are not an order of %d axes", copyOf(axes), n)
		}
		seen |= 1 << axis
		p.extent[i], p.from[i] = shape[axis], strides[axis]
	}
	p.count = n
	return p, nil
}

// copyOf returns a copy for an error, so that the slices of the caller need not be allocated.
func copyOf(x []int) []int { return append([]int(nil), x...) }

// merge makes the elements words words, removes axes of one element, and makes one axis of those that
// are beside each other in both arrays.
func (p *axisOrder) merge(words int) {
	for i := range p.count {
		p.from[i] *= words
	}
	p.extent[p.count], p.from[p.count] = words, 1
	n := 0
	for i := range p.count + 1 {
		switch {
		case p.extent[i] == 1:
		case n > 0 && p.from[n-1] == p.extent[i]*p.from[i]:
			p.extent[n-1] *= p.extent[i]
			p.from[n-1] = p.from[i]
		default:
			p.extent[n], p.from[n] = p.extent[i], p.from[i]
			n++
		}
	}
	p.count = n
	p.size *= words
}

// transposeAxes launches a kernel for at least two axes, none of which can be merged. Matrices whose
// rows and columns are long are transposed in tiles: the columns are the axis along which elements
// of src are beside each other, and the rows that of dst.
func transposeAxes[B kernels.Bits](s *gpu.Stream, p axisOrder, dst, src *gpu.Buffer[B]) error {
	const shortest = 8 // of rows and columns for tiles
	last := p.count - 1
	column := 0
	for p.from[column] != 1 {
		column++
	}
	if rows, cols := p.extent[last], p.extent[column]; column < last && min(rows, cols) >= shortest {
		var matrices kernels.Axes
		to, strideTo := p.size, 0
		for i := range last {
			to /= p.extent[i]
			if i == column {
				strideTo = to
			} else {
				matrices.Append(p.extent[i], p.from[i], to)
			}
		}
		return transposeMatrices(s, p.size/(rows*cols), rows, cols, p.from[last], strideTo, matrices, src, dst)
	}
	var axes kernels.Axes
	for i := range last {
		axes.Append(p.extent[i], p.from[i], 0)
	}
	width := p.extent[last]
	rows := p.size / width
	return kernels.LaunchMoveRows(s, rowsGrid(s, rows, width), rows, width, p.from[last], axes, src, dst)
}

// rowsGrid returns the grid that moves rows of width elements. A CPU has one thread per row.
func rowsGrid(s *gpu.Stream, rows, width int) gpu.Grid {
	if isCPU(s) {
		return gpu.Blocks(gpu.Dim3{X: rows}, gpu.Dim3{X: 1})
	}
	const threads, widest, each = 256, 128, 8 // of a block, along a row, elements of a thread
	x := 1
	for x < min(width, widest) {
		x *= 2
	}
	y := threads / x
	return gpu.Blocks(gpu.Dim3{X: divideUp(rows, y), Y: min(divideUp(width, each*x), 1<<15)}, gpu.Dim3{X: x, Y: y})
}
