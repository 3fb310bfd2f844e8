package fly

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"quern.dev/geo/crs"
)

// Point is a place: longitude and latitude in degrees on WGS 84, or x and y in the coordinates of the mosaic.
type Point struct {
	Lon *float64 `json:"lon,omitempty"`
	Lat *float64 `json:"lat,omitempty"`
	X   *float64 `json:"x,omitempty"`
	Y   *float64 `json:"y,omitempty"`
	// Height is in meters above the ground.
	Height float64 `json:"height,omitempty"`
	// Altitude, in meters in the heights of the terrain, replaces Height.
	Altitude *float64 `json:"altitude,omitempty"`
}

// Map returns a point in the coordinates of the mosaic.
func Map(x, y, height float64) Point { return Point{X: &x, Y: &y, Height: height} }

// Geographic returns a point by its longitude and latitude on WGS 84.
func Geographic(lon, lat, height float64) Point { return Point{Lon: &lon, Lat: &lat, Height: height} }

// Waypoint is a point of a path and where the camera looks from there: to LookAt, or in the direction of Heading and
// Pitch. Without any of them it looks along the path, and down by Pitch degrees.
type Waypoint struct {
	Point
	// Heading is in degrees clockwise from the y axis of the map, which is north.
	Heading *float64 `json:"heading,omitempty"`
	// Pitch is in degrees above the horizon: -90 is straight down. The default is -15.
	Pitch  *float64 `json:"pitch,omitempty"`
	LookAt *Point   `json:"look_at,omitempty"`
}

// Path is a flight: a curve through waypoints, at a constant speed.
type Path struct {
	Waypoints []Waypoint `json:"waypoints"`
	// Closed leads from the last waypoint back to the first one.
	Closed bool `json:"closed,omitempty"`
	// Seconds is how long the flight takes. 0 means that Speed, in meters per second, decides; if that is 0 too, 20 seconds.
	Seconds float64 `json:"duration,omitempty"`
	Speed   float64 `json:"speed,omitempty"`
	// FieldOfView is the horizontal angle of view in degrees, 60 by default.
	FieldOfView float64 `json:"fov,omitempty"`
	// Clearance is the least height above the ground in meters; the curve is raised where it is lower. 0 means 2.
	Clearance float64 `json:"clearance,omitempty"`
}

// Camera is a position in the coordinates of the mosaic, an altitude in meters, and a direction; see [Waypoint].
type Camera struct {
	X, Y, Altitude       float64
	Heading, Pitch, Roll float64 // degrees; Roll turns the camera clockwise
	FieldOfView          float64 // the horizontal angle of view in degrees
}

// ReadJSON reads a path. Members that it does not know are an error.
func ReadJSON(r io.Reader) (*Path, error) {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	p := new(Path)
	if err := d.Decode(p); err != nil {
		return nil, fail(ErrArgument, "path", "JSON", "%v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fail(ErrArgument, "path", "JSON", "there is text after the path")
	}
	return p, p.check()
}

// ReadCSV reads waypoints: a line of names, and a line per waypoint. The names are those of the JSON form: lon and lat, or
// x and y; height or altitude; heading and pitch; and look_lon, look_lat, look_x, look_y, look_height, look_altitude. A
// field may be empty.
func ReadCSV(r io.Reader) (*Path, error) {
	c := csv.NewReader(r)
	c.TrimLeadingSpace = true
	c.Comment = '#'
	rows, err := c.ReadAll()
	if err != nil {
		return nil, fail(ErrArgument, "path", "CSV", "%v", err)
	}
	if len(rows) < 2 {
		return nil, fail(ErrArgument, "path", "CSV", "%d lines: want the names of the columns and a line per waypoint", len(rows))
	}
	p := new(Path)
	for i, row := range rows[1:] {
		var w Waypoint
		var look Point
		for k, text := range row {
			name := strings.ToLower(strings.TrimSpace(rows[0][k]))
			if text = strings.TrimSpace(text); text == "" {
				continue
			}
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, fail(ErrArgument, "path", fmt.Sprintf("waypoint %d", i+1), "%s is %q: want a number", name, text)
			}
			to := &w.Point
			if rest, ok := strings.CutPrefix(name, "look_"); ok {
				to, w.LookAt, name = &look, &look, rest
			}
			switch {
			case to.set(name, v):
			case name == "heading" && to == &w.Point:
				w.Heading = &v
			case name == "pitch" && to == &w.Point:
				w.Pitch = &v
			default:
				return nil, fail(ErrArgument, "path", "CSV", "unknown column %q", rows[0][k])
			}
		}
		p.Waypoints = append(p.Waypoints, w)
	}
	return p, p.check()
}

