package mosaic

import (
	"context"
	"errors"
	"io"
	"math"
	"unsafe"

	"quern.dev/geo/mosaic/internal/kernels"
	"quern.dev/geo/tiff"
	"quern.dev/gpu"
)

// lane computes one tile at a time.
type lane interface {
	// compute returns the blocks of a tile that have data.
	compute(ctx context.Context, tile kernels.Window) ([]block, error)
	close() error
}

func newLane(m *mosaic) (lane, error) {
	switch m.header.Type {
	case tiff.Uint8:
		return newLaneOf[uint8](m)
	case tiff.Int8:
		return newLaneOf[int8](m)
	case tiff.Uint16:
		return newLaneOf[uint16](m)
	case tiff.Int16:
		return newLaneOf[int16](m)
	case tiff.Uint32:
		return newLaneOf[uint32](m)
	case tiff.Int32:
		return newLaneOf[int32](m)
	case tiff.Float32:
		return newLaneOf[float32](m)
	}
	return newLaneOf[float64](m)
}

// laneOf has the memory of a lane. A window is a tile with a margin; what is in it is enough for the pixels of the tile.
type laneOf[T kernels.Sample] struct {
	m      *mosaic
	s      *gpu.Stream
	whole  kernels.Window
	blend  Blend // what the window needs
	levels []level
	images []layer
	labels []int32
	host   []T // pixels of an image in the window
	result []T

	deviceLabels, owners             *gpu.Buffer[int32]
	pixels, out                      *gpu.Buffer[T]
	pure                             *gpu.Buffer[uint8]
	values, present, weights, totals *gpu.Buffer[float64] // of all levels
	chosen, sums                     *gpu.Buffer[float64] // of each band: of the window, of all levels
	spare                            *gpu.Buffer[float64] // of the window, for Feather
	room                             int                  // pixels of the window
	all                              int                  // pixels of all levels
}

// level is a level of the pyramids.
type level struct {
	kernels.Window
	first int // of its pixels
}

func (l *level) of(b *gpu.Buffer[float64]) *gpu.Buffer[float64] {
	return b.Slice(l.first, l.first+l.W*l.H)
}

// layer is an image in the window.
type layer struct {
	image int
	kernels.Window
	pixels []byte
	used   box // where it is chosen
}

// box is a rectangle that grows.
type box struct{ left, top, right, bottom int }

var nothing = box{math.MaxInt, math.MaxInt, math.MinInt, math.MinInt}

func (b *box) add(x, y int) {
	*b = box{min(b.left, x), min(b.top, y), max(b.right, x), max(b.bottom, y)}
}

func (b *box) empty() bool { return b.left > b.right }

// widened returns the part of a window within a distance of the box.
func (b *box) widened(d int, w kernels.Window) kernels.Window {
	x0, y0 := max(b.left-d, w.X), max(b.top-d, w.Y)
	return kernels.Window{X: x0, Y: y0, W: min(b.right+d+1, w.X+w.W) - x0, H: min(b.bottom+d+1, w.Y+w.H) - y0}
}

// pyramid returns the windows of the levels.
func (m *mosaic) pyramid(w kernels.Window, blend Blend) []level {
	levels := []level{{Window: w}}
	if blend != Multiband {
		return levels
	}
	for range m.opt.Levels {
		last := levels[len(levels)-1]
		levels = append(levels, level{last.Half(), last.first + last.W*last.H})
	}
	return levels
}

func newLaneOf[T kernels.Sample](m *mosaic) (lane, error) {
	l := &laneOf[T]{m: m}
	side := m.tile + 2*m.opt.margin()
	w, h := min(side, m.header.Width), min(side, m.header.Height)
	l.room = w * h
	// Windows that begin elsewhere may have one more column and row per level.
	l.all = l.room
	for range m.opt.Levels {
		if m.opt.Blend != Multiband {
			break
		}
		w, h = w/2+1, h/2+1
		l.all += w * h
	}
	var err error
	if l.s, err = m.dev.NewStream(context.Background()); err != nil {
		return nil, err
	}
	b, spare := m.bands, 1
	if m.opt.Blend == Feather {
		spare = l.room
	}
	err = errors.Join(alloc(m.dev, &l.deviceLabels, l.room), alloc(m.dev, &l.owners, l.room), alloc(m.dev, &l.pixels, l.room*(b+1)), alloc(m.dev, &l.out, m.tile*m.tile*b),
		alloc(m.dev, &l.pure, l.room), alloc(m.dev, &l.values, l.all), alloc(m.dev, &l.present, l.all), alloc(m.dev, &l.weights, l.all), alloc(m.dev, &l.totals, l.all),
		alloc(m.dev, &l.chosen, l.room*b), alloc(m.dev, &l.sums, l.all*b), alloc(m.dev, &l.spare, spare))
	if err != nil {
		return nil, errors.Join(err, l.close())
	}
	l.labels, l.host, l.result = make([]int32, l.room), make([]T, l.room*(b+1)), make([]T, m.tile*m.tile*b)
	return l, nil
}

