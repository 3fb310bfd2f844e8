package ortho

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
	"quern.dev/geo/warp"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

func cpu(t testing.TB) *gpu.Device {
	t.Helper()
	dev, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dev.Close() })
	return dev
}

// whole computes the whole output.
func whole(t testing.TB, dev *gpu.Device, im *tiff.Image, s *Sensor, surface *Surface, o Options) (pixels []byte, h tiff.Header) {
	t.Helper()
	m, err := New(t.Context(), dev, im, s, surface, o)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	h = m.Header()
	pixels = make([]byte, h.Width*h.Height*h.Bands*h.Type.Size())
	if err := m.Read(t.Context(), tiff.Region{Width: h.Width, Height: h.Height}, pixels, nil); err != nil {
		t.Fatal(err)
	}
	return pixels, h
}

// brown is a camera with much distortion, and its pose over the middle of the scene.
func brown(t testing.TB) (Camera, Pose, func(u, v float64) line) {
	c := Camera{Width: 320, Height: 240, FX: 300, FY: 303, CX: 163, CY: 117, K: [4]float64{-0.11, 0.04, -0.01, 0}, P1: 0.002, P2: -0.0015}
	center := [3]float64{originX + 115, originY + 125, 300 + 150}
	omega, phi, kappa := 9.0, -7.0, 33.0
	return c, OmegaPhiKappa(epsg(t, 32633), center[0], center[1], center[2], omega, phi, kappa), pinhole(c, center, omega, phi, kappa)
}

// sceneError compares an output with the texture: the greatest displacement of squares of 16 x 16 pixels, by least squares
// over gradients, and the mean difference of values.
func sceneError(t *testing.T, pixels []byte, h tiff.Header, toMap func(x, y float64) (float64, float64)) (shift, mean float64, covered float64) {
	t.Helper()
	a, _ := h.Geo.Affine()
	at := func(x, y float64) float64 {
		return texture(toMap(a[0]+x*a[1], a[3]+y*a[5]))
	}
	n, all := 0, 0
	const size = 16
	for by := 0; by+size <= h.Height; by += size {
		for bx := 0; bx+size <= h.Width; bx += size {
			var xx, xy, yy, xd, yd float64
			full := true
			for j := range size {
				for i := range size {
					k := ((by+j)*h.Width + bx + i) * h.Bands
					if all++; pixels[k+h.Bands-1] != 255 {
						full = false
						continue
					}
					x, y := float64(bx+i)+0.5, float64(by+j)+0.5
					gx, gy := (at(x+0.5, y) - at(x-0.5, y)), (at(x, y+0.5) - at(x, y-0.5))
					d := float64(pixels[k]) - at(x, y)
					xx, xy, yy, xd, yd = xx+gx*gx, xy+gx*gy, yy+gy*gy, xd+gx*d, yd+gy*d
					mean += math.Abs(d)
					n++
				}
			}
			if det := xx*yy - xy*xy; full && det > 1 {
				shift = max(shift, math.Hypot((xd*yy-yd*xy)/det, (yd*xx-xd*xy)/det))
			}
		}
	}
	return shift, mean / float64(n), float64(n) / float64(all)
}

