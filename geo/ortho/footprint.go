package ortho

import (
	"context"
	"math"

	"quern.dev/geo/crs"
	"quern.dev/geo/internal/projection"
	"quern.dev/geo/ortho/internal/kernels"
)

// scene is a sensor in the coordinate system of an output.
type scene struct {
	sensor   *Sensor
	same     bool
	forward  projection.Operation // from the output to the sensor
	back     projection.Operation
	grids    projection.Grids
	backGrid projection.Grids
}

func newScene(s *Sensor, target *crs.CRS, shift []crs.Option) (*scene, error) {
	t, err := crs.NewTransform(target, s.crs, shift...)
	if err != nil {
		return nil, err
	}
	c := &scene{sensor: s}
	c.forward, c.grids = t.Operation(false)
	c.back, c.backGrid = t.Operation(true)
	c.same = same(&c.forward)
	return c, nil
}

// same reports whether an operation changes nothing.
func same(o *projection.Operation) bool {
	return o.From == o.To && !o.Cartesian && o.Source.Count+o.Target.Count+o.Geoid.Count+o.NextGeoid.Count == 0
}

// image returns where the sensor sees a point of the output.
func (c *scene) image(x, y, z float64) (float64, float64) {
	if !c.same {
		x, y, z = c.forward.Apply(c.grids.Subgrids, c.grids.Nodes, x, y, z)
	}
	return c.sensor.view.Image(x, y, z)
}

// output converts coordinates of the sensor's system.
func (c *scene) output(p [3]float64) [3]float64 {
	if !c.same {
		p[0], p[1], p[2] = c.back.Apply(c.backGrid.Subgrids, c.backGrid.Nodes, p[0], p[1], p[2])
	}
	return p
}

// eye returns the center of a frame camera.
func (c *scene) eye() [3]float64 { return c.output(c.sensor.view.Center) }

// sight returns a function that gives the point at a height on the line of sight of a position in the image, or NaN.
func (c *scene) sight(u, v float64) func(h float64) (x, y float64) {
	if !c.sensor.frame() {
		return c.rationalSight(u, v)
	}
	d, ok := c.sensor.direction(u, v)
	center := c.sensor.view.Center
	along := func(t float64) [3]float64 {
		return c.output([3]float64{center[0] + t*d[0], center[1] + t*d[1], center[2] + t*d[2]})
	}
	start := along(0)[2]
	return func(h float64) (float64, float64) {
		// The height is nearly linear in the distance.
		t0, z0, t1 := 0.0, start, 1.0
		for range 40 {
			p := along(t1)
			if ok && math.Abs(p[2]-h) < 1e-4 {
				return p[0], p[1]
			}
			slope := (p[2] - z0) / (t1 - t0)
			if !ok || !(slope*(h-start) > 0) {
				break
			}
			t0, z0, t1 = t1, p[2], t1+(h-p[2])/slope
			if !(t1 > 0 && t1 < 1e7) {
				break
			}
		}
		return math.NaN(), math.NaN()
	}
}

// rationalSight finds the point by Newton's method, from the middle of the scene.
func (c *scene) rationalSight(u, v float64) func(h float64) (x, y float64) {
	r := &c.sensor.view.RPC
	return func(h float64) (float64, float64) {
		lon, lat := r.LongOff, r.LatOff
		for range 30 {
			const d = 1e-5
			pu, pv := r.Image(lon, lat, h)
			au, av := r.Image(lon+d, lat, h)
			bu, bv := r.Image(lon, lat+d, h)
			a, b, e, f := (au-pu)/d, (bu-pu)/d, (av-pv)/d, (bv-pv)/d
			det := a*f - b*e
			du, dv := u-pu, v-pv
			if math.Hypot(du, dv) < 1e-3 {
				p := c.output([3]float64{lon, lat, h})
				return p[0], p[1]
			}
			lon += max(-r.LongScale, min((du*f-dv*b)/det, r.LongScale))
			lat += max(-r.LatScale, min((dv*a-du*e)/det, r.LatScale))
		}
		return math.NaN(), math.NaN()
	}
}

// box is an extent that grows.
type box struct{ minX, minY, maxX, maxY float64 }

func emptyBox() box {
	return box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
}

func (b *box) add(x, y float64) {
	if math.IsNaN(x) || math.IsNaN(y) {
		return
	}
	*b = box{min(b.minX, x), min(b.minY, y), max(b.maxX, x), max(b.maxY, y)}
}

func (b *box) empty() bool { return b.minX > b.maxX }

// widen adds a share of the size on all sides.
func (b *box) widen(share float64) {
	dx, dy := (b.maxX-b.minX)*share, (b.maxY-b.minY)*share
	*b = box{b.minX - dx, b.minY - dy, b.maxX + dx, b.maxY + dy}
}

// footprint is the part of an output that an image shows.
type footprint struct {
	all         box     // of all points that the image may show, at any height
	exact       box     // of the surface in the image
	least, most float64 // heights of the surface there, and of what may hide it
	size        float64 // of a pixel of the image on the surface, in units of the output
}

// edgeSteps is the number of points along each side of an image whose lines of sight are followed.
const edgeSteps = 24

