package warp

import (
	"errors"
	"math"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp/internal/kernels"
)

// Grid is where the pixels of an image are.
type Grid struct {
	CRS           *crs.CRS
	Affine        tiff.Affine // from pixels to coordinates
	Width, Height int
}

// mostPixels is how many pixels a side of an image may have.
const mostPixels = math.MaxInt32 - 1

// resolve returns the grid of the output.
func (o *Options) resolve(sources []*source) (Grid, error) {
	target := sources[0].crs
	if o.Target != nil {
		target = o.Target
	}
	g := Grid{CRS: target}
	if err := o.setExtent(target, sources[0]); err != nil {
		return g, err
	}
	var all Extent
	rx, ry := 0.0, 0.0
	if o.Extent == nil || o.Resolution[0] == 0 && o.Width == 0 && o.Height == 0 {
		for i, s := range sources {
			one, err := s.suggest()
			if err != nil {
				return g, err
			}
			e := one.extent()
			if len(sources) == 1 && o.Extent == nil && o.Resolution[0] == 0 && o.Width == 0 && o.Height == 0 {
				return one, nil
			}
			if i == 0 {
				all, rx, ry = e, one.Affine[1], -one.Affine[5]
				continue
			}
			all = Extent{min(all.MinX, e.MinX), min(all.MinY, e.MinY), max(all.MaxX, e.MaxX), max(all.MaxY, e.MaxY)}
			rx, ry = min(rx, one.Affine[1]), min(ry, -one.Affine[5])
		}
	}
	if o.Extent != nil {
		all = *o.Extent
		if o.Resolution[0] == 0 && o.Width == 0 && o.Height == 0 {
			for i, s := range sources {
				if r := s.resolution(all, min(rx, ry)); i == 0 || r < rx {
					rx, ry = r, r
				}
			}
		}
	}
	if o.Resolution[0] != 0 {
		rx, ry = o.Resolution[0], o.Resolution[1]
	}
	if o.AlignPixels {
		all = Extent{math.Floor(all.MinX/rx) * rx, math.Floor(all.MinY/ry) * ry, math.Ceil(all.MaxX/rx) * rx, math.Ceil(all.MaxY/ry) * ry}
	}
	w, h := float64(o.Width), float64(o.Height)
	switch {
	case o.Width != 0 && o.Height != 0:
		rx, ry = (all.MaxX-all.MinX)/w, (all.MaxY-all.MinY)/h
	case o.Width != 0:
		rx = (all.MaxX - all.MinX) / w
		ry = rx
		h = math.Floor((all.MaxY-all.MinY)/ry + 0.5)
	case o.Height != 0:
		ry = (all.MaxY - all.MinY) / h
		rx = ry
		w = math.Floor((all.MaxX-all.MinX)/rx + 0.5)
	default:
		w, h = math.Floor((all.MaxX-all.MinX)/rx+0.5), math.Floor((all.MaxY-all.MinY)/ry+0.5)
		if o.Extent != nil && o.Resolution[0] == 0 {
			rx, ry = (all.MaxX-all.MinX)/max(w, 1), (all.MaxY-all.MinY)/max(h, 1)
		}
	}
	w, h = max(w, 1), max(h, 1)
	if !(w <= mostPixels && h <= mostPixels) {
		return g, failf(ErrArgument, "the output would have %.0f x %.0f pixels; at most %d are possible", w, h, mostPixels)
	}
	g.Width, g.Height = int(w), int(h)
	g.Affine = tiff.Affine{all.MinX, rx, 0, all.MaxY, 0, -ry}
	if o.Resolution[0] != 0 && o.Extent == nil {
		g.trim(sources)
	}
	return g, nil
}

// resolution returns the size of a pixel of the source in an extent of the target: the least mean of those in x and y at its
// corners, as in gdalwarp, or otherwise if no corner has a place in the source.
func (s *source) resolution(e Extent, otherwise float64) float64 {
	least := math.Inf(1)
	for _, p := range [...][2]float64{{e.MinX, e.MinY}, {e.MaxX, e.MinY}, {e.MinX, e.MaxY}, {e.MaxX, e.MaxY}} {
		step := otherwise / 8
		x, y := s.back(p[0], p[1])
		x1, y1 := s.back(p[0]+step, p[1])
		x2, y2 := s.back(p[0], p[1]+step)
		if r := (step/math.Hypot(x1-x, y1-y) + step/math.Hypot(x2-x, y2-y)) / 2; r > 0 {
			least = min(least, r)
		}
	}
	if math.IsInf(least, 1) {
		return otherwise
	}
	return least
}