func TestAKnownSceneIsRecovered(t *testing.T) {
	dev := cpu(t)
	ground := surface(t, hills, 0.5)
	keep := func(x, y float64) (float64, float64) { return x, y }
	check := func(t *testing.T, im *tiff.Image, s *Sensor, o Options, toMap func(x, y float64) (float64, float64)) {
		t.Helper()
		o.Resampling = warp.Cubic
		pixels, h := whole(t, dev, im, s, ground, o)
		shift, mean, covered := sceneError(t, pixels, h, toMap)
		t.Logf("%d x %d pixels: displaced by %.3f pixels at most, mean difference %.2f, %.0f %% covered", h.Width, h.Height, shift, mean, 100*covered)
		if shift > 0.25 || mean > 3 || covered < 0.4 {
			t.Errorf("displaced by %.3f pixels, mean difference %.2f, %.0f %% covered", shift, mean, 100*covered)
		}
	}
	t.Run("Brown's distortion and omega, phi, kappa", func(t *testing.T) {
		c, pose, sight := brown(t)
		s, err := Frame(c, pose)
		if err != nil {
			t.Fatal(err)
		}
		check(t, render(t, c.Width, c.Height, 1, hills, 330, 270, sight), s, Options{}, keep)
	})
	t.Run("fisheye", func(t *testing.T) {
		c := Camera{Model: Fisheye, Width: 300, Height: 260, FX: 240, FY: 240, CX: 152, CY: 128, K: [4]float64{-0.02, 0.003, 0.0005, -0.0001}}
		center := [3]float64{originX + 120, originY + 118, 430}
		s, err := Frame(c, OmegaPhiKappa(epsg(t, 32633), center[0], center[1], center[2], -3, 5, -120))
		if err != nil {
			t.Fatal(err)
		}
		check(t, render(t, c.Width, c.Height, 1, hills, 330, 270, pinhole(c, center, -3, 5, -120)), s, Options{}, keep)
	})
	t.Run("reconstruction of OpenSfM", func(t *testing.T) {
		// The camera looks along the axis of the local system at the center, which is nearly that of the map.
		toLocal, err := crs.NewTransform(epsg(t, 32633), epsg(t, 4326))
		if err != nil {
			t.Fatal(err)
		}
		lon, lat, err := toLocal.Forward(originX+120, originY+120)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.NewReplacer("LON", ftoa(lon), "LAT", ftoa(lat)).Replace(`[{"cameras": {"v2 lens": {"projection_type": "brown", "width": 320, "height": 240,
			"focal_x": 0.95, "focal_y": 0.95, "c_x": 0.01, "c_y": -0.005, "k1": -0.1, "k2": 0.03, "k3": 0, "p1": 0.001, "p2": 0.0005}},
			"shots": {"frame.tif": {"rotation": [3.141592653589793, 0, 0], "translation": [0, 0, 120], "camera": "v2 lens"}},
			"reference_lla": {"latitude": LAT, "longitude": LON, "altitude": 320}}]`)
		shots, err := ReadReconstruction(strings.NewReader(text), nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := shots[0].Sensor()
		if err != nil {
			t.Fatal(err)
		}
		// By the definition of the local system: x is to the east, and the map's scale is 0.9996.
		c := Camera{Width: 320, Height: 240, FX: 304, FY: 304, CX: 159.5 + 3.2, CY: 119.5 - 1.6, K: [4]float64{-0.1, 0.03, 0, 0}, P1: 0.001, P2: 0.0005}
		inner := pinhole(c, [3]float64{0, 0, 440}, 0, 0, 0)
		sight := func(u, v float64) line {
			l := inner(u, v)
			return func(h float64) (float64, float64) {
				x, y := l(h)
				return originX + 120 + 0.9996*x, originY + 120 + 0.9996*y
			}
		}
		check(t, render(t, 320, 240, 1, hills, 330, 270, sight), s, Options{Target: epsg(t, 32633)}, keep)
	})
	t.Run("RPC, with an output in degrees", func(t *testing.T) {
		rpc, sight := rational(t)
		s, err := RPC(rpc, 300, 280)
		if err != nil {
			t.Fatal(err)
		}
		toMap, err := crs.NewTransform(epsg(t, 4326), epsg(t, 32633))
		if err != nil {
			t.Fatal(err)
		}
		check(t, render(t, 300, 280, 1, hills, 330, 270, sight), s, Options{Target: epsg(t, 4326)}, func(x, y float64) (float64, float64) {
			x, y, _ = toMap.Forward(x, y)
			return x, y
		})
	})
}

func ftoa(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// rational returns an RPC with lines of sight that lean by 0.3 to the east and 0.2 to the south, and are slightly curved.
func rational(t testing.TB) (*tiff.RPC, func(u, v float64) line) {
	t.Helper()
	toDegrees, err := crs.NewTransform(epsg(t, 32633), epsg(t, 4326))
	if err != nil {
		t.Fatal(err)
	}
	lon, lat, _ := toDegrees.Forward(originX+120, originY+120)
	east, _, _ := toDegrees.Forward(originX+220, originY+120)
	_, north, _ := toDegrees.Forward(originX+120, originY+220)
	r := &tiff.RPC{LineOff: 139.5, SampOff: 149.5, LatOff: lat, LongOff: lon, HeightOff: 300, LineScale: 160, SampScale: 160,
		LatScale: north - lat, LongScale: east - lon, HeightScale: 100}
	r.LineDen[0], r.SampDen[0] = 1, 1
	r.SampNum[1], r.SampNum[2], r.SampNum[3], r.SampNum[7], r.SampDen[1] = 1, 0.05, 0.3, 0.004, 0.003
	r.LineNum[1], r.LineNum[2], r.LineNum[3], r.LineNum[9], r.LineDen[2] = 0.05, -1, 0.2, 0.01, -0.002
	toMap, err := crs.NewTransform(epsg(t, 4326), epsg(t, 32633))
	if err != nil {
		t.Fatal(err)
	}
	return r, func(u, v float64) line {
		s, l := (u-0.5-r.SampOff)/r.SampScale, (v-0.5-r.LineOff)/r.LineScale
		return func(h float64) (float64, float64) {
			z := (h - r.HeightOff) / r.HeightScale
			x, y := 0.0, 0.0
			for range 12 { // fixed point of the two equations
				x = s*(1+0.003*x) - 0.05*y - 0.3*z - 0.004*x*x
				y = -(l*(1-0.002*y) - 0.05*x - 0.2*z - 0.01*z*z)
			}
			px, py, _ := toMap.Forward(r.LongOff+x*r.LongScale, r.LatOff+y*r.LatScale)
			return px, py
		}
	}
}

func TestWhatIsHiddenHasNoData(t *testing.T) {
	dev := cpu(t)
	ground := surface(t, tower, 0.5)
	c := Camera{Width: 260, Height: 220, FX: 240, FY: 240, CX: 129.5, CY: 109.5}
	center := [3]float64{originX + 95, originY + 105, 440}
	s, err := Frame(c, OmegaPhiKappa(epsg(t, 32633), center[0], center[1], center[2], 4, 6, 0))
	if err != nil {
		t.Fatal(err)
	}
	im := render(t, c.Width, c.Height, 1, tower, 350, 290, pinhole(c, center, 4, 6, 0))
	pixels, h := whole(t, dev, im, s, ground, Options{})
	through, _ := whole(t, dev, im, s, ground, Options{SeeThrough: true})
	a, _ := h.Geo.Affine()
	wrong, hiddenPixels, all := 0, 0, 0
	for j := range h.Height {
		for i := range h.Width {
			k := (j*h.Width + i) * h.Bands
			if through[k+1] == 0 {
				continue
			}
			all++
			// Is there something between the point and the camera?
			x, y := a[0]+(float64(i)+0.5)*a[1], a[3]+(float64(j)+0.5)*a[5]
			z := tower(x, y)
			want := true
			for n := 1; n < 2000 && want; n++ {
				f := float64(n) / 2000
				px, py, pz := x+f*(center[0]-x), y+f*(center[1]-y), z+f*(center[2]-z)
				want = tower(px, py) <= pz+0.01
			}
			if !want {
				hiddenPixels++
			}
			if want != (pixels[k+1] == 255) {
				wrong++
			}
		}
	}
	t.Logf("%d of %d pixels are hidden; %d are wrong", hiddenPixels, all, wrong)
	if hiddenPixels < all/100 || wrong > hiddenPixels/5 {
		t.Errorf("%d of %d hidden pixels are wrong", wrong, hiddenPixels)
	}
}

func TestPixelsAreTheSameOnAllDevicesAndForAllTiles(t *testing.T) {
	ground := surface(t, tower, 2)
	c, pose, _ := brown(t)
	frame, err := Frame(c, pose)
	if err != nil {
		t.Fatal(err)
	}
	rpc, _ := rational(t)
	polynomials, err := RPC(rpc, c.Width, c.Height)
	if err != nil {
		t.Fatal(err)
	}
	pixels := make([]uint16, c.Width*c.Height)
	for i := range pixels {
		pixels[i] = uint16(i * 40503)
	}
	im := write(t, filepath.Join(t.TempDir(), "frame.tif"), tiff.Header{Width: c.Width, Height: c.Height, Bands: 1, Photometric: tiff.MinIsBlack}, pixels, tiff.Options{})
	for name, s := range map[string]*Sensor{"frame": frame, "RPC": polynomials} {
		for _, r := range []warp.Resampling{warp.Bilinear, warp.Average} {
			t.Run(name+" "+r.String(), func(t *testing.T) {
				e := &warp.Extent{MinX: originX + 90, MinY: originY + 80, MaxX: originX + 170, MaxY: originY + 150}
				var first []byte
				gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
					sizes := [][2]int{{512, 512}, {33, 17}}
					if dev.Backend() == gpu.Sim {
						sizes = sizes[:1]
					}
					for _, size := range sizes {
						o := Options{Extent: e, Resolution: [2]float64{1.7, 1.9}, Resampling: r, TileWidth: size[0], TileHeight: size[1]}
						got, _ := whole(t, dev, im, s, ground, o)
						if first == nil {
							first = got
						}
						if !bytes.Equal(got, first) {
							t.Errorf("tiles of %v: the pixels differ", size)
						}
					}
				})
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				if got, _ := whole(t, cpu(t), im, s, ground, Options{Extent: e, Resolution: [2]float64{1.7, 1.9}, Resampling: r}); !bytes.Equal(got, first) {
					t.Error("one thread: the pixels differ")
				}
			})
		}
	}
}

