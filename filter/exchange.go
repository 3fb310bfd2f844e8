package filter

import (
	"context"
	"image"
	"sync"

	"quern.dev/gpu"
)

// layout is how the pixels of an image of package image lie in memory.
type layout struct {
	width, height, channels int

	pix    []uint8 // nil if the values must be rearranged
	stride int
}

func layoutOf(op string, m image.Image) (layout, error) {
	var l layout
	switch m := m.(type) {
	case *image.Gray:
		if m != nil && holds(m.Pix, m.Stride, m.Rect, 1) {
			l = layout{channels: 1, pix: m.Pix, stride: m.Stride}
		}
	case *image.Gray16:
		if m != nil && holds(m.Pix, m.Stride, m.Rect, 2) {
			l = layout{channels: 1}
		}
	case *image.NRGBA:
		if m != nil && holds(m.Pix, m.Stride, m.Rect, 4) {
			l = layout{channels: 4, pix: m.Pix, stride: m.Stride}
		}
	case *image.RGBA:
		if m != nil && holds(m.Pix, m.Stride, m.Rect, 4) {
			l = layout{channels: 4, pix: m.Pix, stride: m.Stride}
		}
	case *image.YCbCr:
		if m != nil && holdsChroma(m) {
			l = layout{channels: 3}
		}
	default:
		return l, invalid(op, "image", "the type is %T; draw it to an *image.NRGBA, *image.RGBA, *image.Gray or *image.Gray16", m)
	}
	if l.channels == 0 {
		return l, invalid(op, "image", "the %T is nil, or its slices are too short for its bounds and strides", m)
	}
	b := m.Bounds()
	l.width, l.height = b.Dx(), b.Dy()
	return l, nil
}

// holds reports whether pix has the pixels of an image with the given bounds, whose pixels have
// size bytes and whose rows are stride bytes apart.
func holds(pix []uint8, stride int, r image.Rectangle, size int) bool {
	if r.Empty() {
		return true
	}
	w, h := r.Dx(), r.Dy() // negative if the bounds are so large that they overflow
	if w < 1 || h < 1 || w > len(pix)/size || stride < size*w {
		return false
	}
	return h-1 <= (len(pix)-size*w)/stride
}

// holdsChroma reports whether the three planes of an image have its pixels.
func holdsChroma(m *image.YCbCr) bool {
	r := m.Rect
	if r.Empty() {
		return true
	}
	if !holds(m.Y, m.YStride, r, 1) || m.CStride < 1 {
		return false
	}
	first, last := m.COffset(r.Min.X, r.Min.Y), m.COffset(r.Max.X-1, r.Max.Y-1)
	return first >= 0 && last >= first && last < min(len(m.Cb), len(m.Cr))
}

// exchange checks an image of package image and one of a device against each other.
func exchange[T uint8 | uint16](op string, m image.Image, v Image[T]) (layout, shape, error) {
	s, err := v.volume().check(op, "image on the device", true)
	if err != nil {
		return layout{}, s, err
	}
	l, err := layoutOf(op, m)
	if err != nil {
		return l, s, err
	}
	_, wide := m.(*image.Gray16)
	if _, bytes := any(v).(Image[uint8]); bytes == wide {
		return l, s, invalid(op, "image", "the type is %T, which is not for an image of %T on the device", m, *new(T))
	}
	if l.width != s.w || l.height != s.h || l.channels != s.c {
		return l, s, invalid(op, "image", "%s, but the one on the device has %s", size(l.width, l.height, 1, l.channels), s.size())
	}
	return l, s, nil
}

