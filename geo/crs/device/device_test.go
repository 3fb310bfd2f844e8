package device_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/geo/crs"
	"quern.dev/geo/crs/device"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

func system(t testing.TB, code int) *crs.CRS {
	t.Helper()
	c, err := crs.EPSG(code)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// text is a system whose projection EPSG has no code for.
func text(t testing.TB, projection string) *crs.CRS {
	t.Helper()
	c, err := crs.Parse(`PROJCS["x",GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]],PROJECTION["` +
		projection + `"],PARAMETER["central_meridian",5],PARAMETER["latitude_of_origin",40],UNIT["metre",1]]`)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// heights is a grid of geoid heights in the format GTX.
func heights(t testing.TB) *crs.Grid {
	var b bytes.Buffer
	binary.Write(&b, binary.BigEndian, []float64{-90, -180, 15, 15})
	binary.Write(&b, binary.BigEndian, []int32{13, 24})
	for i := range 13 * 24 {
		binary.Write(&b, binary.BigEndian, float32(i%17)*1.7)
	}
	g, err := crs.ReadGrid(&b)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestTheDeviceHasTheBitsOfTheHost(t *testing.T) {
	wgs := system(t, 4979)
	transforms := map[string]*crs.Transform{}
	add := func(name string, to *crs.CRS, opts ...crs.Option) {
		tr, err := crs.NewTransform(wgs, to, opts...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		transforms[name] = tr
	}
	// One for each method.
	for _, code := range []int{4978, 3857, 3395, 32633, 3413, 32761, 6933, 8857, 4087} {
		add(fmt.Sprint(code), system(t, code))
	}
	for _, code := range []int{2154, 5070, 3035, 28992, 2056, 27700, 3375} {
		add(fmt.Sprint(code), system(t, code), crs.UseHelmert(crs.Helmert{Translation: [3]float64{446, -125, 542}, Rotation: [3]float64{.1, .2, .8}, Scale: -20}))
	}
	for _, code := range []int{5514, 5516, 2066, 3139, 27200, 5472, 5017, 27701, 22700, 2218} {
		add(fmt.Sprint(code), system(t, code), crs.UseHelmert(crs.Helmert{Translation: [3]float64{-84, -97, -117}, Scale: 1}))
	}
	for _, text := range []string{"+proj=eqdc +lat_1=40 +lat_2=60 +datum=WGS84", "+proj=ortho +lat_0=40 +datum=WGS84", "+proj=aeqd +lat_0=90 +datum=WGS84", "+proj=cass +lat_0=50 +R=6371000 +towgs84=0,0,0"} {
		c, err := crs.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		add(text, c)
	}
	add("stereographic", text(t, "Stereographic"))
	add("Mollweide", text(t, "Mollweide"))
	add("sinusoidal", text(t, "Sinusoidal"))
	add("geoid", wgs, crs.Geoids(nil, heights(t)))

	const n = 300
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		for name, tr := range transforms {
			r := rand.New(rand.NewPCG(1, 2))
			x, y, z := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range n {
				x[i], y[i], z[i] = r.Float64()*380-190, r.Float64()*182-91, r.Float64()*1000
				if i%2 == 0 { // where national systems are
					x[i], y[i] = 5+r.Float64(), 50+r.Float64()
				}
			}
			check(t, dev, name, tr, x, y, z)
		}
	})
}

func check(t *testing.T, dev *gpu.Device, name string, tr *crs.Transform, x, y, z []float64) {
	t.Helper()
	s := dev.DefaultStream()
	d, err := device.New(s, tr)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	bx, by, bz := gputest.Upload(t, dev, x), gputest.Upload(t, dev, y), gputest.Upload(t, dev, z)
	for _, inverse := range []bool{false, true} {
		convert, host := d.Forward, tr.ForwardAll
		if inverse {
			convert, host = d.Inverse, tr.InverseAll
		}
		if err := convert(s, bx, by, bz); err != nil {
			t.Fatal(err)
		}
		if _, err := host(x, y, z); err != nil {
			t.Fatal(err)
		}
		gx, gy, gz := gputest.Download(t, dev, bx), gputest.Download(t, dev, by), gputest.Download(t, dev, bz)
		for i := range x {
			if !same(x[i], gx[i]) || !same(y[i], gy[i]) || !same(z[i], gz[i]) {
				t.Errorf("%s, inverse %v, point %d: %v %v %v, not %v %v %v", name, inverse, i, gx[i], gy[i], gz[i], x[i], y[i], z[i])
				return
			}
		}
	}
}

func same(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b }

func TestBuffersOfDifferentLengthsAreErrors(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		tr, err := crs.NewTransform(system(t, 4326), system(t, 3857))
		if err != nil {
			t.Fatal(err)
		}
		s := dev.DefaultStream()
		d, err := device.New(s, tr)
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		x, y := gputest.Upload(t, dev, []float64{13, 14}), gputest.Upload(t, dev, []float64{52})
		if err := d.Forward(s, x, y, nil); !errors.Is(err, crs.ErrParameter) {
			t.Error(err)
		}
		if err := d.Forward(s, x, x.Slice(0, 1), nil); !errors.Is(err, crs.ErrParameter) {
			t.Error(err)
		}
	})
}

func BenchmarkTransform(b *testing.B) {
	dev, err := gpu.Open(gpu.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer dev.Close()
	s := dev.DefaultStream()
	const n = 1 << 20
	for _, code := range []int{3857, 32633, 2154, 3035, 3413} {
		tr, err := crs.NewTransform(system(b, 4326), system(b, code))
		if err != nil {
			b.Fatal(err)
		}
		d, err := device.New(s, tr)
		if err != nil {
			b.Fatal(err)
		}
		x, y := make([]float64, n), make([]float64, n)
		for i := range n {
			x[i], y[i] = 5+float64(i%1024)/100, 45+float64(i/1024)/100
		}
		bx, err := gpu.Upload(s, x)
		if err != nil {
			b.Fatal(err)
		}
		by, err := gpu.Upload(s, y)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(fmt.Sprintf("there and back, EPSG %d", code), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := d.Forward(s, bx, by, nil); err != nil {
					b.Fatal(err)
				}
				if err := d.Inverse(s, bx, by, nil); err != nil {
					b.Fatal(err)
				}
				if err := s.Synchronize(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(2*n*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mpoint/s")
		})
		for _, c := range []interface{ Close() error }{bx, by, d} {
			if err := c.Close(); err != nil {
				b.Error(err)
			}
		}
	}
}