func TestBadInputsAreReported(t *testing.T) {
	dev := cpu(t)
	ground := surface(t, hills, 2)
	c, pose, _ := brown(t)
	s, err := Frame(c, pose)
	if err != nil {
		t.Fatal(err)
	}
	h := tiff.Header{Width: c.Width, Height: c.Height, Bands: 1, Photometric: tiff.MinIsBlack}
	im := write(t, filepath.Join(t.TempDir(), "frame.tif"), h, make([]uint8, c.Width*c.Height), tiff.Options{})
	result := filepath.Join(t.TempDir(), "result.tif")
	file := func(ctx context.Context, s *Sensor, ground *Surface, name string, o Options) error {
		return File(ctx, dev, name, im, s, ground, o)
	}
	away := pose
	away.Center[0] += 5000
	far, _ := Frame(c, away)
	flat, _ := Frame(c, OmegaPhiKappa(pose.CRS, originX+100, originY+100, 450, 85, 0, 0))
	small := c
	small.Width = 100
	other, _ := Frame(small, pose)
	bare := write(t, filepath.Join(t.TempDir(), "bare.tif"), tiff.Header{Width: 4, Height: 4, Bands: 1, Photometric: tiff.MinIsBlack}, make([]float32, 16), tiff.Options{})
	lost := placed(32633, 4, 4, 1, tiff.Affine{originX, 1, 0, originY, 0, -1})
	lost.Geo.Keys = nil
	noSystem := write(t, filepath.Join(t.TempDir(), "nosystem.tif"), lost, make([]float32, 16), tiff.Options{})
	empty := placed(32633, 4, 4, 1, tiff.Affine{originX, 1, 0, originY, 0, -1})
	empty.NoData = "0"
	noHeights := write(t, filepath.Join(t.TempDir(), "noheights.tif"), empty, make([]float32, 16), tiff.Options{})
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		err  error
		want error
	}{
		"the image shows another place":    {file(t.Context(), far, ground, result, Options{}), ErrOutside},
		"the image shows the horizon":      {file(t.Context(), flat, ground, result, Options{}), ErrArgument},
		"the camera has another size":      {file(t.Context(), other, ground, result, Options{}), ErrArgument},
		"a flat surface without a target":  {file(t.Context(), s, Flat(300), result, Options{}), ErrArgument},
		"an option":                        {file(t.Context(), s, ground, result, Options{Tolerance: math.NaN()}), ErrArgument},
		"a folder that does not exist":     {file(t.Context(), s, ground, filepath.Join(result, "x", "y.tif"), Options{}), tiff.ErrIO},
		"canceled":                         {file(canceled, s, ground, result, Options{}), context.Canceled},
		"a surface without place":          {second(NewSurface(t.Context(), bare, SurfaceOptions{})), ErrNoCRS},
		"a surface without system":         {second(NewSurface(t.Context(), noSystem, SurfaceOptions{})), ErrNoCRS},
		"a surface without heights":        {second(NewSurface(t.Context(), noHeights, SurfaceOptions{})), ErrOutside},
		"a camera without focal length":    {second(Frame(Camera{Width: 1, Height: 1}, pose)), ErrArgument},
		"a pose in degrees":                {second(Frame(c, OmegaPhiKappa(epsg(t, 4326), 0, 0, 0, 0, 0, 0))), ErrArgument},
		"no rotation":                      {second(Frame(c, Pose{CRS: pose.CRS})), ErrArgument},
		"an image without RPC":             {second(RPC(nil, 1, 1)), ErrArgument},
		"JSON that ends early":             {second(ReadReconstruction(strings.NewReader(`[{"cameras": {`), nil, nil)), ErrFormat},
		"a reconstruction without shots":   {second(ReadReconstruction(strings.NewReader(`[]`), nil, nil)), ErrFormat},
		"a shot whose camera is missing":   {second(ReadReconstruction(strings.NewReader(`[{"shots":{"a":{"rotation":[0,0,0],"translation":[0,0,0],"camera":"b"}},"reference_lla":{"latitude":1,"longitude":1}}]`), nil, nil)), ErrFormat},
		"a reconstruction without a place": {second(ReadReconstruction(strings.NewReader(`[{"shots":{"a":{}}}]`), nil, nil)), ErrFormat},
		"a camera of an unknown kind":      {second(ReadCameras(strings.NewReader(`{"a":{"projection_type":"dual","width":1,"height":1,"focal":1}}`))), ErrFormat},
		"a camera without a size":          {second(ReadCameras(strings.NewReader(`{"a":{"projection_type":"brown","focal":1}}`))), ErrFormat},
	} {
		if !errors.Is(test.err, test.want) {
			t.Errorf("%s: %v", name, test.err)
		}
	}
	left, err := os.ReadDir(filepath.Dir(result))
	if err != nil || len(left) != 0 {
		t.Errorf("%v %v are left", left, err)
	}
}

