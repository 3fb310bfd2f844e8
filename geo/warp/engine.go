package warp

import (
	"context"
	"errors"
	"io"
	"math"
	"unsafe"

	"quern.dev/geo/tiff"
	"quern.dev/geo/warp/internal/kernels"
	"quern.dev/gpu"
)

// engine warps samples of one type.
type engine interface {
	newLane() (lane, error)
	close() error
}

// lane has the stream and the memory of one tile at a time.
type lane interface {
	warp(ctx context.Context, r rectangle, source int, c *canvas) error
	close() error
}

func newEngine(w *Warper) (engine, error) {
	switch w.working {
	case tiff.Uint8:
		return newEngineOf[uint8](w)
	case tiff.Int8:
		return newEngineOf[int8](w)
	case tiff.Uint16:
		return newEngineOf[uint16](w)
	case tiff.Int16:
		return newEngineOf[int16](w)
	case tiff.Uint32:
		return newEngineOf[uint32](w)
	case tiff.Int32:
		return newEngineOf[int32](w)
	case tiff.Float32:
		return newEngineOf[float32](w)
	case tiff.Float64:
		return newEngineOf[float64](w)
	}
	return nil, failf(errors.ErrUnsupported, "samples of %v are not supported", w.working)
}

type engineOf[T kernels.Sample] struct {
	w         *Warper
	constants []constants
}

func newEngineOf[T kernels.Sample](w *Warper) (engine, error) {
	e := &engineOf[T]{w: w}
	s := w.dev.DefaultStream()
	for i, src := range w.sources {
		e.constants = append(e.constants, constants{})
		c := &e.constants[i]
		grids := src.grids
		err := errors.Join(upload(s, &c.place, []kernels.Place{src.place}), upload(s, &c.subgrids, some(grids.Subgrids)),
			upload(s, &c.nodes, some(grids.Nodes)), upload(s, &c.spline, some(src.spline)), upload(s, &c.table, w.table[i]))
		if err != nil {
			return nil, errors.Join(err, e.close())
		}
	}
	return e, nil
}

// some returns a slice with an element that nothing refers to, if there is none: a kernel takes no nil buffers.
func some[T any](s []T) []T {
	if len(s) == 0 {
		return make([]T, 1)
	}
	return s
}

func upload[T any](s *gpu.Stream, to **gpu.Buffer[T], from []T) (err error) {
	*to, err = gpu.Upload(s, from)
	return err
}

func (e *engineOf[T]) close() error {
	var errs []error
	for _, c := range e.constants {
		errs = append(errs, closeBuffer(c.place), closeBuffer(c.subgrids), closeBuffer(c.nodes), closeBuffer(c.spline), closeBuffer(c.table))
	}
	return errors.Join(errs...)
}

func closeBuffer[T any](b *gpu.Buffer[T]) error {
	if b == nil {
		return nil
	}
	return b.Close()
}

type laneOf[T kernels.Sample] struct {
	e      *engineOf[T]
	w      *Warper
	s      *gpu.Stream
	axis   *gpu.Buffer[float64] // longitudes of columns, latitudes of rows
	xs, ys *gpu.Buffer[float64]
	us, vs *gpu.Buffer[float64] // positions of the nodes of a lattice
	smooth *gpu.Buffer[uint8]   // cells of the lattice
	box    *gpu.Buffer[int32]
	src    *gpu.Buffer[T]
	mask   *gpu.Buffer[float32]
	dst    *gpu.Buffer[T]
	cover  *gpu.Buffer[uint8]

	hostSrc, hostDst pages[T]
	host             points // positions that the host computes
	hostMask         pages[float32]
	hostWide         pages[uint8]
	hostBytes        []uint8
}

func (e *engineOf[T]) newLane() (lane, error) {
	l := &laneOf[T]{e: e, w: e.w}
	w, h := min(e.w.opt.TileWidth, e.w.grid.Width), min(e.w.opt.TileHeight, e.w.grid.Height)
	corners, pixels := (w+1)*(h+1), w*h
	cover := 1
	if e.w.output.Masked {
		cover = pixels
	}
	cells, nodes := 1, 1
	if e.w.opt.Tolerance > 0 {
		g := cellsOf(tiff.Region{X: kernels.Step - 1, Y: kernels.Step - 1, Width: w + 1, Height: h + 1}) // the largest one
		across, down := g.Nodes()
		cells, nodes = g.Across*g.Down, across*down
	}
	var err error
	if l.s, err = e.w.dev.NewStream(context.Background()); err != nil {
		return nil, err
	}
	err = errors.Join(alloc(e.w.dev, &l.axis, w+h+2), alloc(e.w.dev, &l.xs, corners), alloc(e.w.dev, &l.ys, corners),
		alloc(e.w.dev, &l.us, nodes), alloc(e.w.dev, &l.vs, nodes), alloc(e.w.dev, &l.smooth, cells), alloc(e.w.dev, &l.box, 4), alloc(e.w.dev, &l.src, 1),
		alloc(e.w.dev, &l.mask, 1), alloc(e.w.dev, &l.dst, pixels*e.w.output.Bands), alloc(e.w.dev, &l.cover, cover))
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	return l, nil
}

