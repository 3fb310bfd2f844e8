package warp

import (
	"encoding/json"
	"math"
	"slices"

	"quern.dev/geo/crs"
)

// Cutline is an area of polygons. A pixel of a source is in it if its center is: in an odd number of rings.
type Cutline struct {
	system *crs.CRS // nil: longitude and latitude on WGS 84
	rings  [][][2]float64
}

// NewCutline returns the area between rings, which are lists of x and y in a coordinate system, x to the east. The last
// point of a ring is joined to the first one.
func NewCutline(system *crs.CRS, rings [][][2]float64) (*Cutline, error) {
	c := &Cutline{system: system}
	for _, r := range rings {
		c.rings = append(c.rings, slices.Clone(r))
	}
	return c, c.check()
}

func (c *Cutline) check() error {
	if len(c.rings) == 0 {
		return failf(ErrArgument, "cutline: it has no polygon")
	}
	for i, r := range c.rings {
		if len(r) < 3 {
			return failf(ErrArgument, "cutline: ring %d has %d points; at least 3 are required", i, len(r))
		}
		for _, p := range r {
			if math.IsNaN(p[0]+p[1]) || math.IsInf(p[0]+p[1], 0) {
				return failf(ErrArgument, "cutline: ring %d has the point %v; coordinates must be finite", i, p)
			}
		}
	}
	return nil
}

// geoJSON is any object of GeoJSON.
type geoJSON struct {
	Type        string
	Features    []geoJSON
	Geometry    *geoJSON
	Geometries  []geoJSON
	Coordinates json.RawMessage
	CRS         *struct{ Properties struct{ Name string } }
}

// ParseCutline returns the polygons of a GeoJSON text: of a geometry, a feature or a collection. Coordinates are
// longitude and latitude on WGS 84, or in the system of the member "crs" of the older specification, or in system if
// it is not nil.
func ParseCutline(text []byte, system *crs.CRS) (*Cutline, error) {
	var g geoJSON
	if err := json.Unmarshal(text, &g); err != nil {
		return nil, failf(ErrArgument, "cutline: it is not GeoJSON, which ogr2ogr -f GeoJSON makes of other formats: %w", err)
	}
	c := &Cutline{system: system}
	if system == nil && g.CRS != nil {
		var err error
		if c.system, err = crs.Parse(g.CRS.Properties.Name); err != nil {
			return nil, err
		}
	}
	if err := c.add(&g, 0); err != nil {
		return nil, err
	}
	return c, c.check()
}

func (c *Cutline) add(g *geoJSON, depth int) error {
	if depth > 32 {
		return failf(ErrArgument, "cutline: GeoJSON: collections in more than 32 levels")
	}
	members := slices.Concat(g.Features, g.Geometries)
	if g.Geometry != nil {
		members = append(members, *g.Geometry)
	}
	for i := range members {
		if err := c.add(&members[i], depth+1); err != nil {
			return err
		}
	}
	var polygons [][][][]float64
	switch g.Type {
	case "Polygon":
		polygons = make([][][][]float64, 1)
		if err := json.Unmarshal(g.Coordinates, &polygons[0]); err != nil {
			return failf(ErrArgument, "cutline: GeoJSON: Polygon: %w", err)
		}
	case "MultiPolygon":
		if err := json.Unmarshal(g.Coordinates, &polygons); err != nil {
			return failf(ErrArgument, "cutline: GeoJSON: MultiPolygon: %w", err)
		}
	case "Feature", "FeatureCollection", "GeometryCollection":
	default:
		return failf(ErrArgument, "cutline: GeoJSON: an object of type %q; polygons are required", g.Type)
	}
	for _, polygon := range polygons {
		for _, ring := range polygon {
			var points [][2]float64
			for _, p := range ring {
				if len(p) < 2 {
					return failf(ErrArgument, "cutline: GeoJSON: a position of %d numbers; at least 2 are required", len(p))
				}
				points = append(points, [2]float64{p[0], p[1]})
			}
			c.rings = append(c.rings, points)
		}
	}
	return nil
}