func alloc[T any](dev *gpu.Device, to **gpu.Buffer[T], n int) (err error) {
	*to, err = gpu.Alloc[T](dev, n)
	return err
}

func (l *laneOf[T]) close() error {
	return errors.Join(shut(l.deviceLabels), shut(l.owners), shut(l.pixels), shut(l.out), shut(l.pure), shut(l.values), shut(l.present), shut(l.weights), shut(l.totals),
		shut(l.chosen), shut(l.sums), shut(l.spare), io.Closer(l.s).Close())
}

func shut[T any](b *gpu.Buffer[T]) error {
	if b == nil {
		return nil
	}
	return b.Close()
}

func (l *laneOf[T]) compute(ctx context.Context, tile kernels.Window) ([]block, error) {
	m := l.m
	d := m.opt.margin()
	x0, y0 := max(tile.X-d, 0), max(tile.Y-d, 0)
	x1, y1 := min(tile.X+tile.W+d, m.header.Width), min(tile.Y+tile.H+d, m.header.Height)
	l.whole = kernels.Window{X: x0, Y: y0, W: x1 - x0, H: y1 - y0}
	if err := l.read(ctx, tile); err != nil || len(l.images) == 0 {
		return nil, err
	}
	if l.label(); !l.any(tile) {
		return nil, nil
	}
	if err := l.join(); err != nil {
		return nil, err
	}
	n := tile.W * tile.H * m.bands
	least, most := m.header.Type.Limits()
	last := len(l.levels) - 1
	for band := range m.bands {
		err := kernels.LaunchFinish(l.s, gpu.Plane(tile.W, tile.H), tile, l.whole, l.levels[last].Window, last, m.bands, band, !m.header.Type.Float(), m.noData, least, most, m.none,
			l.deviceLabels, l.pure, l.band(l.chosen, l.room, band), l.band(l.sums, l.all, band), l.out)
		if err != nil {
			return nil, err
		}
	}
	if err := gpu.Download(ctx, l.s, l.result[:n], l.out.Slice(0, n)); err != nil {
		return nil, err
	}
	return l.blocks(tile), nil
}

func (l *laneOf[T]) band(b *gpu.Buffer[float64], size, band int) *gpu.Buffer[float64] {
	return b.Slice(band*size, (band+1)*size)
}

// read reads the images that touch the window, if one touches the tile.
func (l *laneOf[T]) read(ctx context.Context, tile kernels.Window) error {
	l.images = l.images[:0]
	touched := false
	for i := range l.m.sources {
		r := l.m.w.Reach(i)
		if c := clip(r, l.whole); c.W > 0 {
			l.images = append(l.images, layer{image: i, Window: c})
			touched = touched || clip(r, tile).W > 0
		}
	}
	if !touched {
		l.images = nil
		return nil
	}
	for i := range l.images {
		v := &l.images[i]
		v.pixels = aligned(v.W * v.H * (l.m.bands + 1) * int(unsafe.Sizeof(*new(T))))
		if err := l.m.w.ReadSource(ctx, v.image, tiff.Region{X: v.X, Y: v.Y, Width: v.W, Height: v.H}, v.pixels, nil); err != nil {
			return err
		}
	}
	return nil
}

// clip returns what a region and a window have in common.
func clip(r tiff.Region, w kernels.Window) kernels.Window {
	x0, y0, x1, y1 := max(r.X, w.X), max(r.Y, w.Y), min(r.X+r.Width, w.X+w.W), min(r.Y+r.Height, w.Y+w.H)
	if x0 >= x1 || y0 >= y1 {
		return kernels.Window{}
	}
	return kernels.Window{X: x0, Y: y0, W: x1 - x0, H: y1 - y0}
}

// alpha returns the alpha of an image at a pixel of the output.
func (l *laneOf[T]) alpha(v *layer, x, y int) T {
	if x < v.X || y < v.Y || x >= v.X+v.W || y >= v.Y+v.H {
		return 0
	}
	stride := l.m.bands + 1
	return samples[T](v.pixels)[((y-v.Y)*v.W+x-v.X)*stride+stride-1]
}