// Upload copies the pixels of an *image.Gray, *image.NRGBA, *image.RGBA, *image.YCbCr, or, for
// uint16, an *image.Gray16, to dst, which has the same size and 1, 4, 4, 3 or 1 channels. The
// values are copied as they are stored. The colors of an *image.YCbCr are in [YUV601], and
// those of an *image.RGBA are multiplied by alpha. When Upload returns, src may be changed.
func Upload[T uint8 | uint16](s *gpu.Stream, dst Image[T], src image.Image) error {
	const op = "Upload"
	l, to, err := exchange(op, src, dst)
	if err != nil || to.empty() {
		return err
	}
	box, dense := gpu.Rect(0, 0, to.row(), to.h, to.stride), gpu.Rect(0, 0, to.row(), to.h, to.row())
	if l.pix != nil {
		return failed(op, gpu.CopyInBox(s, as8(dst.Data), box, l.pix, gpu.Rect(0, 0, to.row(), to.h, l.stride)))
	}
	if m, ok := src.(*image.Gray16); ok {
		p := words.Get().(*[]uint16)
		defer words.Put(p)
		*p = grown(*p, to.row()*to.h)
		for y := range to.h {
			row := m.Pix[y*m.Stride:]
			for x := range to.w {
				(*p)[y*to.w+x] = uint16(row[2*x])<<8 | uint16(row[2*x+1])
			}
		}
		return failed(op, gpu.CopyInBox(s, any(dst.Data).(*gpu.Buffer[uint16]), box, *p, dense))
	}
	m := src.(*image.YCbCr)
	p := octets.Get().(*[]uint8)
	defer octets.Put(p)
	*p = grown(*p, to.row()*to.h)
	at := 0
	for y := m.Rect.Min.Y; y < m.Rect.Max.Y; y++ {
		for x := m.Rect.Min.X; x < m.Rect.Max.X; x++ {
			c := m.COffset(x, y)
			(*p)[at], (*p)[at+1], (*p)[at+2] = m.Y[m.YOffset(x, y)], m.Cb[c], m.Cr[c]
			at += 3
		}
	}
	return failed(op, gpu.CopyInBox(s, as8(dst.Data), box, *p, dense))
}

// Download waits for the work on s and copies the pixels of src to an image of one of the types
// that [Upload] accepts. The chroma of an *image.YCbCr with fewer chroma values than pixels are
// means, rounded to the nearest integer, ties up.
func Download[T uint8 | uint16](ctx context.Context, s *gpu.Stream, dst image.Image, src Image[T]) error {
	const op = "Download"
	l, from, err := exchange(op, dst, src)
	if err != nil || from.empty() {
		return err
	}
	box, dense := gpu.Rect(0, 0, from.row(), from.h, from.stride), gpu.Rect(0, 0, from.row(), from.h, from.row())
	if l.pix != nil {
		return failed(op, gpu.DownloadBox(ctx, s, l.pix, gpu.Rect(0, 0, from.row(), from.h, l.stride), as8(src.Data), box))
	}
	if m, ok := dst.(*image.Gray16); ok {
		p := words.Get().(*[]uint16)
		defer words.Put(p)
		*p = grown(*p, from.row()*from.h)
		if err := gpu.DownloadBox(ctx, s, *p, dense, any(src.Data).(*gpu.Buffer[uint16]), box); err != nil {
			return failed(op, err)
		}
		for y := range from.h {
			row := m.Pix[y*m.Stride:]
			for x, v := range (*p)[y*from.w:][:from.w] {
				row[2*x], row[2*x+1] = uint8(v>>8), uint8(v)
			}
		}
		return nil
	}
	p := octets.Get().(*[]uint8)
	defer octets.Put(p)
	*p = grown(*p, from.row()*from.h)
	if err := gpu.DownloadBox(ctx, s, *p, dense, as8(src.Data), box); err != nil {
		return failed(op, err)
	}
	subsample(dst.(*image.YCbCr), *p)
	return nil
}

// subsample stores dense pixels in an image.
func subsample(m *image.YCbCr, pix []uint8) {
	r := m.Rect
	type sum struct{ cb, cr, n int }
	var sums []sum // of the chroma values of a row, while it lasts
	first, row := 0, -1
	flush := func() {
		for i, s := range sums {
			if s.n > 0 {
				m.Cb[first+i], m.Cr[first+i] = uint8((2*s.cb+s.n)/(2*s.n)), uint8((2*s.cr+s.n)/(2*s.n))
			}
		}
		clear(sums)
	}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		if next := m.COffset(r.Min.X, y); next != row {
			flush()
			first, row = next, next
			sums = grown(sums, m.COffset(r.Max.X-1, y)-first+1)
		}
		for x := r.Min.X; x < r.Max.X; x++ {
			m.Y[m.YOffset(x, y)] = pix[0]
			s := &sums[m.COffset(x, y)-first]
			s.cb, s.cr, s.n = s.cb+int(pix[1]), s.cr+int(pix[2]), s.n+1
			pix = pix[3:]
		}
	}
	flush()
}

var (
	octets = sync.Pool{New: func() any { return new([]uint8) }}
	words  = sync.Pool{New: func() any { return new([]uint16) }}
)

func grown[T any](p []T, n int) []T {
	if cap(p) < n {
		return make([]T, n)
	}
	return p[:n]
}

func as8[T uint8 | uint16](b *gpu.Buffer[T]) *gpu.Buffer[uint8] { return any(b).(*gpu.Buffer[uint8]) }