// heightSteps is the number of points of a line of sight at which the height of the surface is compared.
const heightSteps = 48

func (c *scene) footprint(ctx context.Context, s *Surface, place *kernels.Place, grids projection.Grids) (*footprint, error) {
	w, h := float64(c.sensor.view.Width), float64(c.sensor.view.Height)
	var sights []func(h float64) (x, y float64)
	for i := range edgeSteps {
		r := float64(i) / edgeSteps
		sights = append(sights, c.sight(r*w, 0), c.sight(w, r*h), c.sight(w-r*w, h), c.sight(0, h-r*h))
	}
	f := &footprint{all: emptyBox(), exact: emptyBox(), least: s.least, most: s.most}
	top := s.most
	if c.sensor.frame() {
		// What is above the camera is not seen.
		eye := c.eye()
		top = min(top, eye[2]-1e-3*math.Abs(eye[2]-s.least))
		f.all.add(eye[0], eye[1])
	}
	for _, at := range sights {
		for _, height := range []float64{s.least, top} {
			x, y := at(height)
			if math.IsNaN(x) {
				return nil, failf(ErrArgument, "a corner of the image is at the horizon or beyond the lens, so it shows no bounded part of the surface; crop it")
			}
			f.all.add(x, y)
		}
	}
	f.all.widen(0.01)
	var err error
	var k *sketch
	if s.im != nil {
		window, ok := s.window(place, grids, f.all)
		if ok {
			if k, f.least, f.most, err = s.sketch(ctx, window); err != nil {
				return nil, err
			}
		}
		if !ok || f.least > f.most {
			return nil, failf(ErrOutside, "the image shows x %v to %v, y %v to %v, where the surface has no heights", f.all.minX, f.all.maxX, f.all.minY, f.all.maxY)
		}
	}
	surfaceAt := func(x, y float64) float64 {
		if k == nil {
			return s.least
		}
		return k.at(place.Position(grids.Subgrids, grids.Nodes, x, y))
	}
	for _, at := range sights {
		f.exact.add(meet(at, min(top, f.most), f.least, surfaceAt))
	}
	if f.exact.empty() {
		return nil, failf(ErrOutside, "the edge of the image, x %v to %v, y %v to %v, is where the surface has no heights", f.all.minX, f.all.maxX, f.all.minY, f.all.maxY)
	}
	middle := (f.least + min(top, f.most)) / 2
	x0, y0 := c.sight(w/2-1, h/2)(middle)
	x1, y1 := c.sight(w/2+1, h/2)(middle)
	x2, y2 := c.sight(w/2, h/2-1)(middle)
	x3, y3 := c.sight(w/2, h/2+1)(middle)
	f.size = math.Sqrt(math.Abs((x1-x0)*(y3-y2)-(x3-x2)*(y1-y0))) / 2
	if !(f.size > 0) {
		return nil, failf(ErrArgument, "the size of a pixel on the ground cannot be found")
	}
	return f, nil
}

// meet returns where a line of sight meets the surface, coming from above. Where the surface has no heights it takes the
// height of the nearest point on the line, from above.
func meet(at func(h float64) (x, y float64), most, least float64, surface func(x, y float64) float64) (float64, float64) {
	lastHeight, lastGap := most, math.NaN()
	for i := range heightSteps + 1 {
		h := most - (most-least)*float64(i)/heightSteps
		x, y := at(h)
		gap := h - surface(x, y)
		switch {
		case math.IsNaN(gap):
			continue
		case gap <= 0 && math.IsNaN(lastGap), gap == 0:
			return x, y
		case gap < 0:
			return at(h + (lastHeight-h)*gap/(gap-lastGap))
		}
		lastHeight, lastGap = h, gap
	}
	if math.IsNaN(lastGap) {
		return math.NaN(), math.NaN()
	}
	return at(least)
}

// window returns the pixels of a surface under a box of the output, with a margin. It is false if there are none.
func (s *Surface) window(place *kernels.Place, grids projection.Grids, b box) (kernels.Window, bool) {
	const steps = 8
	r := emptyBox()
	for j := range steps + 1 {
		for i := range steps + 1 {
			x := b.minX + (b.maxX-b.minX)*float64(i)/steps
			y := b.minY + (b.maxY-b.minY)*float64(j)/steps
			r.add(place.Position(grids.Subgrids, grids.Nodes, x, y))
		}
	}
	if r.empty() {
		return kernels.Window{}, false
	}
	// Between the points, the edge may bend outside.
	mx, my := 2+(r.maxX-r.minX)/(4*steps), 2+(r.maxY-r.minY)/(4*steps)
	x0, y0 := max(math.Floor(r.minX-mx), 0), max(math.Floor(r.minY-my), 0)
	x1, y1 := min(math.Ceil(r.maxX+mx), float64(s.im.Width)), min(math.Ceil(r.maxY+my), float64(s.im.Height))
	if !(x0 < x1 && y0 < y1) {
		return kernels.Window{}, false
	}
	return kernels.Window{X: int(x0), Y: int(y0), W: int(x1 - x0), H: int(y1 - y0)}, true
}