func (p *Point) set(name string, v float64) bool {
	switch name {
	case "lon":
		p.Lon = &v
	case "lat":
		p.Lat = &v
	case "x":
		p.X = &v
	case "y":
		p.Y = &v
	case "height":
		p.Height = v
	case "altitude":
		p.Altitude = &v
	default:
		return false
	}
	return true
}

func (p *Path) check() error {
	if len(p.Waypoints) == 0 {
		return fail(ErrArgument, "path", "waypoints", "there are none")
	}
	for _, n := range []struct {
		name       string
		v, low, up float64
	}{{"duration", p.Seconds, 0, 1e6}, {"speed", p.Speed, 0, 1e6}, {"fov", p.FieldOfView, 0, 170}, {"clearance", p.Clearance, 0, 1e6}} {
		if !(n.v >= n.low && n.v <= n.up) {
			return fail(ErrArgument, "path", n.name, "%g: want a number from %g to %g", n.v, n.low, n.up)
		}
	}
	for i, w := range p.Waypoints {
		name := fmt.Sprintf("waypoint %d", i+1)
		if err := w.Point.check(name); err != nil {
			return err
		}
		if w.LookAt != nil {
			if err := w.LookAt.check(name + ", look_at"); err != nil {
				return err
			}
			if w.Heading != nil || w.Pitch != nil {
				return fail(ErrArgument, "path", name, "look_at together with heading or pitch: want one of them")
			}
		}
		if w.Pitch != nil && !(math.Abs(*w.Pitch) <= 90) {
			return fail(ErrArgument, "path", name, "pitch %g: want -90 to 90", *w.Pitch)
		}
		if w.Heading != nil && !finite(*w.Heading) {
			return fail(ErrArgument, "path", name, "heading %g", *w.Heading)
		}
	}
	return nil
}

func (p *Point) check(name string) error {
	lonlat, xy := p.Lon != nil && p.Lat != nil, p.X != nil && p.Y != nil
	if lonlat == xy || (p.Lon != nil) != (p.Lat != nil) || (p.X != nil) != (p.Y != nil) {
		return fail(ErrArgument, "path", name, "want lon and lat, or x and y")
	}
	for _, v := range []*float64{p.Lon, p.Lat, p.X, p.Y, p.Altitude, &p.Height} {
		if v != nil && !finite(*v) {
			return fail(ErrArgument, "path", name, "a coordinate is %g", *v)
		}
	}
	return nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// Orbit is a circle around a center, which the camera looks at. radius and height are in meters; the height is that
// above the ground at the center.
func Orbit(s *Scene, center Point, radius, height float64) (*Path, error) {
	c, err := s.place(center, "center")
	if err != nil {
		return nil, err
	}
	altitude := c.z + height
	p := &Path{Closed: true}
	const n = 24
	for i := range n {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / n)
		x, y := s.toMap(c.x+radius*sin, c.y-radius*cos)
		w := Waypoint{Point: Map(x, y, 0), LookAt: &center}
		w.Altitude = &altitude
		p.Waypoints = append(p.Waypoints, w)
	}
	return p, nil
}

// Line is a straight flight between two points, in the direction of flight.
func Line(from, to Point, pitch float64) *Path {
	return &Path{Waypoints: []Waypoint{{Point: from, Pitch: &pitch}, {Point: to, Pitch: &pitch}}}
}

// vec is a position or a direction in meters: east, north, up.
type vec struct{ x, y, z float64 }

func (a vec) plus(k float64, b vec) vec { return vec{a.x + k*b.x, a.y + k*b.y, a.z + k*b.z} }
func (a vec) length() float64           { return math.Sqrt(a.x*a.x + a.y*a.y + a.z*a.z) }

// unit returns the direction of a, or b if a has none.
func (a vec) unit(b vec) vec {
	l := a.length()
	if !(l > 1e-12) {
		return b
	}
	return vec{a.x / l, a.y / l, a.z / l}
}

// Flight is a path over a scene, as cameras by time. It does not change.
type Flight struct {
	scene   *Scene
	points  []vec
	looks   []look
	closed  bool
	fov     float64
	seconds float64
	lengths []float64 // from the start to equidistant parameters: steps per segment
	lift    []float64 // what is added to altitudes at these parameters
}

// look is where the camera looks at a waypoint.
type look struct {
	target    *vec
	direction vec // if there is no target
	along     bool
	pitch     float64 // radians, if along
}

// steps is the resolution at which the length of a segment is measured.
const steps = 256

