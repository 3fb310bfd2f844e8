package fly

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/video"
)

// plan plans a path over the hills, in a scene in UTM zone 33N.
func plan(t testing.TB, p *Path) (*Scene, *Flight) {
	t.Helper()
	utm, err := crs.EPSG(32633)
	if err != nil {
		t.Fatal(err)
	}
	m, terrain := hills(gradient)
	s, err := NewScene(t.Context(), gputest.Open(t, gpu.Config{Device: "cpu"}), m, terrain, utm, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	f, err := s.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	return s, f
}

func number(v float64) *float64 { return &v }

func TestTheCameraPassesThroughWaypointsAtConstantSpeed(t *testing.T) {
	p, err := ReadCSV(strings.NewReader("x, y, altitude, heading, pitch\n# a comment\n500020, 4000020, 100, 350, -10\n500100, 4000050, 120, 10, -30\n500150, 4000150, 90, 40, -20\n500020,4000180,100,,\n"))
	if err != nil {
		t.Fatal(err)
	}
	p.Seconds = 10
	_, f := plan(t, p)
	last := f.At(0)
	speeds := [2]float64{math.Inf(1), 0}
	nearest := []float64{1e9, 1e9, 1e9, 1e9}
	const n = 2000
	for i := range n {
		c := f.At(10 * float64(i+1) / n)
		d := math.Sqrt((c.X-last.X)*(c.X-last.X) + (c.Y-last.Y)*(c.Y-last.Y) + (c.Altitude-last.Altitude)*(c.Altitude-last.Altitude))
		speeds[0], speeds[1] = min(speeds[0], d), max(speeds[1], d)
		for k, w := range p.Waypoints {
			nearest[k] = min(nearest[k], math.Hypot(c.X-*w.X, c.Y-*w.Y)+math.Abs(c.Altitude-*w.Altitude))
		}
		last = c
	}
	if speeds[1] > 1.02*speeds[0] {
		t.Errorf("the speed varies from %g to %g", speeds[0], speeds[1])
	}
	for k, d := range nearest {
		if d > 0.3 {
			t.Errorf("waypoint %d is missed by %g m", k, d)
		}
	}
	if c := f.At(0); math.Abs(c.Heading-350) > 1e-6 || math.Abs(c.Pitch+10) > 1e-6 {
		t.Errorf("the first camera is %+v", c)
	}
	if c := f.At(1e9); math.Abs(c.Pitch+15) > 1e-6 {
		t.Errorf("the last camera is %+v: without a heading it looks along the path", c)
	}
}

func TestLongitudesHeightsAndLookAt(t *testing.T) {
	lonlat, err := crs.EPSG(4326)
	if err != nil {
		t.Fatal(err)
	}
	utm, err := crs.EPSG(32633)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := crs.NewTransform(utm, lonlat)
	if err != nil {
		t.Fatal(err)
	}
	lon, lat, err := tr.Forward(500070, 4000110)
	if err != nil {
		t.Fatal(err)
	}
	target := Map(500070, 4000150, 0)
	s, f := plan(t, &Path{Waypoints: []Waypoint{{Point: Geographic(lon, lat, 25), LookAt: &target}}})
	c := f.At(0)
	ground, _ := s.Ground(500070, 4000110)
	if math.Hypot(c.X-500070, c.Y-4000110) > 1e-4 || math.Abs(c.Altitude-ground-25) > 1e-3 {
		t.Errorf("the camera is %+v, the ground at %g", c, ground)
	}
	there, _ := s.Ground(500070, 4000150)
	if want := math.Atan2(there-c.Altitude, 40) * 180 / math.Pi; math.Abs(c.Pitch-want) > 1e-3 || math.Min(c.Heading, 360-c.Heading) > 1e-3 {
		t.Errorf("heading %g, pitch %g; want 0 and %g", c.Heading, c.Pitch, want)
	}
}

func TestThePathStaysAboveTheGround(t *testing.T) {
	low := func(x, y float64) Waypoint {
		w := Waypoint{Point: Map(x, y, 0)}
		w.Altitude = number(20)
		return w
	}
	s, f := plan(t, &Path{Clearance: 5, Seconds: 10, Waypoints: []Waypoint{low(500010, 4000100), low(500190, 4000120)}})
	for i := range 500 {
		c := f.At(10 * float64(i) / 499)
		if ground, ok := s.Ground(c.X, c.Y); !ok || c.Altitude < ground+4.9 {
			t.Fatalf("at %g, %g the camera is %g m above the ground", c.X, c.Y, c.Altitude-ground)
		}
	}
}

func TestAnOrbitLooksAtItsCenter(t *testing.T) {
	s, _ := plan(t, &Path{Waypoints: []Waypoint{{Point: Map(500100, 4000100, 30)}}})
	p, err := Orbit(s, Map(500100, 4000100, 0), 80, 60)
	if err != nil {
		t.Fatal(err)
	}
	f, err := s.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	if d := f.Length() / (2 * math.Pi * 80); d < 0.99 || d > 1.01 {
		t.Errorf("the length is %g", f.Length())
	}
	for i := range 40 {
		c := f.At(20 * float64(i) / 40)
		x, y := 500100-c.X, 4000100-c.Y
		if r := math.Hypot(x, y); math.Abs(r-80) > 0.5 {
			t.Errorf("the radius is %g", r)
		}
		if d := math.Mod(c.Heading-math.Atan2(x, y)*180/math.Pi+540, 360) - 180; math.Abs(d) > 0.1 {
			t.Errorf("the heading is wrong by %g degrees", d)
		}
	}
}

func TestPathsThatCannotBeFlownAreErrors(t *testing.T) {
	for _, text := range []string{
		"{", "{}", `{"waypoints":[]}`, `{"waypoints":[{"height":3}]}`, `{"waypoints":[{"x":1,"y":2,"lon":3,"lat":4}]}`, `{"waypoints":[{"x":1}]}`,
		`{"waypoints":[{"x":1,"y":2,"pitch":100}]}`, `{"waypoints":[{"x":1,"y":2}],"fov":-1}`, `{"waypoints":[{"x":1,"y":2}],"unknown":1}`,
		`{"waypoints":[{"x":1,"y":2,"heading":3,"look_at":{"x":1,"y":1}}]}`, `{"waypoints":[{"x":1,"y":2}]} more`,
	} {
		if _, err := ReadJSON(strings.NewReader(text)); !errors.Is(err, ErrArgument) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{"", "x,y\n", "x,y\n1,a\n", "x,z\n1,2\n", "x,y\n1\n", "lon,y\n1,2\n"} {
		if _, err := ReadCSV(strings.NewReader(text)); !errors.Is(err, ErrArgument) {
			t.Errorf("%q: %v", text, err)
		}
	}
	m, terrain := hills(gradient)
	s := newScene(t, gputest.Open(t, gpu.Config{Device: "cpu"}), m, terrain, Options{})
	if _, err := s.Plan(&Path{Waypoints: []Waypoint{{Point: Geographic(1, 2, 3)}}}); !errors.Is(err, ErrPlace) {
		t.Errorf("a longitude without a coordinate system: %v", err)
	}
	for _, far := range []Point{Map(1e6, 0, 50), Map(0, math.NaN(), 50)} {
		if _, err := s.Plan(&Path{Waypoints: []Waypoint{{Point: far}}}); err == nil {
			t.Errorf("%v is far from the mosaic", far)
		}
	}
	for _, v := range []View{{}, {Width: 10, Height: 10, Samples: 9}, {Width: 10, Height: 10, Sampling: Texture}, {Width: 10, Height: 10, Sampling: 7}, {Width: 10, Height: 10, Far: -1}} {
		if _, err := s.NewRenderer(v); !errors.Is(err, ErrArgument) {
			t.Errorf("%+v: %v", v, err)
		}
	}
}

// geotiff writes an image in UTM zone 33N.
func geotiff(t testing.TB, h tiff.Header, code int, a tiff.Affine, pixels []byte, o tiff.Options) *tiff.Image {
	t.Helper()
	key := tiff.ProjectedCRS
	if code == 4326 {
		key = tiff.GeodeticCRS
	}
	h.Geo.Keys.Set(tiff.GeoValue{Key: key, Code: uint16(code)})
	h.Geo.SetAffine(a)
	name := filepath.Join(t.TempDir(), "image.tif")
	w, err := tiff.Create(name, h, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.WriteRows(t.Context(), tiff.Rows{Pixels: pixels}), w.Close()); err != nil {
		t.Fatal(err)
	}
	f, err := tiff.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f.Image()
}

// files are the hills as GeoTIFF files, with the mosaic's colors as 16-bit numbers if deep.
func files(t testing.TB, deep bool, o tiff.Options) (mosaic, dem *tiff.Image) {
	m, terrain := hills(gradient)
	terrain.Heights[3] = -9999
	h := tiff.Header{Width: m.Width, Height: m.Height, Bands: 3, Type: tiff.Uint8, Photometric: tiff.RGB}
	var pixels []byte
	if deep {
		h.Type = tiff.Uint16
		samples := []uint16{}
		for _, p := range m.Pixels {
			samples = append(samples, 1000+100*uint16(p&255), 1000+100*uint16(p>>8&255), 1000+100*uint16(p>>16&255))
		}
		pixels = tiff.Bytes(samples)
	} else {
		for _, p := range m.Pixels {
			pixels = append(pixels, byte(p), byte(p>>8), byte(p>>16))
		}
	}
	mosaic = geotiff(t, h, 32633, m.Affine, pixels, o)
	d := tiff.Header{Width: samples, Height: samples, Bands: 1, Type: tiff.Float32, NoData: "-9999"}
	return mosaic, geotiff(t, d, 32633, terrain.Affine, tiff.Bytes(terrain.Heights), tiff.Options{})
}

func TestFilesAreLoadedWithinTheMemoryAllowed(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	v := View{Width: 60, Height: 40}
	var first []byte
	for _, c := range []struct {
		name   string
		deep   bool
		memory int64
		opt    tiff.Options
		texels int
	}{
		{"all of it", false, 0, tiff.Options{}, 400},
		{"an overview", false, 1 << 20, tiff.Options{BlockWidth: 64, BlockHeight: 64, Overviews: 2}, 200},
		{"reduced, because there is no overview", false, 1 << 20, tiff.Options{}, 200},
		{"16-bit numbers", true, 0, tiff.Options{}, 400},
	} {
		mosaic, dem := files(t, c.deep, c.opt)
		s, err := Load(t.Context(), dev, mosaic, dem, Options{Memory: c.memory})
		if err != nil {
			t.Fatal(err)
		}
		if w, h := s.Texels(); w != c.texels || h != c.texels {
			t.Errorf("%s: %d x %d texels", c.name, w, h)
		}
		pixels := draw(t, s, v, cameras[1])
		if first == nil {
			first = pixels
		}
		far := 0
		for i := range pixels {
			if d := int(pixels[i]) - int(first[i]); d < -12 || d > 12 {
				far++
			}
		}
		if far > len(pixels)/100 {
			t.Errorf("%s: %d of %d samples differ", c.name, far, len(pixels))
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestImagesInDegreesAreWarpedToUTM(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	const n = 50
	pixels := make([]byte, n*n)
	for i := range pixels {
		pixels[i] = byte(50 + i%n)
	}
	a := tiff.Affine{15.01, 0.0001, 0, 47.01, 0, -0.0001}
	mosaic := geotiff(t, tiff.Header{Width: n, Height: n, Bands: 1, Type: tiff.Uint8}, 4326, a, pixels, tiff.Options{})
	heights := make([]float32, n*n)
	for i := range heights {
		heights[i] = 500
	}
	dem := geotiff(t, tiff.Header{Width: n, Height: n, Bands: 1, Type: tiff.Float32}, 4326, a, tiff.Bytes(heights), tiff.Options{})
	s, err := Load(t.Context(), dev, mosaic, dem, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if s.CRS().Code() != 32633 {
		t.Errorf("the system is %v", s.CRS())
	}
	x, y := s.Center()
	if h, ok := s.Ground(x, y); !ok || h != 500 {
		t.Errorf("the ground is at %g, %v", h, ok)
	}
	p := draw(t, s, View{Width: 8, Height: 8}, Camera{X: x, Y: y, Altitude: 600, Pitch: -90, FieldOfView: 40})
	if p[4*(4*8+4)] < 65 || p[4*(4*8+4)] > 85 {
		t.Errorf("the color in the middle is %v", p[4*(4*8+4):][:4])
	}
}

func TestAFilmHasAllFrames(t *testing.T) {
	_, f := plan(t, &Path{Seconds: 1, Waypoints: []Waypoint{{Point: Map(500050, 4000020, 60)}, {Point: Map(500100, 4000150, 60)}}})
	script := filepath.Join(t.TempDir(), "ffmpeg")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nfor last; do :; done\nexec cat >\"$last\"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "film.mp4")
	o := FilmOptions{View: View{Width: 32, Height: 18}, Video: video.Options{Tools: video.Tools{FFmpeg: script}, Rate: video.FPS(10), Codec: video.X264, Format: video.RGB24}}
	progress := 0
	o.Progress = func(done, total int) { progress = done*100 + total }
	stats, err := Film(t.Context(), f, name, o)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(name)
	if err != nil || len(raw) != 10*3*32*18 || stats.Frames != 10 || stats.Codec != video.X264 || progress != 1010 || stats.Render <= 0 || stats.Render > stats.Wall {
		t.Errorf("%d bytes, %v, %+v, progress %d", len(raw), err, stats, progress)
	}
	// The first frame is what the renderer draws for the first camera.
	pixels := draw(t, f.scene, o.View, f.At(0))
	for i := range 32 * 18 {
		if raw[3*i] != pixels[4*i] || raw[3*i+2] != pixels[4*i+2] {
			t.Fatalf("pixel %d of the first frame is %v, not %v", i, raw[3*i:3*i+3], pixels[4*i:4*i+3])
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Film(ctx, f, filepath.Join(t.TempDir(), "b.mp4"), o); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancellation: %v", err)
	}
}

func FuzzReadJSON(f *testing.F) {
	f.Add(`{"duration": 3, "waypoints": [{"x": 1, "y": 2, "height": 3, "look_at": {"lon": 4, "lat": 5}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := ReadJSON(strings.NewReader(text)); err == nil && len(p.Waypoints) == 0 {
			t.Error("a path without waypoints")
		}
	})
}

func FuzzReadCSV(f *testing.F) {
	f.Add("lon,lat,height,heading,pitch,look_x,look_y\n1,2,3,4,5,,\n1,2,3,,,6,7\n")
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := ReadCSV(strings.NewReader(text)); err == nil && len(p.Waypoints) == 0 {
			t.Error("a path without waypoints")
		}
	})
}