func alloc[T any](dev *gpu.Device, to **gpu.Buffer[T], n int) (err error) {
	*to, err = gpu.Alloc[T](dev, n)
	return err
}

// grow replaces buffers that are too small, and returns the elements of the one in host memory.
func grow[T any](dev *gpu.Device, b **gpu.Buffer[T], host *pages[T], n int) ([]T, error) {
	if (*b).Len() < n {
		if err := (*b).Close(); err != nil {
			return nil, err
		}
		if err := alloc(dev, b, n); err != nil {
			return nil, err
		}
	}
	return growHost(dev, host, n)
}

// pages is host memory, page-locked where that is possible.
type pages[T any] struct {
	all    []T
	locked *gpu.HostBuffer[T] // or nil
}

func newPages[T any](dev *gpu.Device, n int) (pages[T], error) {
	b, err := gpu.AllocHost[T](dev, n)
	switch {
	case errors.Is(err, gpu.ErrPinned):
		return pages[T]{all: make([]T, n)}, nil
	case err != nil:
		return pages[T]{}, err
	}
	return pages[T]{b.Data(), b}, nil
}

func (p *pages[T]) close() (err error) {
	if p.locked != nil {
		err = p.locked.Close()
	}
	*p = pages[T]{}
	return err
}

// growHost replaces memory that is too small, and returns n elements of it.
func growHost[T any](dev *gpu.Device, host *pages[T], n int) (_ []T, err error) {
	if len(host.all) < n {
		if err := host.close(); err != nil {
			return nil, err
		}
		if *host, err = newPages[T](dev, n+n/8); err != nil { // windows differ a little in size
			return nil, err
		}
	}
	return host.all[:n], nil
}

func (l *laneOf[T]) close() error {
	errs := []error{closeBuffer(l.axis), closeBuffer(l.xs), closeBuffer(l.ys), closeBuffer(l.us), closeBuffer(l.vs), closeBuffer(l.smooth), closeBuffer(l.box), closeBuffer(l.src), closeBuffer(l.mask), closeBuffer(l.dst), closeBuffer(l.cover),
		l.hostSrc.close(), l.hostDst.close(), l.hostMask.close(), l.hostWide.close()}
	if l.s != nil {
		errs = append(errs, io.Closer(l.s).Close())
	}
	return errors.Join(errs...)
}

