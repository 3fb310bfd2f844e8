package ortho

import (
	"context"
	"errors"
	"math"
	"sync"

	"quern.dev/geo/internal/projection"
	"quern.dev/geo/ortho/internal/kernels"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp"
	"quern.dev/gpu"
)

// locator finds points of an output in an image of a sensor. It is a warp.Locator.
type locator struct {
	dev         *gpu.Device
	scene       *scene
	view        kernels.View
	surface     *Surface
	place       kernels.Place
	grids       projection.Grids // of place
	occlusion   kernels.Occlusion
	least, most float64 // heights
	memory      int64

	views          *gpu.Buffer[kernels.View]
	places         *gpu.Buffer[kernels.Place]
	viewSub, subs  *gpu.Buffer[projection.Subgrid]
	viewNode, node *gpu.Buffer[float32]

	mu       sync.Mutex
	scratchs map[*gpu.Stream]*scratch
}

// scratch is the memory of one stream.
type scratch struct {
	heights, peaks, values *gpu.Buffer[float32]
	host                   []float32
}

func (l *locator) upload() error {
	s := l.dev.DefaultStream()
	return errors.Join(upload(s, &l.views, []kernels.View{l.view}), upload(s, &l.places, []kernels.Place{l.place}),
		upload(s, &l.viewSub, some(l.scene.grids.Subgrids)), upload(s, &l.viewNode, some(l.scene.grids.Nodes)),
		upload(s, &l.subs, some(l.grids.Subgrids)), upload(s, &l.node, some(l.grids.Nodes)))
}

// some returns a slice with an element: a kernel takes no nil buffers.
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

func closeBuffer[T any](b *gpu.Buffer[T]) error {
	if b == nil {
		return nil
	}
	return b.Close()
}

func (l *locator) close() error {
	errs := []error{closeBuffer(l.views), closeBuffer(l.places), closeBuffer(l.viewSub), closeBuffer(l.viewNode), closeBuffer(l.subs), closeBuffer(l.node)}
	for _, s := range l.scratchs {
		errs = append(errs, closeBuffer(s.heights), closeBuffer(s.peaks), closeBuffer(s.values))
	}
	l.scratchs = nil
	return errors.Join(errs...)
}

// of returns the memory of a stream.
func (l *locator) of(s *gpu.Stream) *scratch {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.scratchs[s]
	if m == nil {
		m = new(scratch)
		l.scratchs[s] = m
	}
	return m
}

// room makes a buffer large enough and returns its first n elements.
func room(dev *gpu.Device, b **gpu.Buffer[float32], n int) (*gpu.Buffer[float32], error) {
	if *b == nil || (*b).Len() < n {
		if err := closeBuffer(*b); err != nil {
			return nil, err
		}
		*b = nil
		var err error
		if *b, err = gpu.Alloc[float32](dev, n); err != nil {
			return nil, err
		}
	}
	return (*b).Slice(0, n), nil
}

// Locate computes the positions of points in the image.
func (l *locator) Locate(ctx context.Context, s *gpu.Stream, r tiff.Region, half float64, xs, ys *gpu.Buffer[float64]) error {
	m := l.of(s)
	w := l.around(r)
	if bytes := 4 * int64(w.W) * int64(w.H); bytes > l.memory/2 {
		return failf(warp.ErrTooLarge, "the surface between %d x %d pixels of the output and what may hide them has %d x %d pixels; allow more memory, or switch the test off", r.Width, r.Height, w.W, w.H)
	}
	heights, err := room(l.dev, &m.heights, w.W*w.H)
	if err != nil {
		return err
	}
	if err := l.raise(ctx, s, m, w, w, heights); err != nil {
		return err
	}
	cells := gpu.Plane((w.W-1)/kernels.CellSize+1, (w.H-1)/kernels.CellSize+1)
	peaks, err := room(l.dev, &m.peaks, ((w.W-1)/kernels.CellSize+1)*((w.H-1)/kernels.CellSize+1))
	if err != nil {
		return err
	}
	if l.occlusion.Test {
		if err := kernels.LaunchPeaks(s, cells, w, heights, peaks); err != nil {
			return err
		}
	}
	tile := kernels.Window{X: r.X, Y: r.Y, W: r.Width, H: r.Height}
	return kernels.LaunchLocate(s, gpu.Plane(r.Width, r.Height), tile, half, l.views, l.viewSub, l.viewNode, l.occlusion, w, heights, peaks, xs, ys)
}

// around returns the pixels of the output whose heights the points of a region need: those around it, and those that
// lines of sight pass until they are above the surface.
func (l *locator) around(r tiff.Region) kernels.Window {
	x0, y0, x1, y1 := float64(r.X), float64(r.Y), float64(r.X+r.Width), float64(r.Y+r.Height)
	b := box{x0, y0, x1, y1}
	if l.occlusion.Test {
		for _, p := range [...][2]float64{{x0, y0}, {x1, y0}, {x0, y1}, {x1, y1}, {(x0 + x1) / 2, (y0 + y1) / 2}} {
			dx, dy := l.lean(p[0], p[1])
			// The slope of an RPC changes slowly.
			b.add(p[0]+1.1*dx, p[1]+1.1*dy)
		}
	}
	return kernels.Window{X: int(math.Floor(b.minX)) - 2, Y: int(math.Floor(b.minY)) - 2,
		W: int(math.Ceil(b.maxX)-math.Floor(b.minX)) + 4, H: int(math.Ceil(b.maxY)-math.Floor(b.minY)) + 4}
}

// lean returns by how many columns and rows a line of sight moves between the least and the greatest height.
func (l *locator) lean(column, row float64) (dx, dy float64) {
	v := &l.view
	if l.scene.sensor.frame() {
		// Between the point and the camera.
		share := min((l.most-l.least)/(v.Eye[2]-l.least), 1)
		if !(share >= 0) {
			return 0, 0
		}
		return (v.Eye[0] - column) * share, (v.Eye[1] - row) * share
	}
	var s kernels.Sight
	height := (l.least + l.most) / 2
	for k := range v.Points() {
		c, r, h := kernels.Point(k, column, row, height)
		x, y := v.Output.Apply(c, r)
		px, py := l.scene.image(x, y, h)
		s.Add(k, px, py)
	}
	sx, sy := v.Slope(&s, column, row, height)
	if !finite(sx, sy) {
		return 0, 0
	}
	return sx * (l.most - l.least), sy * (l.most - l.least)
}

// raise computes the heights of a part of a window. A part that needs too much of the surface is divided.
func (l *locator) raise(ctx context.Context, s *gpu.Stream, m *scratch, part, whole kernels.Window, heights *gpu.Buffer[float32]) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if l.surface.im == nil {
		return kernels.LaunchLevel(s, gpu.Linear(heights.Len()), float32(l.surface.least), heights)
	}
	b := emptyBox()
	for _, p := range [...][2]int{{0, 0}, {part.W, 0}, {0, part.H}, {part.W, part.H}} {
		b.add(float64(part.X+p[0]), float64(part.Y+p[1]))
	}
	relief := kernels.Relief{Width: l.surface.im.Width, Height: l.surface.im.Height, Scale: l.surface.scale, Offset: l.surface.offset}
	window, ok := l.surface.window(&l.place, l.grids, b)
	switch {
	case !ok: // the window is empty: all heights are NaN
	case int64(window.W)*int64(window.H)*4 > l.memory/8 && (part.W > 1 || part.H > 1):
		for _, p := range quarters(part) {
			if err := l.raise(ctx, s, m, p, whole, heights); err != nil {
				return err
			}
		}
		return nil
	default:
		relief.Window = window
	}
	n := relief.Window.W * relief.Window.H
	if len(m.host) < n {
		m.host = make([]float32, n)
	}
	values, err := room(l.dev, &m.values, max(n, 1))
	if err != nil {
		return err
	}
	if n > 0 {
		if err := l.surface.read(ctx, relief.Window, m.host[:n]); err != nil {
			return err
		}
		if err := gpu.CopyIn(s, values, m.host[:n]); err != nil {
			return err
		}
	}
	return kernels.LaunchHeights(s, gpu.Plane(part.W, part.H), part, whole, l.places, l.subs, l.node, relief, values, heights)
}

// quarters divides a window into up to four.
func quarters(p kernels.Window) []kernels.Window {
	w, h := (p.W+1)/2, (p.H+1)/2
	var all []kernels.Window
	for _, q := range []kernels.Window{{X: p.X, Y: p.Y, W: w, H: h}, {X: p.X + w, Y: p.Y, W: p.W - w, H: h}, {X: p.X, Y: p.Y + h, W: w, H: p.H - h}, {X: p.X + w, Y: p.Y + h, W: p.W - w, H: p.H - h}} {
		if q.W > 0 && q.H > 0 {
			all = append(all, q)
		}
	}
	return all
}
