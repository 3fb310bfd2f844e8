package fly

import (
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"quern.dev/geo/fly/internal/kernels"
	"quern.dev/geo/tiff"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

const (
	groundSize   = 200.0 // meters
	samples      = 41    // of the terrain, 5 meters apart
	texelsAcross = 400   // texels across, half a meter each
)

// hill is the height of the tests' terrain.
func hill(x, y float64) float64 {
	return 30 + 14*math.Exp(-((x-70)*(x-70)+(y-110)*(y-110))/900) + 9*math.Exp(-((x-130)*(x-130)+(y-60)*(y-60))/500) + 3*math.Sin(x/17)*math.Cos(y/23)
}

// hills are a terrain and a mosaic of 200 x 200 meters from (500000, 4000000) to the east and the north.
func hills(paint func(column, row int) uint32) (*Mosaic, *Terrain) {
	t := &Terrain{Width: samples, Height: samples, Heights: make([]float32, samples*samples), Affine: tiff.Affine{500000 - 2.5, 5, 0, 4000000 + groundSize + 2.5, 0, -5}}
	for j := range samples {
		for i := range samples {
			t.Heights[j*samples+i] = float32(hill(5*float64(i), groundSize-5*float64(j)))
		}
	}
	m := &Mosaic{Width: texelsAcross, Height: texelsAcross, Pixels: make([]uint32, texelsAcross*texelsAcross), Affine: tiff.Affine{500000, 0.5, 0, 4000000 + groundSize, 0, -0.5}}
	for j := range texelsAcross {
		for i := range texelsAcross {
			m.Pixels[j*texelsAcross+i] = paint(i, j)
		}
	}
	return m, t
}

func opaque(r, g, b int) uint32 { return uint32(r) | uint32(g)<<8 | uint32(b)<<16 | 255<<24 }

// gradient is a mosaic whose colors tell the place.
func gradient(i, j int) uint32 {
	return opaque(i*255/(texelsAcross-1), j*255/(texelsAcross-1), 40+20*(i/25%2)+20*(j/25%2))
}

func newScene(t testing.TB, dev *gpu.Device, m *Mosaic, terrain *Terrain, o Options) *Scene {
	t.Helper()
	s, err := NewScene(t.Context(), dev, m, terrain, nil, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func draw(t testing.TB, s *Scene, v View, c Camera) []byte {
	t.Helper()
	r, err := s.NewRenderer(v)
	if err != nil {
		t.Fatal(err)
	}
	frame, err := gpu.Alloc[uint8](s.dev, 4*v.Width*v.Height)
	if err != nil {
		t.Fatal(err)
	}
	defer frame.Close()
	st := s.dev.DefaultStream()
	if err := r.Render(st, frame, c); err != nil {
		t.Fatal(err)
	}
	pixels := make([]byte, frame.Len())
	if err := gpu.Download(t.Context(), st, pixels, frame); err != nil {
		t.Fatal(err)
	}
	return pixels
}

// save writes a frame where QUERN_TEST_FRAMES says, to be looked at.
func save(t testing.TB, name string, v View, pixels []byte) {
	folder := os.Getenv("QUERN_TEST_FRAMES")
	if folder == "" {
		return
	}
	f, err := os.Create(filepath.Join(folder, name+".png"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, &image.NRGBA{Pix: pixels, Stride: 4 * v.Width, Rect: image.Rect(0, 0, v.Width, v.Height)}); err != nil {
		t.Fatal(err)
	}
}

// caster is a reference in float64 that shares nothing with the kernels: it walks along rays in small steps.
type caster struct {
	m *Mosaic
	t *Terrain
}

// height interpolates between samples; x and y are meters from the lower left corner.
func (c caster) height(x, y float64) (float64, bool) {
	u, v := x/5, (groundSize-y)/5
	if u < 0 || v < 0 || u > samples-1 || v > samples-1 {
		return 0, false
	}
	i, j := min(int(u), samples-2), min(int(v), samples-2)
	u, v = u-float64(i), v-float64(j)
	at := func(i, j int) float64 { return float64(c.t.Heights[j*samples+i]) }
	return (1-u)*(1-v)*at(i, j) + u*(1-v)*at(i+1, j) + (1-u)*v*at(i, j+1) + u*v*at(i+1, j+1), true
}

// directionOf returns the ray through an image position, by angles and rotations.
func directionOf(c Camera, v View, px, py float64) (dx, dy, dz float64) {
	f := float64(v.Width) / 2 / math.Tan(c.FieldOfView*math.Pi/360)
	x, y, z := px-float64(v.Width)/2, f, float64(v.Height)/2-py // right, forward, up
	sin, cos := math.Sincos(c.Pitch * math.Pi / 180)
	y, z = y*cos-z*sin, y*sin+z*cos
	sin, cos = math.Sincos(c.Heading * math.Pi / 180)
	x, y = x*cos+y*sin, -x*sin+y*cos
	l := math.Sqrt(x*x + y*y + z*z)
	return x / l, y / l, z / l
}

// cast returns the point of the surface on a ray, in meters from the lower left corner.
func (c caster) cast(cam Camera, v View, px, py float64) (x, y float64, ok bool) {
	dx, dy, dz := directionOf(cam, v, px, py)
	ox, oy := cam.X-500000, cam.Y-4000000
	above := func(t float64) (float64, bool) {
		h, ok := c.height(ox+t*dx, oy+t*dy)
		return cam.Altitude + t*dz - h, ok
	}
	const step = 0.3
	here, ok := above(0)
	entered := ok
	for t := 0.0; t < 500; t += step {
		before, okBefore := here, ok
		if z := cam.Altitude + (t+step)*dz; z > 56 { // above all hills
			if dz > 0 {
				break
			}
			_, ok = c.height(ox+(t+step)*dx, oy+(t+step)*dy)
			here = z - 56
			continue
		}
		here, ok = above(t + step)
		if entered && !ok {
			break // it has left the terrain
		}
		entered = entered || ok
		if !ok || !okBefore || before < 0 || here > 0 {
			continue
		}
		low, high := t, t+step
		for range 40 {
			if d, _ := above((low + high) / 2); d > 0 {
				low = (low + high) / 2
			} else {
				high = (low + high) / 2
			}
		}
		return ox + low*dx, oy + low*dy, true
	}
	return 0, 0, false
}

// cameras look at the hills from several sides.
var cameras = []Camera{
	{X: 500100, Y: 3999960, Altitude: 75, Heading: 0, Pitch: -20, FieldOfView: 60},
	{X: 500020.3, Y: 4000020.7, Altitude: 60, Heading: 47, Pitch: -12, FieldOfView: 75},
	{X: 500100.25, Y: 4000100.5, Altitude: 160, Heading: 200, Pitch: -88, FieldOfView: 50},
	{X: 500190, Y: 4000185, Altitude: 52, Heading: 231, Pitch: -8, FieldOfView: 40},
}

func TestRaysMeetTheSurfaceWhereABruteForceReferenceDoes(t *testing.T) {
	m, terrain := hills(gradient)
	reference := caster{m, terrain}
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := newScene(t, dev, m, terrain, Options{Preview: true})
		v := View{Width: 72, Height: 48, Probes: 64} // one would blur what is seen at a grazing angle
		for i, cam := range cameras {
			if dev.Backend() == gpu.Sim && i != 1 {
				continue // the simulator takes its time
			}
			// The points of the surface at the corners and the centers of pixels.
			type place struct {
				x, y float64
				ok   bool
			}
			at := make([]place, 4*(v.Width+1)*(v.Height+1))
			find := func(x, y float64) place {
				p := &at[int(2*y)*2*(v.Width+1)+int(2*x)]
				if *p == (place{}) {
					p.x, p.y, p.ok = reference.cast(cam, v, x, y)
				}
				return *p
			}
			for _, sampling := range []Sampling{Float32, Float64, Texture} {
				v.Sampling = sampling
				pixels := draw(t, s, v, cam)
				save(t, string(rune('a'+i))+string(rune('0'+sampling)), v, pixels)
				far, near, hits, misses := 0, 0, 0, 0
				for y := range v.Height {
					for x := range v.Width {
						want := find(float64(x)+0.5, float64(y)+0.5)
						p := pixels[4*(y*v.Width+x):]
						if !want.ok {
							misses++
							continue
						}
						hits++
						// The colors tell the place to a part of a meter. A distance is one of pixels if it is divided by what a
						// pixel covers, which the neighbors tell.
						next := find(float64(x)+1, float64(y)+1)
						gotX, gotY := float64(p[0])/255*groundSize, groundSize-float64(p[1])/255*groundSize
						size := math.Hypot(next.x-want.x, next.y-want.y) + 1
						if !next.ok || size > 6 {
							continue // at the horizon, a pixel is the mean of much
						}
						near++
						if math.Hypot(gotX-want.x, gotY-want.y) > size {
							far++
						}
					}
				}
				if near < hits/2 || far > near/500 {
					t.Errorf("camera %d, sampling %d: %d of %d pixels show another place; %d are far away, %d are sky", i, sampling, far, near, hits-near, misses)
				}
			}
		}
	})
}

// TestFeaturesAreWithinHalfAPixel finds bright squares of the mosaic in frames.
func TestFeaturesAreWithinHalfAPixel(t *testing.T) {
	features := [][2]int{{100, 150}, {200, 200}, {260, 120}, {180, 300}, {320, 250}, {140, 240}}
	m, terrain := hills(func(i, j int) uint32 {
		for k, f := range features {
			if i >= f[0]-6 && i < f[0]+6 && j >= f[1]-6 && j < f[1]+6 {
				return opaque(0, 255, 40*k)
			}
		}
		return opaque(255, 0, 0)
	})
	reference := caster{m, terrain}
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	s := newScene(t, dev, m, terrain, Options{Preview: true})
	found := 0
	for i, cam := range cameras {
		v := View{Width: 150, Height: 100, Samples: 2}
		// The texel that the reference sees at each of 2 x 2 rays per pixel.
		seen := make([][2]int, 4*v.Width*v.Height)
		for k := range seen {
			gx, gy, ok := reference.cast(cam, v, 0.25+0.5*float64(k%(2*v.Width)), 0.25+0.5*float64(k/(2*v.Width)))
			seen[k] = [2]int{-1, -1}
			if ok {
				seen[k] = [2]int{int(math.Floor(2 * gx)), int(math.Floor(2 * (groundSize - gy)))}
			}
		}
		for _, sampling := range []Sampling{Float32, Float64, Texture} {
			v.Sampling = sampling
			pixels := draw(t, s, v, cam)
			for k, f := range features {
				// Where the reference sees the square, with 2 x 2 rays per pixel.
				var want, got [3]float64
				for y := range v.Height {
					for x := range v.Width {
						p := pixels[4*(y*v.Width+x):]
						if p[1] > 8 && math.Abs(float64(p[2])/float64(p[1])-40*float64(k)/255) < 0.06 {
							w := float64(p[1]) / 255
							got[0], got[1], got[2] = got[0]+w*(float64(x)+0.5), got[1]+w*(float64(y)+0.5), got[2]+w
						}
					}
				}
				if got[2] < 6 {
					continue // hidden, or too small
				}
				cx, cy := got[0]/got[2], got[1]/got[2]
				for k, at := range seen {
					if at[0] >= f[0]-6 && at[0] < f[0]+6 && at[1] >= f[1]-6 && at[1] < f[1]+6 {
						want[0], want[1], want[2] = want[0]+0.25+0.5*float64(k%(2*v.Width)), want[1]+0.25+0.5*float64(k/(2*v.Width)), want[2]+1
					}
				}
				if want[2] < 24 {
					continue
				}
				found++
				if d := math.Hypot(cx-want[0]/want[2], cy-want[1]/want[2]); !(d < 0.5) {
					t.Errorf("camera %d, sampling %d: feature %d is at %.2f, %.2f, %.2f pixels from where it should be", i, sampling, k, cx, cy, d)
				}
			}
		}
	}
	if found < 30 {
		t.Errorf("only %d features were found", found)
	}
}

func TestFramesHaveTheSameBitsOnAllDevices(t *testing.T) {
	m, terrain := hills(gradient)
	terrain.Heights[20*samples+11] = float32(math.NaN())
	first := map[Sampling][]byte{}
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := newScene(t, dev, m, terrain, Options{Preview: true, Sun: &Sun{Azimuth: 120, Elevation: 25, Ambient: 0.4, Shadows: true}})
		for _, sampling := range []Sampling{Float32, Float64} {
			v := View{Width: 50, Height: 34, Samples: 1, Sampling: sampling, Visibility: 400}
			pixels := draw(t, s, v, cameras[1])
			if first[sampling] == nil {
				first[sampling] = pixels
			} else if !slices.Equal(pixels, first[sampling]) {
				t.Errorf("sampling %d: the bits differ", sampling)
			}
		}
	})
}

// TestBeamsDoNotChangeFrames follows rays from the camera on, and from where the beam of their square of pixels ended.
func TestBeamsDoNotChangeFrames(t *testing.T) {
	m, terrain := hills(gradient)
	terrain.Heights[20*samples+11] = float32(math.NaN())
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	s := newScene(t, dev, m, terrain, Options{})
	r := rand.New(rand.NewPCG(1, 2))
	all := append([]Camera{
		{X: 499000, Y: 4000100, Altitude: 300, Heading: 90, Pitch: -15, FieldOfView: 20}, // from outside
		{X: 500100, Y: 4000100, Altitude: 39, Heading: 10, Pitch: 5, FieldOfView: 120},
		{X: 500100, Y: 4000100, Altitude: 5, Heading: 10, Pitch: 5, FieldOfView: 60}, // below the surface
	}, cameras...)
	for range 60 {
		all = append(all, Camera{X: 500000 + 200*r.Float64(), Y: 4000000 + 200*r.Float64(), Altitude: 45 + 60*r.Float64(), Heading: 360 * r.Float64(), Pitch: 100*r.Float64() - 90, Roll: 360 * r.Float64(), FieldOfView: 5 + 100*r.Float64()})
	}
	st := dev.DefaultStream()
	for i, c := range all {
		v := View{Width: 83, Height: 61, Visibility: 400}
		got := draw(t, s, v, c)
		renderer, err := s.NewRenderer(v)
		if err != nil {
			t.Fatal(err)
		}
		starts, frame := make([]kernels.Start, 11*8), make([]uint32, v.Width*v.Height)
		for k := range starts {
			starts[k].Level = s.shape.Top
		}
		from, err := gpu.Upload(st, starts)
		if err != nil {
			t.Fatal(err)
		}
		out, err := gpu.Upload(st, frame)
		if err != nil {
			t.Fatal(err)
		}
		if err := kernels.LaunchRender(st, gpu.Plane(v.Width, v.Height), camera[float32](renderer, c), s.shape, renderer.look, s.heights, s.tops, s.levels, s.light, s.texels, s.mips, from, out); err != nil {
			t.Fatal(err)
		}
		if err := gpu.Download(t.Context(), st, frame, out); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(from.Close(), out.Close()); err != nil {
			t.Fatal(err)
		}
		for k, p := range frame {
			if p != binary.LittleEndian.Uint32(got[4*k:]) {
				t.Fatalf("camera %d, %+v: pixel %d, %d is %x, and %x without beams", i, c, k%v.Width, k/v.Width, got[4*k:4*k+4], p)
			}
		}
	}
}