// envelope returns the extent of the points in a coordinate system.
func (c *Cutline) envelope(target *crs.CRS, o *Options) (Extent, error) {
	e := Extent{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	system, err := c.ownSystem()
	if err != nil {
		return e, err
	}
	convert, err := o.between(system, target, o.Shift...)
	if err != nil {
		return e, err
	}
	for _, r := range c.rings {
		for _, p := range r {
			x, y, err := convert(p[0], p[1])
			if err != nil {
				return e, failf(ErrArgument, "cutline: the point %v has no place in %v: %w", p, target, err)
			}
			e = Extent{min(e.MinX, x), min(e.MinY, y), max(e.MaxX, x), max(e.MaxY, y)}
		}
	}
	return e, nil
}

// ownSystem returns the coordinate system of the rings.
func (c *Cutline) ownSystem() (*crs.CRS, error) {
	if c.system != nil {
		return c.system, nil
	}
	return crs.EPSG(4326)
}

// cut is a cutline in the pixels of a source.
type cut struct {
	rings []points
	blend float64 // pixels on both sides of an edge in which the source fades
}

// cut converts the rings. Edges are divided, so that they stay straight in the cutline's own system within a hundredth
// of a pixel.
func (c *Cutline) cut(s *source, o *Options) (*cut, error) {
	system, err := c.ownSystem()
	if err != nil {
		return nil, err
	}
	convert, err := o.between(system, s.crs)
	if err != nil {
		return nil, err
	}
	to := func(p [2]float64) ([2]float64, error) {
		x, y, err := convert(p[0], p[1])
		if err != nil {
			return p, failf(ErrArgument, "cutline: the point %v has no place in %s: %w", p, s.name, err)
		}
		x, y = s.place.Pixel(s.spline, x, y)
		return [2]float64{x, y}, nil
	}
	out := &cut{blend: o.CutlineBlend}
	for _, ring := range c.rings {
		var r points
		for i, p := range ring {
			q := ring[(i+1)%len(ring)]
			a, err := to(p)
			if err != nil {
				return nil, err
			}
			b, err := to(q)
			if err != nil {
				return nil, err
			}
			r.add(a[0], a[1])
			if err := r.divide(p, q, a, b, to, 0); err != nil {
				return nil, err
			}
		}
		out.rings = append(out.rings, r)
	}
	return out, nil
}

// divide adds points between a and b, the places of p and q, while the middle is off the line.
func (r *points) divide(p, q, a, b [2]float64, to func([2]float64) ([2]float64, error), depth int) error {
	m := [2]float64{(p[0] + q[0]) / 2, (p[1] + q[1]) / 2}
	c, err := to(m)
	if err != nil {
		return err
	}
	if depth == 12 || math.Abs(c[0]-(a[0]+b[0])/2)+math.Abs(c[1]-(a[1]+b[1])/2) < 0.01 {
		return nil
	}
	if err := r.divide(p, m, a, c, to, depth+1); err != nil {
		return err
	}
	r.add(c[0], c[1])
	return r.divide(m, q, c, b, to, depth+1)
}

// apply sets the mask of pixels of a window outside of the cutline to 0.
func (c *cut) apply(mask []uint8, win rectangle) {
	for y := range win.h {
		var cross []float64
		at := float64(win.y+y) + 0.5
		for _, r := range c.rings {
			for i := range r.x {
				j := (i + 1) % len(r.x)
				y0, y1 := r.y[i], r.y[j]
				if (y0 <= at) == (y1 <= at) {
					continue
				}
				cross = append(cross, r.x[i]+(at-y0)/(y1-y0)*(r.x[j]-r.x[i])-float64(win.x))
			}
		}
		slices.Sort(cross)
		row := mask[y*win.w:][:win.w]
		done := 0
		for i := 0; i+1 < len(cross); i += 2 {
			first, end := column(cross[i], win.w), column(cross[i+1], win.w)
			if first > done {
				clear(row[done:first])
			}
			done = max(done, end)
		}
		clear(row[done:])
	}
}

// fade multiplies what pixels of a window count: by 1/2 at the edges of the cutline, increasing to 1 inside and decreasing to 0 outside
// in the distance blend.
func (c *cut) fade(counts []float32, win rectangle) {
	inside := make([]uint8, len(counts))
	for i := range inside {
		inside[i] = 255
	}
	c.apply(inside, win)
	distances := make([]float64, len(counts)) // squares
	far := c.blend * c.blend
	for i := range distances {
		distances[i] = math.Inf(1)
	}
	for _, r := range c.rings {
		for i := range r.x {
			j := (i + 1) % len(r.x)
			near(distances, win, c.blend, r.x[i]-float64(win.x), r.y[i]-float64(win.y), r.x[j]-float64(win.x), r.y[j]-float64(win.y))
		}
	}
	for i, d := range distances {
		share := 1.0
		if d <= far {
			share = 0.5 + 0.5*math.Sqrt(d)/c.blend
		}
		if inside[i] == 0 {
			share = 1 - share
		}
		counts[i] *= float32(share)
	}
}

// near lowers the squares of distances from the centers of pixels to an edge, where they are at most reach.
func near(distances []float64, win rectangle, reach, x0, y0, x1, y1 float64) {
	dx, dy := x1-x0, y1-y0
	length := dx*dx + dy*dy
	limit := func(v float64, most int) int { return int(min(max(v, 0), float64(most))) }
	for y := limit(math.Floor(min(y0, y1)-reach), win.h); y < limit(math.Ceil(max(y0, y1)+reach), win.h); y++ {
		for x := limit(math.Floor(min(x0, x1)-reach), win.w); x < limit(math.Ceil(max(x0, x1)+reach), win.w); x++ {
			px, py := float64(x)+0.5-x0, float64(y)+0.5-y0
			t := 0.0
			if length > 0 {
				t = min(1, max(0, (px*dx+py*dy)/length))
			}
			px, py = px-t*dx, py-t*dy
			distances[y*win.w+x] = min(distances[y*win.w+x], px*px+py*py)
		}
	}
}

// column returns the first pixel whose center is not before x.
func column(x float64, width int) int {
	return int(min(max(math.Floor(x+0.5), 0), float64(width)))
}