// warp computes a tile of a canvas.
func (l *laneOf[T]) warp(ctx context.Context, r rectangle, source int, c *canvas) error {
	out := l.w.output
	out.Width, out.Height, out.First = r.w, r.h, true
	for i, s := range l.w.sources {
		if source != all && i != source || !s.footprint.meets(r) {
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		win, err := l.window(ctx, i, r)
		if err != nil {
			return err
		}
		if win.w == 0 {
			continue
		}
		if err := l.load(ctx, s, win); err != nil {
			return err
		}
		if err := l.resample(i, &out, win); err != nil {
			return err
		}
		out.First = false
	}
	return l.deliver(ctx, r, &out, c)
}

// deliver copies a tile to the canvas.
func (l *laneOf[T]) deliver(ctx context.Context, r rectangle, out *kernels.Output, c *canvas) (err error) {
	n := r.w * r.h
	var pixels []T
	var cover []uint8
	to, _ := l.w.header.Type.Parts()
	alone := c.rectangle == r && to == tiff.TypeOf[T]() // the canvas is as the buffer of the device
	if alone {
		pixels = samples[T](c.pixels)[:n*out.Bands]
	} else if pixels, err = growHost(l.w.dev, &l.hostDst, n*out.Bands); err != nil {
		return err
	}
	if out.Masked {
		if cover, err = growHost(l.w.dev, &l.hostWide, n); err != nil {
			return err
		}
	}
	if out.First {
		l.blank(pixels, cover)
	} else {
		if err := gpu.Download(ctx, l.s, pixels, l.dst.Slice(0, len(pixels))); err != nil {
			return err
		}
		if out.Masked {
			if err := gpu.Download(ctx, l.s, cover, l.cover.Slice(0, n)); err != nil {
				return err
			}
		}
	}
	for y := range r.h {
		at := (r.y-c.y+y)*c.w + r.x - c.x
		if !alone {
			store(c, l.w.header.Type, at*out.Bands, pixels[y*r.w*out.Bands:][:r.w*out.Bands])
		}
		if out.Masked {
			copy(c.mask[at:], cover[y*r.w:][:r.w])
		}
	}
	return nil
}

// blank fills a tile that no source reaches.
func (l *laneOf[T]) blank(pixels []T, cover []uint8) {
	clear(cover)
	clear(pixels)
	bands := l.w.output.Bands
	for band, t := range l.w.table[0] {
		v := T(t.Start)
		if v == 0 {
			continue
		}
		for i := band; i < len(pixels); i += bands {
			pixels[i] = v
		}
	}
}

// window computes the positions of a tile in a source, and returns which pixels of the source it needs.
func (l *laneOf[T]) window(ctx context.Context, i int, r rectangle) (win rectangle, err error) {
	s, c := l.w.sources[i], &l.e.constants[i]
	w, h, half, mx, my := r.w, r.h, 0.5, 0, 0
	if resamplings[l.w.opt.Resampling].boxed {
		w, h, half = w+1, h+1, 0
		mx, my = 2*max(1, int(math.Ceil(1/s.shape.XScale))), 2*max(1, int(math.Ceil(1/s.shape.YScale)))
	}
	if err := l.locate(ctx, s, c, tiff.Region{X: r.x, Y: r.y, Width: w, Height: h}, half); err != nil {
		return win, err
	}
	box := []int32{math.MaxInt32, math.MaxInt32, -1, -1}
	if err := gpu.CopyIn(l.s, l.box, box); err != nil {
		return win, err
	}
	if err := kernels.LaunchBounds(l.s, gpu.Plane(w, (h-1)/kernels.RowsPerThread+1), w, h, s.h.Width, s.h.Height, mx, my, l.xs, l.ys, l.box); err != nil {
		return win, err
	}
	if err := gpu.Download(ctx, l.s, box, l.box); err != nil {
		return win, err
	}
	if box[2] < 0 {
		return win, nil
	}
	left, top, right, bottom := int(box[0]), int(box[1]), int(box[2])+1, int(box[3])+1
	// Pixels around a position: two, for the interpolations, or the filter's.
	left, right = left-max(2, 1-s.filter.FirstX), right+max(2, 1+s.filter.LastX)
	top, bottom = top-max(2, 1-s.filter.FirstY), bottom+max(2, 1+s.filter.LastY)
	left, top, right, bottom = max(left, 0), max(top, 0), min(right, s.h.Width), min(bottom, s.h.Height)
	win = rectangle{left, top, right - left, bottom - top}
	pixel := int64(s.shape.Stride) * int64(unsafe.Sizeof(*new(T)))
	if s.shape.Masked {
		pixel += int64(unsafe.Sizeof(float32(0)))
	}
	if bytes := int64(win.w) * int64(win.h) * pixel; bytes > l.w.opt.Memory/8 {
		return win, &largeWindow{s.name, bytes}
	}
	return win, nil
}

// locate computes the positions of points in a source.
func (l *laneOf[T]) locate(ctx context.Context, s *source, c *constants, r tiff.Region, half float64) error {
	if s.converter != nil {
		return l.locateOnHost(ctx, s, r, half)
	}
	if s.locator != nil {
		return s.locator.Locate(ctx, l.s, r, half, l.xs.Slice(0, r.Width*r.Height), l.ys.Slice(0, r.Width*r.Height))
	}
	if l.w.opt.Tolerance > 0 {
		return l.interpolate(c, r, half)
	}
	separable := s.place.Separable()
	if separable {
		if err := kernels.LaunchAxes(l.s, gpu.Linear(r.Width+r.Height), r.X, r.Y, r.Width, r.Height, half, c.place, l.axis); err != nil {
			return err
		}
	}
	return kernels.LaunchLocate(l.s, gpu.Plane(r.Width, r.Height), r.X, r.Y, r.Width, r.Height, half, separable, c.place, c.subgrids, c.nodes, c.spline, l.axis, l.xs, l.ys)
}

// cellsOf returns the cells that have the points of a region.
func cellsOf(r tiff.Region) kernels.Lattice {
	x, y := r.X>>kernels.StepShift, r.Y>>kernels.StepShift
	return kernels.Lattice{X: x, Y: y, Across: (r.X+r.Width-1)>>kernels.StepShift - x + 1, Down: (r.Y+r.Height-1)>>kernels.StepShift - y + 1}
}

// interpolate computes positions by way of a lattice, whose cells do not depend on the region.
func (l *laneOf[T]) interpolate(c *constants, r tiff.Region, half float64) error {
	g := cellsOf(r)
	if err := kernels.LaunchNodes(l.s, gpu.Plane(g.Nodes()), g, half, c.place, c.subgrids, c.nodes, c.spline, l.us, l.vs); err != nil {
		return err
	}
	if err := kernels.LaunchFlat(l.s, gpu.Plane(g.Across, g.Down), g, l.w.opt.Tolerance, l.us, l.vs, l.smooth); err != nil {
		return err
	}
	return kernels.LaunchInterpolate(l.s, gpu.Plane(r.Width, r.Height), g, r.X, r.Y, r.Width, r.Height, half, c.place, c.subgrids, c.nodes, c.spline, l.us, l.vs, l.smooth, l.xs, l.ys)
}

// load reads a window and copies it to the device.
func (l *laneOf[T]) load(ctx context.Context, s *source, win rectangle) error {
	n := win.w * win.h
	pixels, err := grow(l.w.dev, &l.src, &l.hostSrc, n*s.shape.Stride)
	if err != nil {
		return err
	}
	region := tiff.Region{X: win.x, Y: win.y, Width: win.w, Height: win.h}
	if err := readAs(ctx, s, pixels, region); err != nil {
		return err
	}
	if err := gpu.CopyIn(l.s, l.src.Slice(0, len(pixels)), pixels); err != nil {
		return err
	}
	if !s.shape.Masked {
		return nil
	}
	counts, err := grow(l.w.dev, &l.mask, &l.hostMask, n)
	if err != nil {
		return err
	}
	if len(l.hostBytes) < n {
		l.hostBytes = make([]uint8, n)
	}
	mask := l.hostBytes[:n]
	if m := s.im.Mask(); m != nil {
		if err := m.ReadRegion(ctx, mask, region); err != nil {
			return err
		}
	} else {
		for i := range mask {
			mask[i] = 255
		}
	}
	if s.unified {
		l.hide(s, pixels, mask)
	}
	if s.cut != nil && s.cut.blend == 0 {
		s.cut.apply(mask, win)
	}
	for i, v := range mask {
		counts[i] = 0
		if v != 0 {
			counts[i] = 1
		}
	}
	if s.cut != nil && s.cut.blend > 0 {
		s.cut.fade(counts, win)
	}
	return gpu.CopyIn(l.s, l.mask.Slice(0, n), counts)
}

// hide sets the mask of pixels to 0 that have no data in any band.
func (l *laneOf[T]) hide(s *source, pixels []T, mask []uint8) {
	for i := range mask {
		none := true
		for band, v := range s.noData {
			p, q := float64(pixels[i*s.shape.Stride+band]), rounded(v, l.w.working)
			none = none && (p == q || p != p && q != q)
		}
		if none {
			mask[i] = 0
		}
	}
}

// resample launches the kernel.
func (l *laneOf[T]) resample(i int, out *kernels.Output, win rectangle) error {
	s, c := l.w.sources[i], &l.e.constants[i]
	shape := s.shape
	shape.X, shape.Y, shape.W, shape.H = win.x, win.y, win.w, win.h
	grid := gpu.Plane(out.Width, out.Height)
	r := &resamplings[l.w.opt.Resampling]
	switch {
	case r.boxed:
		return kernels.LaunchBox(l.s, grid, r.box, r.rank, shape, *out, c.table, l.xs, l.ys, l.src, l.mask, l.dst, l.cover)
	case s.pointed:
		return kernels.LaunchPoint(l.s, grid, s.point, shape, *out, c.table, l.xs, l.ys, l.src, l.mask, l.dst, l.cover)
	}
	return kernels.LaunchFilter(l.s, grid, s.filter, shape, *out, c.table, l.xs, l.ys, l.src, l.mask, l.dst, l.cover)
}