// label chooses an image for each pixel of the window: by the order, then by seams. Labels are indices of images.
func (l *laneOf[T]) label() {
	labels := l.labels[:l.whole.W*l.whole.H]
	for i := range labels {
		labels[i] = -1
	}
	of := map[int32]*layer{}
	for k := range l.images {
		v := &l.images[k]
		of[int32(v.image)] = v
		for y := v.Y; y < v.Y+v.H; y++ {
			row := labels[(y-l.whole.Y)*l.whole.W:][:l.whole.W]
			for x := v.X; x < v.X+v.W; x++ {
				label := &row[x-l.whole.X]
				if l.alpha(v, x, y) != 0 && l.m.before(int32(v.image), *label, float64(x)+0.5, float64(y)+0.5) {
					*label = int32(v.image)
				}
			}
		}
	}
	for k := range l.images {
		l.images[k].used = nothing
	}
	for y := range l.whole.H {
		for x := range l.whole.W {
			label := &labels[y*l.whole.W+x]
			if *label < 0 {
				continue
			}
			if seams := l.m.seams[*label]; len(seams) > 0 {
				*label = l.seamed(seams, *label, x+l.whole.X, y+l.whole.Y, of)
			}
			of[*label].used.add(x+l.whole.X, y+l.whole.Y)
		}
	}
}

// seamed returns the label of a pixel after the seams of the image that the order chose.
func (l *laneOf[T]) seamed(seams []*seam, label int32, x, y int, of map[int32]*layer) int32 {
	for _, s := range seams {
		other := s.at((float64(x)+0.5)/l.m.cell, (float64(y)+0.5)/l.m.cell)
		if other < 0 || other == label {
			continue
		}
		if v := of[other]; v != nil && l.alpha(v, x, y) != 0 {
			return other
		}
	}
	return label
}

// any reports whether a part of the window has data.
func (l *laneOf[T]) any(w kernels.Window) bool {
	for y := w.Y; y < w.Y+w.H; y++ {
		for _, v := range l.labels[(y-l.whole.Y)*l.whole.W+w.X-l.whole.X:][:w.W] {
			if v >= 0 {
				return true
			}
		}
	}
	return false
}

// join computes the blended values of the window, and where none are needed.
func (l *laneOf[T]) join() error {
	m := l.m
	n := l.whole.W * l.whole.H
	if err := gpu.CopyIn(l.s, l.deviceLabels.Slice(0, n), l.labels[:n]); err != nil {
		return err
	}
	l.blend = m.opt.Blend
	used := 0
	for i := range l.images {
		if !l.images[i].used.empty() {
			used++
		}
	}
	if used == 1 {
		l.blend = None
	}
	l.levels = m.pyramid(l.whole, l.blend)
	if err := errors.Join(gpu.Fill(l.s, l.owners, kernels.Nobody), gpu.Zero(l.s, l.sums), gpu.Zero(l.s, l.totals)); err != nil {
		return err
	}
	for i := range l.images {
		v := &l.images[i]
		if v.used.empty() {
			continue
		}
		// What is farther from its pixels than the margin has no weight.
		b := m.pyramid(v.used.widened(m.opt.margin(), l.whole), l.blend)
		if err := l.expand(v, b[0].Window); err != nil {
			return err
		}
		for band := range m.bands {
			c := m.corrections[v.image][band]
			err := kernels.LaunchLoad(l.s, gpu.Plane(b[0].W, b[0].H), b[0].Window, l.whole, m.bands+1, band, c.gain, c.offset, int32(v.image), l.pixels, l.deviceLabels,
				l.values, l.present, l.weights, l.band(l.chosen, l.room, band))
			if err != nil {
				return err
			}
			switch l.blend {
			case Feather:
				err = l.feather(int32(v.image), b[0].Window, band)
			case Multiband:
				err = l.decompose(int32(v.image), b, band)
			}
			if err != nil {
				return err
			}
		}
	}
	return l.complete()
}

// expand copies the pixels of an image in a window to the device.
func (l *laneOf[T]) expand(v *layer, w kernels.Window) error {
	stride := l.m.bands + 1
	host := l.host[:w.W*w.H*stride]
	clear(host)
	from := samples[T](v.pixels)
	x0, x1 := max(v.X, w.X), min(v.X+v.W, w.X+w.W)
	for y := max(v.Y, w.Y); y < min(v.Y+v.H, w.Y+w.H); y++ {
		copy(host[((y-w.Y)*w.W+x0-w.X)*stride:], from[((y-v.Y)*v.W+x0-v.X)*stride:][:(x1-x0)*stride])
	}
	return gpu.CopyIn(l.s, l.pixels.Slice(0, len(host)), host)
}

