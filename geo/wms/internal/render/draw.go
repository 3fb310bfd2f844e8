package render

import (
	"context"
	"math"

	"quern.dev/geo/crs"
	"quern.dev/geo/crs/device"
	"quern.dev/geo/internal/projection"
	"quern.dev/geo/wms/internal/kernels"
	"quern.dev/gpu"
)

// Extent is a rectangle of coordinates.
type Extent struct{ MinX, MinY, MaxX, MaxY float64 }

// meets reports whether rectangles have a point in common.
func (e Extent) meets(o Extent) bool {
	return e.MinX <= o.MaxX && o.MinX <= e.MaxX && e.MinY <= o.MaxY && o.MinY <= e.MaxY
}

// View is a source in a coordinate system.
type View struct {
	source    *Source
	operation projection.Operation // from the system of the view to that of the source
	grids     projection.Grids
	same      bool
	device    *device.Transform
	footprint Extent // outside of it, there are no pixels; infinite if unknown
}

// View prepares maps in the system that t leads to from that of the source.
func (s *Source) View(t *crs.Transform) (*View, error) {
	v := &View{source: s}
	v.operation, v.grids = t.Operation(true)
	op := &v.operation
	v.same = op.From == op.To && !op.Cartesian && op.Source.Count == 0 && op.Target.Count == 0
	v.footprint = v.reach(t)
	if !v.same {
		var err error
		if v.device, err = device.New(s.r.dev.DefaultStream(), t); err != nil {
			return nil, err
		}
		s.r.own(v.device)
	}
	return v, nil
}

// Close frees the memory of the view. No map of it may be under way.
func (v *View) Close() error {
	if v.same {
		return nil
	}
	return v.source.r.free(v.device)
}

// Footprint returns a rectangle outside of which there are no pixels.
func (v *View) Footprint() Extent { return v.footprint }

// reach finds the footprint from points of the source; between them, it may go further by a part of their distance.
func (v *View) reach(t *crs.Transform) Extent {
	const steps = 32
	inf := math.Inf(1)
	unknown := Extent{-inf, -inf, inf, inf}
	e := Extent{inf, inf, -inf, -inf}
	w, h := float64(v.source.im.Width), float64(v.source.im.Height)
	a, _ := v.source.im.Geo.Affine()
	place := kernels.Affine(a)
	for j := range steps + 1 {
		for i := range steps + 1 {
			px, py := float64(i)/steps*w, float64(j)/steps*h
			x, y := place.Apply(px, py)
			if !v.same {
				var err error
				if x, y, err = t.Forward(x, y); err != nil {
					return unknown
				}
			}
			bx, by := v.position(x, y)
			if !(math.Abs(bx-px) <= w/steps && math.Abs(by-py) <= h/steps) {
				return unknown
			}
			e = Extent{min(e.MinX, x), min(e.MinY, y), max(e.MaxX, x), max(e.MaxY, y)}
		}
	}
	if !v.same {
		dx, dy := (e.MaxX-e.MinX)/steps, (e.MaxY-e.MinY)/steps
		e = Extent{e.MinX - dx, e.MinY - dy, e.MaxX + dx, e.MaxY + dy}
	}
	return e
}

// position returns where coordinates are in the image, in pixels, or NaN.
func (v *View) position(x, y float64) (float64, float64) {
	if !v.same {
		x, y, _ = v.operation.Apply(v.grids.Subgrids, v.grids.Nodes, x, y, 0)
	}
	return v.source.affine.Apply(x, y)
}

// Map is what to draw.
type Map struct {
	Views         []*View // later ones over earlier ones
	Extent        Extent
	Width, Height int
	Exact         bool // compute the position of each pixel
}

func (m *Map) affine() kernels.Affine {
	return kernels.Affine{m.Extent.MinX, (m.Extent.MaxX - m.Extent.MinX) / float64(m.Width), 0, m.Extent.MaxY, 0, (m.Extent.MinY - m.Extent.MaxY) / float64(m.Height)}
}

// rectangle is a part of a map in pixels.
type rectangle struct{ x, y, w, h int }

// extent returns the coordinates of a part.
func (m *Map) extent(r rectangle) Extent {
	a := m.affine()
	x0, y1 := a.Apply(float64(r.x), float64(r.y))
	x1, y0 := a.Apply(float64(r.x+r.w), float64(r.y+r.h))
	return Extent{x0, y0, x1, y1}
}

