package tiff

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
)

// Region is a rectangle of pixels, and how they are in memory.
type Region struct {
	X, Y, Width, Height int
	Bands               []int  // which bands, in this order, or nil for all
	Layout              Layout // in memory
}

// All returns the region of the whole image.
func (im *Image) All() Region { return Region{Width: im.Width, Height: im.Height} }

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// Read reads a region as samples of type T, which must be the type of the image; see
// [Image.ReadRegion].
func Read[T Sample](ctx context.Context, im *Image, r Region) ([]T, error) {
	if TypeOf[T]() != im.Type {
		return nil, im.at("read", -1).argument("samples of type %s are asked for, but the image has %s", TypeOf[T](), im.Type)
	}
	bands, err := im.checkRegion(r)
	if err != nil {
		return nil, err
	}
	dst := make([]T, r.Width*r.Height*len(bands))
	return dst, im.ReadRegion(ctx, Bytes(dst), r)
}

// Resolve checks that a region is inside the image, and returns it with its bands listed.
func (im *Image) Resolve(r Region) (Region, error) {
	bands, err := im.checkRegion(r)
	r.Bands = bands
	return r, err
}

// checkRegion returns the bands of a region inside the image.
func (im *Image) checkRegion(r Region) ([]int, error) {
	p := im.at("read", -1)
	if r.Width <= 0 || r.Height <= 0 || r.X < 0 || r.Y < 0 || r.X > im.Width-r.Width || r.Y > im.Height-r.Height {
		return nil, p.argument("the region has %d x %d pixels at (%d, %d); the image has %d x %d pixels", r.Width, r.Height, r.X, r.Y, im.Width, im.Height)
	}
	if r.Layout > ByBand {
		return nil, p.argument("layout %d; it is ByPixel or ByBand", r.Layout)
	}
	bands := r.Bands
	if bands == nil {
		bands = make([]int, im.Bands)
		for i := range bands {
			bands[i] = i
		}
	}
	for _, b := range bands {
		if b < 0 || b >= im.Bands {
			return nil, p.argument("band %d; the image has bands 0 to %d", b, im.Bands-1)
		}
	}
	if len(bands) == 0 {
		return nil, p.argument("no bands; nil means all")
	}
	return bands, nil
}

// ReadRegion reads a region. dst needs Width*Height samples per band, in rows without gaps, and the
// samples are in the machine's byte order; see [Bytes]. Blocks are decoded on all cores, and only
// those that the region touches are read. Pixels without data have the value NoData, or 0. After
// an error, the contents of dst are undefined.
func (im *Image) ReadRegion(ctx context.Context, dst []byte, r Region) error {
	bands, err := im.checkRegion(r)
	if err != nil {
		return err
	}
	size := im.Type.Size()
	if int64(len(dst)) < int64(r.Width)*int64(r.Height)*int64(len(bands)*size) {
		return im.at("read", -1).argument("the destination has %d bytes; the region needs %d", len(dst), r.Width*r.Height*len(bands)*size)
	}
	if _, err := im.load(); err != nil {
		return err
	}
	jobs := im.plan(r, bands)
	read := func(j job, s *scratch, data []byte) error { return im.readJob(dst, r, bands, j, s, data) }
	if remote, ok := im.dir.src.r.(RangeReader); ok {
		return im.readBatches(ctx, remote, jobs, read)
	}
	return parallel(ctx, len(jobs), func(i int) error {
		s := scratches.Get().(*scratch)
		defer scratches.Put(s)
		if im.direct() {
			return im.readDirect(dst, r, bands, jobs[i], s)
		}
		data, err := im.fetch(jobs[i].index, &s.compressed)
		if err != nil {
			return err
		}
		return read(jobs[i], s, data)
	})
}

// job is one block of a region. x and y are the block's first pixel.
type job struct {
	index, plane, x, y int
}

// plan lists the blocks of a region in the order of the file.
func (im *Image) plan(r Region, bands []int) []job {
	var jobs []job
	wanted := make([]bool, im.Bands)
	for _, b := range bands {
		wanted[b] = true
	}
	for plane := range im.planes {
		if im.planes > 1 && !wanted[plane] {
			continue
		}
		for by := r.Y / im.BlockHeight; by*im.BlockHeight < r.Y+r.Height; by++ {
			for bx := r.X / im.BlockWidth; bx*im.BlockWidth < r.X+r.Width; bx++ {
				jobs = append(jobs, job{(plane*im.down+by)*im.across + bx, plane, bx * im.BlockWidth, by * im.BlockHeight})
			}
		}
	}
	return jobs
}

// batchBytes is how much compressed data is asked for at a time.
const batchBytes = 32 << 20

// readBatches reads the data of several blocks with one call, and decodes them.
func (im *Image) readBatches(ctx context.Context, r RangeReader, jobs []job, read func(job, *scratch, []byte) error) error {
	for len(jobs) > 0 {
		var ranges []Range
		data := map[int][]byte{}
		total, n := int64(0), 0
		for ; n < len(jobs) && (n == 0 || total < batchBytes); n++ {
			offset, size, err := im.span("read", jobs[n].index)
			if err != nil {
				return err
			}
			if size > 0 {
				b := make([]byte, size)
				data[jobs[n].index] = b
				ranges = append(ranges, Range{offset, b})
				total += size
			}
		}
		if err := r.ReadRanges(ctx, ranges); err != nil {
			return im.at("read", jobs[0].index).unreadable(im.offsetsTag(), -1, err)
		}
		batch := jobs[:n]
		err := parallel(ctx, n, func(i int) error {
			s := scratches.Get().(*scratch)
			defer scratches.Put(s)
			return read(batch[i], s, data[batch[i].index])
		})
		if err != nil {
			return err
		}
		jobs = jobs[n:]
	}
	return nil
}