func TestATableOfPosesIsRead(t *testing.T) {
	system := epsg(t, 32633)
	c := Camera{Width: 320, Height: 240, FX: 300, FY: 300}
	one := map[string]Camera{"lens": c}
	want := OmegaPhiKappa(system, 1, 2, 3, 4, 5, 6)
	for _, text := range []string{
		"a.jpg, 1, 2, 3, 4, 5, 6\n",
		"# poses\nfilename,x,y,z,omega,phi,kappa,camera\na.jpg,1,2,3,4,5,6,lens\n",
		"Filename,kappa,phi,omega,z,y,x,quality\na.jpg,6,5,4,3,2,1,good\n",
	} {
		shots, err := ReadExterior(strings.NewReader(text), system, one)
		if err != nil || len(shots) != 1 || shots[0].Pose != want || shots[0].Camera != c {
			t.Errorf("%q: %v %v", text, shots, err)
		}
		for _, name := range []string{"a.jpg", "folder/a.tif", `folder\A.TIF`} {
			if _, err := Find(shots, name); err != nil {
				t.Error(err)
			}
		}
		if _, err := Find(shots, "b.jpg"); !errors.Is(err, ErrArgument) {
			t.Error(err)
		}
	}
	for _, text := range []string{"", "a.jpg,1,2,3\n", "a.jpg,1,2,3,4,5,x\n", "a.jpg,1,2,3,4,5,6,other\n", "\"a"} {
		if _, err := ReadExterior(strings.NewReader(text), system, one); !errors.Is(err, ErrFormat) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }
