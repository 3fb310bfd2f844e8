package render

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"quern.dev/geo/crs"
	"quern.dev/geo/tiff"
	"quern.dev/gpu"
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

func epsg(t testing.TB, code int) *crs.CRS {
	t.Helper()
	c, err := crs.EPSG(code)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// write makes a file of 30 m pixels in UTM zone 33N.
func write[T tiff.Sample](t testing.TB, width, height, bands int, opt tiff.Options, set func(h *tiff.Header), value func(x, y, band int) T) *tiff.Image {
	t.Helper()
	h := tiff.Header{Width: width, Height: height, Bands: bands, Type: tiff.TypeOf[T](), Photometric: tiff.MinIsBlack}
	if bands >= 3 {
		h.Photometric = tiff.RGB
	}
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.ModelProjected})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTRasterType, Code: tiff.RasterPixelIsArea})
	h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.ProjectedCRS, Code: 32633})
	h.Geo.SetAffine(tiff.Affine{500000, 30, 0, 5300000, 0, -30})
	if set != nil {
		set(&h)
	}
	pixels := make([]T, width*height*bands)
	for i := range pixels {
		pixels[i] = value(i/bands%width, i/bands/width, i%bands)
	}
	name := filepath.Join(t.TempDir(), "image.tif")
	w, err := tiff.Create(name, h, opt)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteRows(context.Background(), tiff.Rows{Pixels: tiff.Bytes(pixels)}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := tiff.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f.Image()
}

func renderer(t testing.TB, o Options) *Renderer {
	t.Helper()
	r, err := New(cpu(t), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func view(t testing.TB, r *Renderer, im *tiff.Image, style Style, target int) *View {
	t.Helper()
	s, err := r.NewSource(im, style)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := crs.NewTransform(epsg(t, 32633), epsg(t, target))
	if err != nil {
		t.Fatal(err)
	}
	v, err := s.View(tr)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

var colors = Style{Bands: [3]int{0, 1, 2}, High: [3]float64{255, 255, 255}}

func draw(t testing.TB, r *Renderer, m Map) []uint32 {
	t.Helper()
	out := make([]uint32, m.Width*m.Height)
	for i := range out {
		out[i] = 0xdeadbeef
	}
	if err := r.Draw(context.Background(), &m, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// reference draws a map of one level in float64: positions by the transform, bilinear interpolation.
func reference(t testing.TB, m Map, im *tiff.Image, target int, pixel func(x, y, band int) float64) (colors [][3]float64, inside []bool) {
	tr, err := crs.NewTransform(epsg(t, 32633), epsg(t, target))
	if err != nil {
		t.Fatal(err)
	}
	a, _ := im.Geo.Affine()
	for i := range m.Width * m.Height {
		x := m.Extent.MinX + (float64(i%m.Width)+0.5)*(m.Extent.MaxX-m.Extent.MinX)/float64(m.Width)
		y := m.Extent.MaxY - (float64(i/m.Width)+0.5)*(m.Extent.MaxY-m.Extent.MinY)/float64(m.Height)
		x, y, err := tr.Inverse(x, y)
		px, py := (x-a[0])/a[1], (y-a[3])/a[5]
		in := err == nil && px >= 0 && py >= 0 && px <= float64(im.Width) && py <= float64(im.Height)
		var c [3]float64
		if in {
			fx, fy := px-0.5, py-0.5
			cx, cy := int(math.Floor(fx)), int(math.Floor(fy))
			fx, fy = fx-float64(cx), fy-float64(cy)
			at := func(x, y, band int) float64 {
				return pixel(min(max(x, 0), im.Width-1), min(max(y, 0), im.Height-1), band)
			}
			for b := range 3 {
				c[b] = (at(cx, cy, b)*(1-fx)+at(cx+1, cy, b)*fx)*(1-fy) + (at(cx, cy+1, b)*(1-fx)+at(cx+1, cy+1, b)*fx)*fy
			}
		}
		colors, inside = append(colors, c), append(inside, in)
	}
	return colors, inside
}

// smooth is an image without small structure: 1/16 of a pixel changes it by less than 1.
func smooth(x, y, band int) float64 {
	return math.Round(128 + 100*math.Sin(float64(x)/20+float64(band))*math.Cos(float64(y)/25))
}

func TestMapsAgreeWithAReference(t *testing.T) {
	im := write(t, 190, 180, 3, tiff.Options{}, nil, func(x, y, band int) uint8 { return uint8(smooth(x, y, band)) })
	r := renderer(t, Options{Lanes: 2})
	for _, target := range []int{3857, 4326, 32633, 3035, 32632} {
		v := view(t, r, im, colors, target)
		f := v.Footprint()
		w, h := f.MaxX-f.MinX, f.MaxY-f.MinY
		for i, part := range []Extent{
			{f.MinX - w/10.3, f.MinY - h/10.7, f.MaxX + w/10.1, f.MaxY + h/10.9},
			{f.MinX + w/3, f.MinY + h/3, f.MinX + w/2, f.MinY + h/2},
			{f.MinX, f.MaxY - h/5, f.MinX + w/5, f.MaxY},
		} {
			m := Map{Views: []*View{v}, Extent: part, Width: 220, Height: 210}
			want, inside := reference(t, m, im, target, smooth)
			for _, m.Exact = range []bool{false, true} {
				got := draw(t, r, m)
				wrong, edge, worst := 0, 0, 0.0
				for k, c := range got {
					if c>>24 != 0 != inside[k] || c>>24 != 0 && c>>24 != 255 {
						edge++
						continue
					}
					for b := range 3 {
						if e := math.Abs(float64(c>>(8*b)&0xff) - want[k][b]); inside[k] && e > 1.6 {
							wrong++
							worst = max(worst, e)
						}
					}
				}
				if wrong > 0 || edge > len(got)/400 || m.Exact && edge > 0 {
					t.Errorf("EPSG:%d, part %d, exact %v: %d samples are wrong, by up to %v, and %d edge pixels", target, i, m.Exact, wrong, worst, edge)
				}
			}
		}
	}
}

func TestReducedMapsUseOverviews(t *testing.T) {
	value := func(x, y, band int) uint8 { return uint8(100 + 50*band) }
	for _, opt := range []tiff.Options{{COG: true}, {BlockWidth: 64, BlockHeight: 64}, {Strips: true, BlockHeight: 7}} {
		im := write(t, 1500, 1300, 3, opt, nil, value)
		r := renderer(t, Options{Lanes: 1, Pages: 1, Blocks: 1 << 20})
		v := view(t, r, im, colors, 3857)
		f := v.Footprint()
		for _, size := range []int{10, 100, 300} {
			m := Map{Views: []*View{v}, Extent: f, Width: size, Height: size}
			got := draw(t, r, m)
			if c := got[size*size/2+size/2]; c != 0xff000000|100|150<<8|200<<16 {
				t.Errorf("%+v, %d pixels: %#x", opt, size, c)
			}
			seen := 0
			for _, c := range got {
				if c != 0 {
					seen++
					if c != 0xff000000|100|150<<8|200<<16 {
						t.Fatalf("%+v, %d pixels: %#x", opt, size, c)
					}
				}
			}
			if seen < size*size*7/10 {
				t.Errorf("%+v, %d pixels: %d have data", opt, size, seen)
			}
		}
	}
}

// TestTheSeamOfAProjectionIsSharp draws the North Pole of a map of the world, whose edges meet at the antimeridian: pixels near it
// come from the same level as all others.
func TestTheSeamOfAProjectionIsSharp(t *testing.T) {
	value := func(x, y, band int) uint8 { return uint8(100 + x/3%2*100) }
	im := write(t, 720, 360, 3, tiff.Options{}, func(h *tiff.Header) {
		h.Geo.Keys = nil
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GTModelType, Code: tiff.ModelGeographic})
		h.Geo.Keys.Set(tiff.GeoValue{Key: tiff.GeodeticCRS, Code: 4326})
		h.Geo.SetAffine(tiff.Affine{-180, 0.5, 0, 90, 0, -0.5})
	}, value)
	r := renderer(t, Options{Lanes: 1})
	style := colors
	style.Nearest = true
	s, err := r.NewSource(im, style)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := crs.NewTransform(epsg(t, 4326), epsg(t, 3413))
	if err != nil {
		t.Fatal(err)
	}
	v, err := s.View(tr)
	if err != nil {
		t.Fatal(err)
	}
	for _, exact := range []bool{false, true} {
		got := draw(t, r, Map{Views: []*View{v}, Extent: Extent{-4e6, -4e6, 4e6, 4e6}, Width: 256, Height: 256, Exact: exact})
		for i, c := range got {
			if x, y := i%256-128, i/256-128; x*x+y*y > 60*60 && c != 0xff646464 && c != 0xffc8c8c8 {
				t.Fatalf("exact %v: pixel %d, %d is %#x", exact, i%256, i/256, c)
			}
		}
	}
}

func testType[T tiff.Sample](t *testing.T) {
	t.Run(tiff.TypeOf[T]().String(), func(t *testing.T) {
		value := func(x, y, _ int) T { return any(number[T](float64((x + y) % 100))).(T) }
		none := "99"
		im := write(t, 300, 300, 1, tiff.Options{}, func(h *tiff.Header) { h.NoData = none }, value)
		r := renderer(t, Options{Lanes: 1})
		ramp := make([]uint32, 256)
		for i := range ramp {
			ramp[i] = 0xff000000 | uint32(i)
		}
		v := view(t, r, im, Style{Ramp: ramp, Low: [3]float64{0, 0, 0}, High: [3]float64{128, 1, 1}, Nearest: true}, 32633)
		got := draw(t, r, Map{Views: []*View{v}, Extent: Extent{500000, 5300000 - 9000, 509000, 5300000}, Width: 300, Height: 300})
		for i, c := range got {
			want := 0xff000000 | uint32((i%300+i/300)%100*2)
			if (i%300+i/300)%100 == 99 {
				want = 0
			}
			if c != want {
				t.Fatalf("pixel %d is %#x, want %#x", i, c, want)
			}
		}
	})
}

func number[T tiff.Sample](v float64) any {
	switch any(*new(T)).(type) {
	case uint8:
		return uint8(v)
	case int8:
		return int8(v)
	case uint16:
		return uint16(v)
	case int16:
		return int16(v)
	case uint32:
		return uint32(v)
	case int32:
		return int32(v)
	case float32:
		return float32(v)
	}
	return v
}

func TestEveryTypeHasARampAndNoData(t *testing.T) {
	testType[uint8](t)
	testType[int8](t)
	testType[uint16](t)
	testType[int16](t)
	testType[uint32](t)
	testType[int32](t)
	testType[float32](t)
	testType[float64](t)
}

func TestLaterViewsLieOverEarlierOnes(t *testing.T) {
	r := renderer(t, Options{Lanes: 1})
	plain := func(v uint8) *tiff.Image {
		return write(t, 64, 64, 4, tiff.Options{}, func(h *tiff.Header) { h.Extra = []tiff.ExtraSample{tiff.StraightAlpha} }, func(x, y, band int) uint8 {
			if band == 3 {
				return uint8(x * 255 / 63)
			}
			return v
		})
	}
	below := write(t, 64, 64, 3, tiff.Options{}, nil, func(x, y, band int) uint8 { return 200 })
	under, over := view(t, r, below, colors, 32633), view(t, r, plain(40), colors, 32633)
	e := Extent{500000, 5300000 - 64*30, 500000 + 64*30, 5300000}
	got := draw(t, r, Map{Views: []*View{under, over}, Extent: e, Width: 64, Height: 64})
	for i, c := range got {
		a := float64(i % 64 * 255 / 63)
		want := (40*a + 200*(255-a)) / 255
		if e := math.Abs(float64(c&0xff) - want); e > 1.5 || c>>24 != 255 {
			t.Fatalf("pixel %d is %#x, want %v", i, c, want)
		}
	}
	alone := draw(t, r, Map{Views: []*View{over}, Extent: e, Width: 64, Height: 64})
	for i, c := range alone {
		a := i % 64 * 255 / 63
		if int(c>>24) != a {
			t.Fatalf("pixel %d is %#x, want alpha %d", i, c, a)
		}
		if a > 60 && (c&0xff < 38 || c&0xff > 42) {
			t.Fatalf("pixel %d is %#x, want the color 40", i, c)
		}
	}
}

func TestAFewPagesServeManyMaps(t *testing.T) {
	im := write(t, 1000, 1000, 3, tiff.Options{}, nil, func(x, y, band int) uint8 { return uint8(smooth(x, y, band)) })
	r := renderer(t, Options{Lanes: 4, Pages: 1, Blocks: 1})
	large := renderer(t, Options{Lanes: 1})
	v, w := view(t, r, im, colors, 3857), view(t, large, im, colors, 3857)
	f := v.Footprint()
	done := make(chan error)
	for g := range uint64(4) {
		go func() {
			random := rand.New(rand.NewPCG(g, 0))
			for range 8 {
				x, y := f.MinX+random.Float64()*(f.MaxX-f.MinX), f.MinY+random.Float64()*(f.MaxY-f.MinY)
				m := Map{Views: []*View{v}, Extent: Extent{x, y, x + 6000, y + 6000}, Width: 100, Height: 100}
				got, want := make([]uint32, 10000), make([]uint32, 10000)
				if err := r.Draw(context.Background(), &m, got); err != nil {
					done <- err
					return
				}
				m.Views = []*View{w}
				if err := large.Draw(context.Background(), &m, want); err != nil {
					done <- err
					return
				}
				for i := range got {
					if got[i] != want[i] {
						done <- fmt.Errorf("pixel %d is %#x with few pages, %#x with many", i, got[i], want[i])
						return
					}
				}
			}
			done <- nil
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkDraw(b *testing.B) {
	im := write(b, 2048, 2048, 3, tiff.Options{COG: true}, nil, func(x, y, band int) uint8 { return uint8(smooth(x, y, band)) })
	r := renderer(b, Options{})
	v := view(b, r, im, colors, 3857)
	f := v.Footprint()
	x, y := (f.MinX+f.MaxX)/2, (f.MinY+f.MaxY)/2
	out := make([]uint32, 256*256)
	for _, exact := range []bool{false, true} {
		b.Run(fmt.Sprintf("exact=%v", exact), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m := Map{Views: []*View{v}, Extent: Extent{x, y, x + 256*45, y + 256*45}, Width: 256, Height: 256, Exact: exact}
				if err := r.Draw(context.Background(), &m, out); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