// setExtent finds the extent of the output, if options say how.
func (o *Options) setExtent(target *crs.CRS, first *source) error {
	if o.ExtentCRS != nil {
		convert, err := o.between(o.ExtentCRS, target, o.Shift...)
		if err != nil {
			return err
		}
		e := *o.Extent
		x0, y0, err0 := convert(e.MinX, e.MinY)
		x1, y1, err1 := convert(e.MaxX, e.MaxY)
		if err := errors.Join(err0, err1); err != nil {
			return failf(ErrArgument, "options: the extent %v cannot be transformed: %w", e, err)
		}
		if !(x0 < x1 && y0 < y1) {
			return failf(ErrArgument, "options: the extent %v is %v in %v, which is empty", e, Extent{x0, y0, x1, y1}, target)
		}
		o.Extent = &Extent{x0, y0, x1, y1}
	}
	if !o.CropToCutline {
		return nil
	}
	e, err := o.Cutline.envelope(target, o)
	if err != nil {
		return err
	}
	if a := first.affine; first.same && first.outward.Terms == 0 && a[2] == 0 && a[4] == 0 && a[1] > 0 && a[5] < 0 && o.Resolution[0] == 0 && o.Width == 0 && o.Height == 0 {
		const rounding = 1e-3 // pixels; gdalwarp has the same
		first := func(from, v, pixel float64) float64 { return from + math.Ceil((v-from)/pixel-rounding)*pixel }
		last := func(from, v, pixel float64) float64 { return from + math.Floor((v-from)/pixel+rounding)*pixel }
		e = Extent{first(a[0], e.MinX, a[1]), last(a[3], e.MinY, a[5]), last(a[0], e.MaxX, a[1]), first(a[3], e.MaxY, a[5])}
	}
	if !(e.MinX < e.MaxX && e.MinY < e.MaxY) {
		return failf(ErrArgument, "cutline: it has no whole pixel")
	}
	o.Extent = &e
	return nil
}

// trim removes rows and columns at the edges that have no pixel whose center is in a source: those that
// rounding to the resolution has added.
func (g *Grid) trim(sources []*source) {
	a := kernels.Affine(g.Affine)
	empty := func(n int, pixel func(i int) (x, y float64)) bool {
		for _, s := range sources {
			for i := range n {
				px, py := s.back(a.Apply(pixel(i)))
				if px >= 0 && py >= 0 && px <= float64(s.h.Width) && py <= float64(s.h.Height) {
					return false
				}
			}
		}
		return true
	}
	column := func(c int) bool {
		return g.Width > 1 && empty(g.Height, func(i int) (float64, float64) { return float64(c) + 0.5, float64(i) + 0.5 })
	}
	row := func(r int) bool {
		return g.Height > 1 && empty(g.Width, func(i int) (float64, float64) { return float64(i) + 0.5, float64(r) + 0.5 })
	}
	if column(g.Width - 1) {
		g.Width--
	}
	if row(g.Height - 1) {
		g.Height--
	}
	if column(0) {
		g.Width--
		g.Affine[0] += g.Affine[1]
	}
	if row(0) {
		g.Height--
		g.Affine[3] += g.Affine[5]
	}
}

func (g *Grid) extent() Extent {
	a := g.Affine
	return Extent{a[0], a[3] + float64(g.Height)*a[5], a[0] + float64(g.Width)*a[1], a[3]}
}

// points is a list of positions.
type points struct{ x, y []float64 }

func (p *points) add(x, y float64) { p.x, p.y = append(p.x, x), append(p.y, y) }

// edge returns points along the edge of a rectangle of w x h, steps+1 per side: top, bottom, left and right.
func edge(w, h float64, steps int) points {
	var p points
	for side := range 4 {
		for i := range steps + 1 {
			r := float64(i) / float64(steps)
			switch side {
			case 0:
				p.add(r*w, 0)
			case 1:
				p.add(r*w, h)
			case 2:
				p.add(0, r*h)
			default:
				p.add(w, r*h)
			}
		}
	}
	return p
}