// Draw writes the colors of a map to dst. Where nothing was drawn, they are 0. It waits for a free lane until ctx ends.
func (r *Renderer) Draw(ctx context.Context, m *Map, dst []uint32) error {
	var l *lane
	select {
	case l = <-r.lanes:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	defer func() { r.lanes <- l }()
	for y := 0; y < m.Height; y += partSize {
		for x := 0; x < m.Width; x += partSize {
			if err := ctx.Err(); err != nil {
				return context.Cause(ctx)
			}
			part := rectangle{x, y, min(partSize, m.Width-x), min(partSize, m.Height-y)}
			d := drawing{lane: l, m: m, part: part}
			if err := d.draw(ctx); err != nil {
				return err
			}
			for row := range part.h {
				to := dst[(y+row)*m.Width+x:][:part.w]
				if d.empty {
					clear(to)
				} else {
					copy(to, l.result.Data()[row*part.w:])
				}
			}
		}
	}
	return nil
}

// drawing is a part of a map under way.
type drawing struct {
	*lane
	m     *Map
	part  rectangle
	empty bool // nothing was drawn
}

func (d *drawing) draw(ctx context.Context) error {
	d.empty = true
	// The kernels must end before the lane and the pages have other uses.
	defer func() {
		d.r.pages.unpinAll(d.pinned)
		d.pinned = d.pinned[:0]
	}()
	done := context.WithoutCancel(ctx)
	for _, v := range d.m.Views {
		if err := d.window(ctx, v, d.part); err != nil {
			_ = d.s.Synchronize(done)
			return err
		}
	}
	if d.empty {
		return nil
	}
	n := d.part.w * d.part.h
	if !d.mapped {
		if err := gpu.CopyOutAsync(d.s, d.result.Slice(0, n), d.out.Slice(0, n)); err != nil {
			return err
		}
	}
	return d.s.Synchronize(done)
}

const (
	// MaxError is how far an interpolated position may be from the exact one, in pixels of the level of the source.
	MaxError = 1.0 / 16

	mostShift, leastShift = 7, 4
	smallest              = 64 // pixels of a side of a window that is no longer divided because of its positions
)

// window draws a view in a part of the map. It divides parts whose positions are not smooth or need too many pages.
func (d *drawing) window(ctx context.Context, v *View, r rectangle) error {
	e := d.m.extent(r)
	if !v.footprint.meets(e) {
		return nil
	}
	if d.m.Exact {
		return d.exact(ctx, v, r)
	}
	shift, ok := d.locate(v, r)
	switch {
	case ok:
		return d.interpolate(ctx, v, r, shift)
	case r.w > smallest || r.h > smallest:
		return d.divide(ctx, v, r)
	}
	return d.exact(ctx, v, r)
}

func (d *drawing) divide(ctx context.Context, v *View, r rectangle) error {
	w, h := (r.w+1)/2, (r.h+1)/2
	for _, p := range []rectangle{{r.x, r.y, w, h}, {r.x + w, r.y, r.w - w, h}, {r.x, r.y + h, w, r.h - h}, {r.x + w, r.y + h, r.w - w, r.h - h}} {
		if p.w > 0 && p.h > 0 {
			if err := d.window(ctx, v, p); err != nil {
				return err
			}
		}
	}
	return nil
}

// locate fills places with the positions of a lattice that is fine enough, and returns its distance.
func (d *drawing) locate(v *View, r rectangle) (shift int, ok bool) {
	a := d.m.affine()
	at := func(x, y int) (float64, float64) {
		return v.position(a.Apply(float64(r.x+x)+0.5, float64(r.y+y)+0.5))
	}
	for shift = mostShift; shift >= leastShift; shift-- {
		size := 1 << shift
		if shift > leastShift && size >= 2*max(r.w, r.h) {
			continue
		}
		across, down := (r.w-1)>>shift+1, (r.h-1)>>shift+1
		d.places = d.places[:0]
		for j := range down + 1 {
			for i := range across + 1 {
				x, y := at(i*size, j*size)
				if !(math.Abs(x) < 1e12 && math.Abs(y) < 1e12) {
					return 0, false
				}
				d.places = append(d.places, x, y)
			}
		}
		if v.same || d.smooth(v, across, down, size, at) {
			return shift, true
		}
	}
	return 0, false
}

// smooth reports whether positions in the middle of cells and of their sides are where interpolation places them.
func (d *drawing) smooth(v *View, across, down, size int, at func(x, y int) (float64, float64)) bool {
	s := v.source
	lv := &s.levels[s.level(d.scale(across, down, size))]
	near := func(x, y int, p ...int) bool {
		var mx, my float64
		for _, i := range p {
			mx, my = mx+d.places[2*i]/float64(len(p)), my+d.places[2*i+1]/float64(len(p))
		}
		ex, ey := at(x, y)
		return math.Abs(ex-mx) <= MaxError*lv.scaleX && math.Abs(ey-my) <= MaxError*lv.scaleY
	}
	half := size / 2
	for j := range down {
		for i := range across {
			k := j*(across+1) + i
			below := k + across + 1
			x, y := i*size, j*size
			if !near(x+half, y+half, k, k+1, below, below+1) || !near(x+half, y, k, k+1) || !near(x, y+half, k, below) ||
				!near(x+half, y+size, below, below+1) || !near(x+size, y+half, k+1, below+1) {
				return false
			}
		}
	}
	return true
}

// scale returns how many pixels of the image a pixel of the map has, in each direction, from the corners of the lattice.
func (d *drawing) scale(across, down, size int) float64 {
	p, last := d.places, 2*(across+1)*down
	ux, uy := (p[2*across]-p[0])/float64(across*size), (p[2*across+1]-p[1])/float64(across*size)
	vx, vy := (p[last]-p[0])/float64(down*size), (p[last+1]-p[1])/float64(down*size)
	return math.Sqrt(math.Abs(ux*vy - uy*vx))
}

// level returns the level for a scale: the smallest one that is not coarser than the map.
func (s *Source) level(scale float64) int {
	best := 0
	for i := range s.levels {
		if v := &s.levels[i]; math.Sqrt(v.scaleX*v.scaleY) <= scale*1.1 {
			best = i
		}
	}
	return best
}

// slack is how far rounding may move a position, in pixels.
const slack = 1.0 / 1024

// box is a rectangle of positions in a level: those of the upper left one of four pixels, plus 1.
type box struct{ left, top, right, bottom float64 }

// clip restricts a box to the image; it is false if nothing remains.
func (lv *level) clip(b box) (box, bool) {
	b = box{max(b.left-slack, 0.5), max(b.top-slack, 0.5), min(b.right+slack, float64(lv.width)+0.5), min(b.bottom+slack, float64(lv.height)+0.5)}
	return b, b.left <= b.right && b.top <= b.bottom
}

// frame pins the pages of a box and returns the table, and the map's limits.
func (d *drawing) frame(ctx context.Context, v *View, lv int, b box, r rectangle) (m kernels.Map, originX, originY float64, err error) {
	s := v.source
	left, top, right, bottom := int(b.left)>>kernels.PageShift, int(b.top)>>kernels.PageShift, int(b.right)>>kernels.PageShift, int(b.bottom)>>kernels.PageShift
	originX, originY = float64(left*kernels.PageSize), float64(top*kernels.PageSize)
	m = kernels.Map{Width: r.w, Height: r.h, Start: (r.y-d.part.y)*d.part.w + r.x - d.part.x, Stride: d.part.w, Across: right - left + 1, Nearest: s.style.Nearest}
	m.Left, m.Right = int((0.5-originX)*kernels.One), int((float64(s.levels[lv].width)+0.5-originX)*kernels.One)
	m.Top, m.Down = int((0.5-originY)*kernels.One), int((float64(s.levels[lv].height)+0.5-originY)*kernels.One)
	d.slots = d.slots[:0]
	for j := top; j <= bottom; j++ {
		for i := left; i <= right; i++ {
			g, err := s.pin(ctx, d.lane, lv, i, j)
			if err != nil {
				return m, 0, 0, err
			}
			d.pinned = append(d.pinned, g)
			d.slots = append(d.slots, int32(g.slot*kernels.PagePixels))
		}
	}
	if err := gpu.CopyIn(d.s, d.table.Slice(0, len(d.slots)), d.slots); err != nil {
		return m, 0, 0, err
	}
	m.First = d.empty && r == d.part
	if d.empty && !m.First {
		if err := gpu.Zero(d.s, d.out.Slice(0, d.part.w*d.part.h)); err != nil {
			return m, 0, 0, err
		}
	}
	d.empty = false
	return m, originX, originY, nil
}

// pagesOf returns how many pages a box needs.
func (b box) pages() int {
	return (int(b.right)>>kernels.PageShift - int(b.left)>>kernels.PageShift + 1) * (int(b.bottom)>>kernels.PageShift - int(b.top)>>kernels.PageShift + 1)
}

// room makes room for the pages of another window. A part that is drawn in many windows gives up those of the earlier ones.
func (d *drawing) room(ctx context.Context, n int) error {
	if len(d.pinned)+n <= mostPages {
		return nil
	}
	err := d.s.Synchronize(context.WithoutCancel(ctx))
	d.r.pages.unpinAll(d.pinned)
	d.pinned = d.pinned[:0]
	return err
}

// interpolate draws a window with the positions of places.
func (d *drawing) interpolate(ctx context.Context, v *View, r rectangle, shift int) error {
	s := v.source
	across, down := (r.w-1)>>shift+1, (r.h-1)>>shift+1
	lv := s.level(d.scale(across, down, 1<<shift))
	var b box
	for ; ; lv++ {
		k := &s.levels[lv]
		b = box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
		for i := 0; i < len(d.places); i += 2 {
			x, y := d.places[i]/k.scaleX+0.5, d.places[i+1]/k.scaleY+0.5
			b = box{min(b.left, x), min(b.top, y), max(b.right, x), max(b.bottom, y)}
		}
		var any bool
		if b, any = k.clip(b); !any {
			return nil
		}
		if b.pages() <= mostPages {
			break
		}
		if r.w > 16 || r.h > 16 {
			return d.divide(ctx, v, r)
		}
	}
	if err := d.room(ctx, b.pages()); err != nil {
		return err
	}
	m, originX, originY, err := d.frame(ctx, v, lv, b, r)
	if err != nil {
		return err
	}
	m.Shift, m.Columns = shift, across+1
	k := &s.levels[lv]
	d.nodes = d.nodes[:0]
	for i := 0; i < len(d.places); i += 2 {
		d.nodes = append(d.nodes, int64((d.places[i]/k.scaleX+0.5-originX)*kernels.One), int64((d.places[i+1]/k.scaleY+0.5-originY)*kernels.One))
	}
	if err := gpu.CopyIn(d.s, d.lattice.Slice(0, len(d.nodes)), d.nodes); err != nil {
		return err
	}
	return kernels.LaunchDraw(d.s, gpu.Plane((r.w-1)/kernels.Run+1, r.h), m, d.lattice, d.table, s.r.memory, d.out)
}

// exact draws a window with the exact position of each pixel.
func (d *drawing) exact(ctx context.Context, v *View, r rectangle) error {
	if d.xs == nil {
		if err := alloc(d.r.dev, &d.xs, partSize*partSize); err != nil {
			return err
		}
		if err := alloc(d.r.dev, &d.ys, partSize*partSize); err != nil {
			return err
		}
	}
	s, n := v.source, r.w*r.h
	xs, ys := d.xs.Slice(0, n), d.ys.Slice(0, n)
	if err := kernels.LaunchCoordinates(d.s, gpu.Plane(r.w, r.h), r.x, r.y, r.w, r.h, d.m.affine(), xs, ys); err != nil {
		return err
	}
	if !v.same {
		if err := v.device.Inverse(d.s, xs, ys, nil); err != nil {
			return err
		}
	}
	found := []int32{math.MaxInt32, math.MaxInt32, -1, -1}
	if err := gpu.CopyIn(d.s, d.box, found); err != nil {
		return err
	}
	if err := kernels.LaunchBounds(d.s, gpu.Linear(n), s.im.Width, s.im.Height, s.affine, xs, ys, d.box); err != nil {
		return err
	}
	if err := gpu.Download(context.WithoutCancel(ctx), d.s, found, d.box); err != nil {
		return err
	}
	if found[2] < 0 {
		return nil
	}
	lv := s.level(d.estimate(v, r))
	var b box
	for ; ; lv++ {
		k := &s.levels[lv]
		b, _ = k.clip(box{float64(found[0])/k.scaleX + 0.5, float64(found[1])/k.scaleY + 0.5, float64(found[2]+1)/k.scaleX + 0.5, float64(found[3]+1)/k.scaleY + 0.5})
		if b.pages() <= mostPages {
			break
		}
		if r.w > 16 || r.h > 16 {
			return d.divide(ctx, v, r)
		}
	}
	if err := d.room(ctx, b.pages()); err != nil {
		return err
	}
	m, originX, originY, err := d.frame(ctx, v, lv, b, r)
	if err != nil {
		return err
	}
	k := &s.levels[lv]
	return kernels.LaunchExact(d.s, gpu.Plane(r.w, r.h), m, 1/k.scaleX, 1/k.scaleY, originX-0.5, originY-0.5, xs, ys, d.table, s.r.memory, d.out)
}

// estimate returns the smallest scale at some points of a window: at a seam of the projection, such as the antimeridian, and at a
// pole, scales are large without meaning.
func (d *drawing) estimate(v *View, r rectangle) float64 {
	a := d.m.affine()
	least := math.Inf(1)
	for _, f := range [][2]float64{{0.5, 0.5}, {0.2, 0.3}, {0.7, 0.2}, {0.3, 0.8}, {0.8, 0.7}} {
		px, py := float64(r.x)+f[0]*float64(r.w), float64(r.y)+f[1]*float64(r.h)
		x0, y0 := v.position(a.Apply(px, py))
		x1, y1 := v.position(a.Apply(px+1, py))
		x2, y2 := v.position(a.Apply(px, py+1))
		if scale := math.Sqrt(math.Abs((x1-x0)*(y2-y0) - (y1-y0)*(x2-x0))); scale > 0 {
			least = min(least, scale)
		}
	}
	if math.IsInf(least, 1) {
		return 1
	}
	return least
}