// Plan places a path in the scene. A waypoint that is more than 100 diagonals of the mosaic away from its center is an [ErrPlace].
func (s *Scene) Plan(p *Path) (*Flight, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	f := &Flight{scene: s, closed: p.Closed && len(p.Waypoints) > 2, fov: p.FieldOfView}
	if f.fov == 0 {
		f.fov = 60
	}
	for i, w := range p.Waypoints {
		name := fmt.Sprintf("waypoint %d", i+1)
		at, err := s.place(w.Point, name)
		if err != nil {
			return nil, err
		}
		if err := s.checkNear(at, name); err != nil {
			return nil, err
		}
		f.points = append(f.points, at)
		var l look
		pitch := -15.0
		if w.Pitch != nil {
			pitch = *w.Pitch
		}
		switch {
		case w.LookAt != nil:
			target, err := s.place(*w.LookAt, name+", look_at")
			if err != nil {
				return nil, err
			}
			l.target = &target
		case w.Heading != nil:
			l.direction = direction(*w.Heading, pitch)
		default:
			l.along, l.pitch = true, pitch*math.Pi/180
		}
		f.looks = append(f.looks, l)
	}
	clearance := p.Clearance
	if clearance == 0 {
		clearance = 2
	}
	f.measure(clearance)
	f.seconds = p.Seconds
	if f.seconds == 0 {
		f.seconds = 20
		if p.Speed > 0 && f.Length() > 0 {
			f.seconds = f.Length() / p.Speed
		}
	}
	return f, nil
}

// Seconds returns how long the flight takes.
func (f *Flight) Seconds() float64 { return f.seconds }

// WithSeconds returns the same flight at another speed.
func (f *Flight) WithSeconds(seconds float64) *Flight {
	g := *f
	g.seconds = seconds
	return &g
}

// Length returns the length of the curve in meters.
func (f *Flight) Length() float64 { return f.lengths[len(f.lengths)-1] }

// segments returns how many curves there are between waypoints.
func (f *Flight) segments() int {
	if f.closed {
		return len(f.points)
	}
	return max(len(f.points)-1, 1)
}

// index returns the waypoint of an index, which goes around a closed path and stops at the ends of others.
func (f *Flight) index(i int) int {
	n := len(f.points)
	if f.closed {
		return (i%n + n) % n
	}
	return min(max(i, 0), n-1)
}

// weights returns those of Catmull and Rom's curve for the four waypoints around a segment.
func weights(u float64) (w, slope [4]float64) {
	return [4]float64{
			0.5 * (-u + 2*u*u - u*u*u),
			0.5 * (2 - 5*u*u + 3*u*u*u),
			0.5 * (u + 4*u*u - 3*u*u*u),
			0.5 * (-u*u + u*u*u),
		}, [4]float64{
			0.5 * (-1 + 4*u - 3*u*u),
			0.5 * (-10*u + 9*u*u),
			0.5 * (1 + 8*u - 9*u*u),
			0.5 * (-2*u + 3*u*u),
		}
}

// curve returns the position at a parameter, without the lift, and the tangent. Beyond the ends of a path, waypoints
// continue as mirror images, so that a path of two waypoints is straight.
func (f *Flight) curve(at float64) (position, tangent vec) {
	i := min(int(at), f.segments()-1)
	w, slope := weights(at - float64(i))
	for k := range 4 {
		p := f.control(i + k - 1)
		position, tangent = position.plus(w[k], p), tangent.plus(slope[k], p)
	}
	return position, tangent
}

func (f *Flight) control(i int) vec {
	n := len(f.points)
	if f.closed || n == 1 || i >= 0 && i < n {
		return f.points[f.index(i)]
	}
	edge, inner := f.points[0], f.points[1]
	if i >= n {
		edge, inner = f.points[n-1], f.points[n-2]
	}
	return edge.plus(1, edge.plus(-1, inner))
}

// measure computes lengths and the lift over the ground.
func (f *Flight) measure(clearance float64) {
	n := f.segments()*steps + 1
	f.lift = make([]float64, n)
	positions := make([]vec, n)
	for i := range n {
		positions[i], _ = f.curve(float64(i) / steps)
		if ground, ok := f.scene.ground(positions[i].x, positions[i].y); ok {
			f.lift[i] = max(ground+clearance-positions[i].z, 0)
		}
	}
	// The largest lift around each place, smoothed over the same width: it is nowhere less than needed.
	if slices.Max(f.lift) > 0 {
		f.lift = f.around(f.around(f.lift, func(v []float64) float64 { return slices.Max(v) }), func(v []float64) float64 {
			sum := 0.0
			for _, x := range v {
				sum += x
			}
			return sum / float64(len(v))
		})
	}
	f.lengths = make([]float64, n)
	for i := 1; i < n; i++ {
		a, b := positions[i-1], positions[i]
		a.z, b.z = a.z+f.lift[i-1], b.z+f.lift[i]
		f.lengths[i] = f.lengths[i-1] + b.plus(-1, a).length()
	}
}