// lattice returns the points of a grid of (steps+1) x (steps+1) over a rectangle.
func lattice(w, h float64, steps int) points {
	var p points
	for j := range steps + 1 {
		for i := range steps + 1 {
			p.add(float64(i)/float64(steps)*w, float64(j)/float64(steps)*h)
		}
	}
	return p
}

// suggest returns a grid in the target's coordinates that covers a source with about its resolution: the diagonals have
// the same number of pixels, as in GDAL's GDALSuggestedWarpOutput2.
func (s *source) suggest() (Grid, error) {
	a := s.affine
	g := Grid{CRS: s.target, Width: s.h.Width, Height: s.h.Height}
	if s.same && s.outward.Terms == 0 && a[2] == 0 && a[4] == 0 && a[1] > 0 {
		g.Affine = a
		if a[5] > 0 {
			g.Affine[3], g.Affine[5] = a[3]+float64(s.h.Height)*a[5], -a[5]
		}
		return g, nil
	}
	w, h := float64(s.h.Width), float64(s.h.Height)
	steps := min(max(int(float64(min(s.h.Width, s.h.Height))/50+0.5), 20), 100)
	p := edge(w, h, steps)
	q := s.forward(p)
	if s.failed(p, q, w/float64(steps), h/float64(steps)) {
		p = lattice(w, h, steps)
		q = s.forward(p)
	}
	e := Extent{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	good := 0
	for i := range q.x {
		if math.IsNaN(q.x[i]) {
			continue
		}
		good++
		e = Extent{min(e.MinX, q.x[i]), min(e.MinY, q.y[i]), max(e.MaxX, q.x[i]), max(e.MaxY, q.y[i])}
	}
	if good < 10 {
		return g, failf(ErrOutside, "%s: its place cannot be expressed in %v", s.name, s.target)
	}
	geographic := s.target.Kind() == crs.Geographic
	if geographic && s.crs.Kind() != crs.Geographic {
		s.includePoles(&e)
	}
	last := len(q.x) - 1
	dx, dy := q.x[last]-q.x[0], q.y[last]-q.y[0]
	if math.IsNaN(dx) || math.IsNaN(dy) || dx == 0 || dy == 0 {
		dx, dy = e.MaxX-e.MinX, e.MaxY-e.MinY
	}
	size := math.Sqrt(float64(dx*dx)+float64(dy*dy)) / math.Sqrt(w*w+h*h)
	columns, rows := (e.MaxX-e.MinX)/size, (e.MaxY-e.MinY)/size
	if !(columns <= mostPixels && rows <= mostPixels) {
		return g, failf(ErrArgument, "%s: the output would have %.0f x %.0f pixels; set a resolution", s.name, columns, rows)
	}
	g.Width, g.Height = max(int(columns+0.5), 1), max(int(rows+0.5), 1)
	px, py := size, size
	if right := e.MinX + float64(g.Width)*px; geographic && (e.MaxX <= 180 && right > 180 || e.MaxX == 180) {
		px = (180 - e.MinX) / float64(g.Width)
	}
	if low := e.MaxY - float64(g.Height)*py; geographic && e.MinY >= -90 && low < -90 {
		py = (e.MaxY + 90) / float64(g.Height)
	}
	g.Affine = tiff.Affine{e.MinX, px, 0, e.MaxY, 0, -py}
	return g, nil
}

// failed reports whether points of a source have no coordinates in the target, or do not come back.
func (s *source) failed(p, q points, dx, dy float64) bool {
	for i := range q.x {
		x, y := s.back(q.x[i], q.y[i])
		if !(math.Abs(x-p.x[i]) <= dx && math.Abs(y-p.y[i]) <= dy) {
			return true
		}
	}
	return false
}

// includePoles extends an extent in degrees to a pole that is in the source.
func (s *source) includePoles(e *Extent) {
	for _, lat := range []float64{-90, 90} {
		x, y := s.back(0, lat)
		if !(x > 0 && y > 0 && x < float64(s.h.Width) && y < float64(s.h.Height)) {
			continue
		}
		e.MinX, e.MaxX = -180, 180
		e.MinY, e.MaxY = min(e.MinY, lat), max(e.MaxY, lat)
	}
}
