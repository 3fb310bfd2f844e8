package tiff

import (
	"context"
	"math"
	"sync/atomic"
)

// Regional reports whether the file can be written with [Writer.WriteRegion]: its blocks have known sizes and the
// machine's byte order.
func (w *Writer) Regional() bool {
	h, o := &w.header, &w.opt
	return o.Compression == None && o.Predictor == NoPredictor && o.Layout == ByPixel && !w.spooled() && !o.Mask && !o.Sparse &&
		o.BigEndian != nativeLittle && h.storedBits() == 8*h.Type.Size()
}

// WriteRegion writes a rectangle of the image, in any order; several goroutines may do so at a time. Its edges are edges of
// blocks or of the image, and each pixel is written once. pixels has all bands side by side, in the machine's byte order. It
// is for files that are [Writer.Regional], and not mixed with WriteRows and WriteBlock.
func (w *Writer) WriteRegion(ctx context.Context, r Region, pixels []byte) error {
	l := w.levels[0]
	if err := w.checkRegion(r, pixels); err != nil {
		return err
	}
	b := output()
	defer func() { recycle(b) }()
	for row := r.Y / l.opt.BlockHeight; row*l.opt.BlockHeight < r.Y+r.Height; row++ {
		for column := r.X / l.opt.BlockWidth; column*l.opt.BlockWidth < r.X+r.Width; column++ {
			if err := ctx.Err(); err != nil {
				w.pipe.fail(err)
				return err
			}
			index := row*l.across + column
			if !w.regions[index].CompareAndSwap(false, true) {
				return writing.argument("block %d is written twice", index)
			}
			b = grow(b, int(l.sizes[index]))
			l.cut(b, r, pixels, row, column)
			if _, err := w.out.file.WriteAt(b, l.offsets[index]); err != nil {
				err = w.out.failed(err)
				w.pipe.fail(err)
				return err
			}
		}
	}
	return nil
}

// checkRegion checks the arguments of WriteRegion, and before the first region sets the places of all blocks.
func (w *Writer) checkRegion(r Region, pixels []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.levels[0]
	onEdge := func(at, block, end int) bool { return at%block == 0 || at == end }
	switch {
	case w.closed:
		return writing.fail(ErrClosed, 0, -1, "the writer of %s is closed", w.name)
	case !w.Regional():
		return writing.argument("a region of a file that is not uncompressed, by pixel, in the machine's byte order, and without mask and overviews")
	case w.blocks && w.regions == nil || l.y+l.filled > 0:
		return writing.argument("regions after rows or blocks; an image is written in one of the ways")
	case r.Bands != nil || r.Layout != ByPixel:
		return writing.argument("a region has all bands, side by side")
	case r.X < 0 || r.Y < 0 || r.Width <= 0 || r.Height <= 0 || r.X > l.header.Width-r.Width || r.Y > l.header.Height-r.Height:
		return writing.argument("the region has %d x %d pixels at (%d, %d); the image has %d x %d pixels", r.Width, r.Height, r.X, r.Y, l.header.Width, l.header.Height)
	case !onEdge(r.X, l.opt.BlockWidth, 0) || !onEdge(r.Y, l.opt.BlockHeight, 0) ||
		!onEdge(r.X+r.Width, l.opt.BlockWidth, l.header.Width) || !onEdge(r.Y+r.Height, l.opt.BlockHeight, l.header.Height):
		return writing.argument("the region has %d x %d pixels at (%d, %d), which do not fill blocks of %d x %d", r.Width, r.Height, r.X, r.Y, l.opt.BlockWidth, l.opt.BlockHeight)
	case len(pixels) != r.Width*r.Height*l.header.pixelBytes():
		return writing.argument("%d bytes for %d x %d pixels of %d", len(pixels), r.Width, r.Height, l.header.pixelBytes())
	}
	if w.regions == nil {
		if err := w.place(); err != nil {
			w.pipe.fail(err)
			return err
		}
	}
	return w.pipe.failure()
}

// place sets the places of all blocks.
func (w *Writer) place() error {
	l := w.levels[0]
	for i := range l.sizes {
		l.offsets[i], l.sizes[i] = w.out.at, int64(l.rowBytes()*l.storedRows(i))
		w.out.at += l.sizes[i]
	}
	if w.out.at > math.MaxUint32 && !w.opt.big(&w.header) {
		return writing.limit(0, "%s needs %d bytes, and 4 GiB are possible without 64-bit offsets; set Options.BigTIFF to BigTIFFYes", w.name, w.out.at)
	}
	w.blocks, w.regions = true, make([]atomic.Bool, len(l.sizes))
	return nil
}

// cut copies a block from a region. What is beyond the image repeats its edge.
func (l *level) cut(dst []byte, r Region, pixels []byte, row, column int) {
	n := l.header.pixelBytes()
	x, y := column*l.opt.BlockWidth, row*l.opt.BlockHeight
	stride, width := l.opt.BlockWidth*n, min(l.opt.BlockWidth, r.X+r.Width-x)*n
	rows := min(l.opt.BlockHeight, r.Y+r.Height-y)
	for k := range len(dst) / stride {
		to := dst[k*stride:][:stride]
		copy(to, pixels[((y-r.Y+min(k, rows-1))*r.Width+x-r.X)*n:][:width])
		for i := width; i < stride; i++ {
			to[i] = to[i-n]
		}
	}
}