// feather spreads the weights of an image, and adds its values.
func (l *laneOf[T]) feather(image int32, w kernels.Window, band int) error {
	grid := gpu.Plane(w.W, w.H)
	radius := l.m.opt.Radius
	return errors.Join(kernels.LaunchSpread(l.s, grid, w, radius, false, l.weights, l.spare), kernels.LaunchSpread(l.s, grid, w, radius, true, l.spare, l.weights),
		kernels.LaunchMix(l.s, grid, w, l.whole, image, band == 0, l.values, l.present, l.weights, l.band(l.sums, l.all, band), l.totals, l.owners))
}

// decompose adds the levels of an image to the sums. The weights are the same for all bands.
func (l *laneOf[T]) decompose(image int32, b []level, band int) error {
	sums := l.band(l.sums, l.all, band)
	last := len(b) - 1
	for k := range last {
		f, c := &b[k], &b[k+1]
		err := kernels.LaunchReduce(l.s, gpu.Plane(c.W, c.H), f.Window, c.Window, band == 0, f.of(l.values), f.of(l.present), f.of(l.weights), c.of(l.values), c.of(l.present), c.of(l.weights))
		if err != nil {
			return err
		}
	}
	for k := range b {
		f, c, to := &b[k], &b[min(k+1, last)], &l.levels[k]
		err := kernels.LaunchAdd(l.s, gpu.Plane(f.W, f.H), f.Window, c.Window, to.Window, k == last, band == 0, f.of(l.values), f.of(l.weights), c.of(l.values), c.of(l.present), to.of(sums), to.of(l.totals))
		if err != nil {
			return err
		}
	}
	if band > 0 {
		return nil
	}
	top := &b[last]
	return kernels.LaunchOwn(l.s, gpu.Plane(top.W, top.H), top.Window, l.levels[last].Window, image, top.of(l.weights), l.owners)
}

// complete makes means of the sums.
func (l *laneOf[T]) complete() error {
	n := l.whole.W * l.whole.H
	if l.blend != Multiband { // without blending, nobody owns a pixel and all are pure
		for band := range l.m.bands {
			if err := kernels.LaunchDivide(l.s, gpu.Linear(n), n, l.band(l.sums, l.all, band), l.totals, l.owners, l.pure); err != nil {
				return err
			}
		}
		return nil
	}
	last := len(l.levels) - 1
	for band := range l.m.bands {
		sums := l.band(l.sums, l.all, band)
		for k := last; k >= 0; k-- {
			f, c := &l.levels[k], &l.levels[min(k+1, last)]
			if err := kernels.LaunchCollapse(l.s, gpu.Plane(f.W, f.H), f.Window, c.Window, k == last, f.of(sums), f.of(l.totals), c.of(sums), c.of(l.totals)); err != nil {
				return err
			}
		}
	}
	top := l.levels[last].Window
	return kernels.LaunchSingle(l.s, gpu.Plane(top.W, top.H), top, l.owners, l.pure)
}

// blocks cuts the tile into blocks of the file, and leaves out those without data.
func (l *laneOf[T]) blocks(tile kernels.Window) []block {
	m := l.m
	bw, bh := m.block[0], m.block[1]
	across := (m.header.Width-1)/bw + 1
	of := map[int32]*layer{}
	for k := range l.images {
		of[int32(l.images[k].image)] = &l.images[k]
	}
	stride := m.header.Bands
	var all []block
	for y := tile.Y; y < tile.Y+tile.H; y += bh {
		for x := tile.X; x < tile.X+tile.W; x += bw {
			part := kernels.Window{X: x, Y: y, W: min(bw, tile.X+tile.W-x), H: min(bh, tile.Y+tile.H-y)}
			if !l.any(part) {
				continue
			}
			b := block{uint32(y/bh*across + x/bw), m.empty()}
			to := samples[T](b.pixels)
			for j := range part.H {
				for i := range part.W {
					px, py := x+i, y+j
					label := l.labels[(py-l.whole.Y)*l.whole.W+px-l.whole.X]
					if label < 0 {
						continue
					}
					at := (j*bw + i) * stride
					copy(to[at:at+m.bands], l.result[((py-tile.Y)*tile.W+px-tile.X)*m.bands:])
					if !m.noData {
						to[at+m.bands] = l.alpha(of[label], px, py)
					}
				}
			}
			all = append(all, b)
		}
	}
	return all
}