// readJob decodes a block and copies its part of the region.
func (im *Image) readJob(dst []byte, r Region, bands []int, j job, s *scratch, data []byte) error {
	pixels, err := im.decode(j.index, data, s)
	if err != nil {
		return err
	}
	_, rows := im.blockSize(j.index)
	im.place(dst, r, bands, j, pixels, rows)
	return nil
}

// readDirect reads those rows of an uncompressed block that the region needs, in
// parts of bounded size.
func (im *Image) readDirect(dst []byte, r Region, bands []int, j job, s *scratch) error {
	offset, size, err := im.span("read", j.index)
	if err != nil {
		return err
	}
	rowBytes := im.rowBytes()
	_, rows := im.blockSize(j.index)
	if size > 0 && size < int64(rowBytes)*int64(rows) {
		return im.at("read", j.index).damaged(im.countsTag(), offset, "%d bytes for an uncompressed block of %d bytes", size, rowBytes*rows)
	}
	first, last := max(r.Y-j.y, 0), min(r.Y+r.Height-j.y, rows)
	step := max(1, directBytes/rowBytes)
	for y := first; y < last; y += step {
		n := min(step, last-y)
		var pixels []byte
		if size == 0 {
			s.pixels = grow(s.pixels, im.BlockWidth*im.blockBands()*im.Type.Size()*n)
			pixels = s.pixels
			im.fillAbsent(pixels)
		} else {
			s.stored = grow(s.stored, rowBytes*n)
			if err := im.dir.src.readAt(s.stored, offset+int64(y*rowBytes)); err != nil {
				return im.at("read", j.index).unreadable(im.offsetsTag(), offset, err)
			}
			if im.reversed {
				reverseBits(s.stored)
			}
			pixels = im.finish(s, n)
		}
		part := j
		part.y += y
		im.place(dst, r, bands, part, pixels, n)
	}
	return nil
}

// directBytes is how much of an uncompressed block is read at a time.
const directBytes = 4 << 20

// place copies the pixels of rows of a block that are in the region to dst.
func (im *Image) place(dst []byte, r Region, bands []int, j job, pixels []byte, rows int) {
	size, n := im.Type.Size(), im.blockBands()
	x0, x1 := max(r.X, j.x), min(r.X+r.Width, j.x+im.BlockWidth)
	y0, y1 := max(r.Y, j.y), min(r.Y+r.Height, j.y+rows)
	if x0 >= x1 {
		return
	}
	for y := y0; y < y1; y++ {
		src := pixels[((y-j.y)*im.BlockWidth+x0-j.x)*n*size:][:(x1-x0)*n*size]
		at := (y-r.Y)*r.Width + x0 - r.X
		if r.Layout == ByPixel && n == len(bands) && inOrder(bands) {
			copy(dst[at*n*size:], src)
			continue
		}
		for k, b := range bands {
			switch {
			case im.planes > 1 && b != j.plane:
				continue
			case im.planes > 1:
				b = 0
			}
			if r.Layout == ByPixel {
				copyStrided(dst[(at*len(bands)+k)*size:], len(bands)*size, src[b*size:], n*size, x1-x0, size)
			} else {
				copyStrided(dst[(k*r.Width*r.Height+at)*size:], size, src[b*size:], n*size, x1-x0, size)
			}
		}
	}
}

func inOrder(bands []int) bool {
	for i, b := range bands {
		if i != b {
			return false
		}
	}
	return true
}

// copyStrided copies n samples of the given size. Strides are in bytes.
func copyStrided(dst []byte, dstStride int, src []byte, srcStride, n, size int) {
	switch {
	case dstStride == size && srcStride == size:
		copy(dst[:n*size], src)
	case size == 1:
		for i := range n {
			dst[i*dstStride] = src[i*srcStride]
		}
	case size == 2:
		for i := range n {
			*(*[2]byte)(dst[i*dstStride:]) = *(*[2]byte)(src[i*srcStride:])
		}
	case size == 4:
		for i := range n {
			*(*[4]byte)(dst[i*dstStride:]) = *(*[4]byte)(src[i*srcStride:])
		}
	case size == 8:
		for i := range n {
			*(*[8]byte)(dst[i*dstStride:]) = *(*[8]byte)(src[i*srcStride:])
		}
	default:
		for i := range n {
			*(*[16]byte)(dst[i*dstStride:]) = *(*[16]byte)(src[i*srcStride:])
		}
	}
}

// parallel calls f for 0 to n-1 on all cores, and returns the first error. It stops early
// after an error and when ctx is done.
func parallel(ctx context.Context, n int, f func(i int) error) error {
	return parallelBy(ctx, runtime.GOMAXPROCS(0), n, f)
}

// parallelBy is parallel with a number of goroutines.
func parallelBy(ctx context.Context, workers, n int, f func(i int) error) error {
	workers = min(n, workers)
	var next atomic.Int64
	var failed atomic.Bool
	errs := make([]error, workers)
	work := func(w int) {
		for !failed.Load() {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			err := ctx.Err()
			if err == nil {
				err = f(i)
			}
			if err != nil {
				errs[w] = err
				failed.Store(true)
				return
			}
		}
	}
	var wg sync.WaitGroup
	for w := 1; w < workers; w++ {
		wg.Go(func() { work(w) })
	}
	if workers > 0 {
		work(0)
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