// around replaces each value by a function of those near it.
func (f *Flight) around(in []float64, of func([]float64) float64) []float64 {
	const reach = steps / 4
	out := make([]float64, len(in))
	last := len(in) - 1
	var near []float64
	for i := range in {
		near = near[:0]
		for k := i - reach; k <= i+reach; k++ {
			at := min(max(k, 0), last)
			if f.closed {
				at = (k%last + last) % last
			}
			near = append(near, in[at])
		}
		out[i] = of(near)
	}
	return out
}

// At returns the camera at a time in seconds from the start. Times outside of the flight give its ends.
func (f *Flight) At(seconds float64) Camera {
	total := f.Length()
	s := 0.0
	if f.seconds > 0 {
		s = min(max(seconds/f.seconds, 0), 1) * total
	}
	i, _ := slices.BinarySearch(f.lengths, s)
	i = min(max(i, 1), len(f.lengths)-1)
	part := 0.0
	if step := f.lengths[i] - f.lengths[i-1]; step > 0 {
		part = min(max((s-f.lengths[i-1])/step, 0), 1)
	}
	at := (float64(i-1) + part) / steps
	p, tangent := f.curve(at)
	p.z += f.lift[i-1] + part*(f.lift[i]-f.lift[i-1])
	d := f.facing(at, p, tangent)
	x, y := f.scene.toMap(p.x, p.y)
	return Camera{X: x, Y: y, Altitude: p.z, FieldOfView: f.fov,
		Heading: math.Mod(math.Atan2(d.x, d.y)*180/math.Pi+360, 360), Pitch: math.Asin(min(max(d.z, -1), 1)) * 180 / math.Pi}
}

// facing returns the direction of view: the curve through the directions that the waypoints around have from here.
func (f *Flight) facing(at float64, p, tangent vec) vec {
	i := min(int(at), f.segments()-1)
	w, _ := weights(at - float64(i))
	heading := vec{tangent.x, tangent.y, 0}.unit(vec{0, 1, 0})
	var sum vec
	for k := range 4 {
		l := f.looks[f.index(i+k-1)]
		d := l.direction
		switch {
		case l.target != nil:
			d = l.target.plus(-1, p).unit(vec{0, 0, -1})
		case l.along:
			sin, cos := math.Sincos(l.pitch)
			d = vec{heading.x * cos, heading.y * cos, sin}
		}
		sum = sum.plus(w[k], d)
	}
	return sum.unit(heading)
}

func direction(heading, pitch float64) vec {
	sh, ch := math.Sincos(heading * math.Pi / 180)
	sp, cp := math.Sincos(pitch * math.Pi / 180)
	return vec{sh * cp, ch * cp, sp}
}

// place returns a point in meters relative to the scene's origin. name is that of the point in errors.
func (s *Scene) place(p Point, name string) (vec, error) {
	if err := p.check(name); err != nil {
		return vec{}, err
	}
	var x, y float64
	if p.X != nil {
		x, y = *p.X, *p.Y
	} else {
		if s.system == nil {
			return vec{}, fail(ErrPlace, "path", name, "it has lon and lat, but the mosaic has no coordinate system; want x and y")
		}
		t, err := s.geographic()
		if err == nil {
			x, y, err = t.Forward(*p.Lon, *p.Lat)
		}
		if err != nil {
			return vec{}, fmt.Errorf("fly: path: %s: %w", name, err)
		}
	}
	at := vec{}
	at.x, at.y = s.toMeters(x, y)
	if p.Altitude != nil {
		at.z = *p.Altitude
		return at, nil
	}
	ground, ok := s.ground(at.x, at.y)
	if !ok {
		ground = s.lowest
	}
	at.z = ground + p.Height
	return at, nil
}

// mostDiagonals is how far waypoints may be from the center of the mosaic, in lengths of its diagonal. Coordinates that are
// swapped, or those of another system, are farther.
const mostDiagonals = 100

func (s *Scene) checkNear(at vec, name string) error {
	x, y := s.toMeters(s.center[0], s.center[1])
	if d := math.Hypot(at.x-x, at.y-y); !(d <= mostDiagonals*math.Hypot(s.size[0], s.size[1])) {
		return fail(ErrPlace, "path", name, "it is %.0f km from the center of the mosaic, %.15g, %.15g; check the order and the system of its coordinates", d/1000, s.center[0], s.center[1])
	}
	return nil
}

// geographic returns the transform from longitude and latitude to the scene's system.
func (s *Scene) geographic() (*crs.Transform, error) {
	wgs84, err := crs.EPSG(4326)
	if err != nil {
		return nil, err
	}
	return crs.NewTransform(wgs84, s.system)
}
