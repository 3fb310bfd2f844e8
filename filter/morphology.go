package filter

import (
	"quern.dev/filter/internal/kernels"
	"quern.dev/gpu"
)

// Element is a flat structuring element of Width*Height pixels. Without a Mask it is a
// rectangle, whose cost does not depend on its size. Otherwise it consists of the pixels whose
// Mask is true, row by row, and its cost is proportional to Width*Height.
type Element struct {
	Width, Height int
	Mask          []bool
}

func (e Element) check(op string) error {
	if err := window(op, e.Width, e.Height); err != nil {
		return err
	}
	if e.Mask == nil {
		return nil
	}
	if len(e.Mask) != e.Width*e.Height || len(e.Mask) > mostTaps {
		return invalid(op, "element", "a mask of %d pixels for %dx%d; at most %d are allowed", len(e.Mask), e.Width, e.Height, mostTaps)
	}
	for _, m := range e.Mask {
		if m {
			return nil
		}
	}
	return invalid(op, "element", "the mask is empty")
}

// Erode writes to each pixel of dst the minimum of the pixels of src under an element centered
// there, separately for each channel. The center of a side of n pixels is pixel n/2.
func Erode[T Pixel](s *gpu.Stream, dst, src Image[T], e Element, b Boundary, work ...*gpu.Workspace) error {
	return morph("Erode", s, dst, src, e, b, work, erode)
}

// Dilate writes to each pixel of dst the maximum of the pixels of src under an element rotated
// by 180 degrees, as in scipy.ndimage.grey_dilation.
func Dilate[T Pixel](s *gpu.Stream, dst, src Image[T], e Element, b Boundary, work ...*gpu.Workspace) error {
	return morph("Dilate", s, dst, src, e, b, work, dilate)
}

// Open erodes, then dilates: it removes what is bright and smaller than the element.
func Open[T Pixel](s *gpu.Stream, dst, src Image[T], e Element, b Boundary, work ...*gpu.Workspace) error {
	return morph("Open", s, dst, src, e, b, work, erode, dilate)
}

// Close dilates, then erodes: it removes what is dark and smaller than the element.
func Close[T Pixel](s *gpu.Stream, dst, src Image[T], e Element, b Boundary, work ...*gpu.Workspace) error {
	return morph("Close", s, dst, src, e, b, work, dilate, erode)
}

// MorphologicalGradient writes the dilated minus the eroded image.
func MorphologicalGradient[T Pixel](s *gpu.Stream, dst, src Image[T], e Element, b Boundary, work ...*gpu.Workspace) error {
	return morph("MorphologicalGradient", s, dst, src, e, b, work, gradient)
}

// TopHat writes the image minus the opened image: what is bright and smaller than the element.
// Differences of integers are not below 0.
func TopHat[T Pixel](s *gpu.Stream, dst, src Image[T], e Element, b Boundary, work ...*gpu.Workspace) error {
	return morph("TopHat", s, dst, src, e, b, work, erode, dilate, fromSource)
}

// BlackHat writes the closed image minus the image: what is dark and smaller than the element.
// Differences of integers are not below 0.
func BlackHat[T Pixel](s *gpu.Stream, dst, src Image[T], e Element, b Boundary, work ...*gpu.Workspace) error {
	return morph("BlackHat", s, dst, src, e, b, work, dilate, erode, minusSource)
}

// step is a step of an operation, from one image to the next.
type step uint8

const (
	erode step = iota
	dilate
	gradient
	fromSource  // subtracts from the source
	minusSource // subtracts the source
)

func morph[T Pixel](op string, s *gpu.Stream, dst, src Image[T], e Element, b Boundary, work []*gpu.Workspace, steps ...step) error {
	to, from, err := pair(op, dst.volume(), src.volume())
	if err != nil {
		return err
	}
	if err := e.check(op); err != nil {
		return err
	}
	m := morpher[T]{s: s, e: e, mode: b.Mode}
	if m.border, err = value[T](op, b); err != nil {
		return err
	}
	tmp, err := gpu.OpenScratch(s, work)
	if err != nil {
		return failed(op, err)
	}
	defer tmp.Close()
	mid := to.dense()
	if e.Mask != nil {
		m.mask = gpu.Take[float32](tmp, len(e.Mask))
	} else {
		m.rows = gpu.Take[T](tmp, mid.len())
	}
	var half *gpu.Buffer[T]
	if len(steps) > 1 || steps[0] == gradient {
		half = gpu.Take[T](tmp, mid.len())
	}
	if run, err := tmp.Ready(); !run || to.empty() {
		return failed(op, err)
	}
	if steps[0] == gradient {
		if err := m.run(erode, half, mid, src.Data, from); err != nil {
			return failed(op, err)
		}
		if err := m.run(dilate, dst.Data, to, src.Data, from); err != nil {
			return failed(op, err)
		}
		return failed(op, subtract(s, dst.Data, to, dst.Data, to, half, mid))
	}
	if len(steps) == 1 {
		return failed(op, m.run(steps[0], dst.Data, to, src.Data, from))
	}
	if err := m.run(steps[0], half, mid, src.Data, from); err != nil {
		return failed(op, err)
	}
	if err := m.run(steps[1], dst.Data, to, half, mid); err != nil {
		return failed(op, err)
	}
	switch {
	case len(steps) == 2:
		return nil
	case steps[2] == fromSource:
		return failed(op, subtract(s, dst.Data, to, src.Data, from, dst.Data, to))
	default:
		return failed(op, subtract(s, dst.Data, to, dst.Data, to, src.Data, from))
	}
}

type morpher[T Pixel] struct {
	s      *gpu.Stream
	e      Element
	mode   Mode
	border T
	mask   *gpu.Buffer[float32]
	rows   *gpu.Buffer[T] // eroded or dilated along the rows
}

func (m *morpher[T]) run(step step, dst *gpu.Buffer[T], to shape, src *gpu.Buffer[T], from shape) error {
	op := kernels.Min
	cx, cy := m.e.Width/2, m.e.Height/2
	if step == dilate {
		op, cx, cy = kernels.Max, (m.e.Width-1)/2, (m.e.Height-1)/2
	}
	if m.mask != nil {
		if err := putMask(m.s, m.mask, m.e.Mask, step == dilate); err != nil {
			return err
		}
		return kernels.LaunchMaskedExtreme(m.s, blocks2(to.row(), to.h, 1), op, int(m.mode), m.border, m.e.Width, m.e.Height, cx, cy, to.w, to.h, to.c, from.stride, to.stride, m.mask, src, dst)
	}
	mid := to.dense()
	if err := windowRows(m.s, op, m.mode, m.border, m.e.Width, cx, src, from, m.rows, mid); err != nil {
		return err
	}
	return windowColumns(m.s, op, m.mode, m.border, 0, m.e.Height, cy, m.rows, mid, dst, to, dst, to)
}

func putMask(s *gpu.Stream, dst *gpu.Buffer[float32], mask []bool, flip bool) error {
	p := hostWeights.Get().(*[]float32)
	defer hostWeights.Put(p)
	*p = (*p)[:0]
	for _, m := range mask {
		v := float32(0)
		if m {
			v = 1
		}
		*p = append(*p, v)
	}
	return putWeights(s, dst, *p, flip)
}

func subtract[T Pixel](s *gpu.Stream, dst *gpu.Buffer[T], to shape, a *gpu.Buffer[T], as shape, b *gpu.Buffer[T], bs shape) error {
	return kernels.LaunchSubtract(s, blocks2(to.row(), to.h, 1), to.row(), to.h, as.stride, bs.stride, to.stride, a, b, dst)
}