// TestTheMosaicEndsInTransparency looks straight down at a mosaic that is smaller than the terrain.
func TestTheMosaicEndsInTransparency(t *testing.T) {
	_, terrain := hills(gradient)
	const side = 37
	m := &Mosaic{Width: side, Height: side, Pixels: make([]uint32, side*side), Affine: tiff.Affine{500060, 2, 0, 4000140, 0, -2}}
	for i := range m.Pixels {
		m.Pixels[i] = opaque(255, 0, 0)
	}
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := newScene(t, dev, m, terrain, Options{Preview: true})
		for _, sampling := range []Sampling{Float32, Texture} {
			v := View{Width: 60, Height: 60, Sampling: sampling, Ground: [3]uint8{0, 0, 255}}
			pixels := draw(t, s, v, Camera{X: 500097, Y: 4000103, Altitude: 4000, Heading: 0, Pitch: -90, FieldOfView: 2})
			var red, blue, other int
			for k := 0; k < len(pixels); k += 4 {
				switch p := pixels[k : k+4]; {
				case p[0] == 255 && p[1] == 0 && p[2] == 0:
					red++
				case p[0] == 0 && p[1] == 0 && p[2] == 255:
					blue++
				case int(p[0])+int(p[2]) < 254 || p[1] != 0:
					t.Fatalf("sampling %d: a pixel is %v", sampling, p)
				default:
					other++
				}
			}
			// 2 degrees from about 3960 m are 138 m, and 74 m of them have the mosaic.
			if want := 60 * 60 * 74 * 74 / (138 * 138); red+other/2 < want*95/100 || red+other/2 > want*105/100 || blue < 2000 || other > 400 {
				t.Errorf("sampling %d: %d pixels show the mosaic, %d the ground and %d both: want about %d of the mosaic", sampling, red, blue, other, want)
			}
		}
	})
}

func TestFramesLookRight(t *testing.T) {
	m, terrain := hills(func(i, j int) uint32 {
		c := 120 + 100*((i/20+j/20)%2)
		return opaque(c, c, 60)
	})
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	s := newScene(t, dev, m, terrain, Options{Sun: &Sun{Azimuth: 250, Elevation: 20, Ambient: 0.35, Shadows: true}})
	v := View{Width: 320, Height: 180, Samples: 2, Visibility: 600}
	pixels := draw(t, s, v, cameras[1])
	save(t, "look", v, pixels)
	at := func(x, y int) color.RGBA {
		p := pixels[4*(y*v.Width+x):]
		return color.RGBA{p[0], p[1], p[2], p[3]}
	}
	if c := at(160, 2); !(c.B > c.R && c.A == 255) {
		t.Errorf("the sky is %v", c)
	}
	if c := at(160, 170); !(c.R > c.B) {
		t.Errorf("the ground is %v", c)
	}
}
