package output

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// reference computes a sample in float64 with the formulas of the CUDA C Programming Guide
// and exact weights.
func reference(texels []float32, w, h int, o gpu.TextureOptions, u, v float64) float64 {
	if o.Normalized {
		u, v = u*float64(w), v*float64(h)
	}
	at := func(i int, n int, mode gpu.AddressMode) int {
		switch {
		case 0 <= i && i < n:
			return i
		case mode == gpu.AddressBorder:
			return -1
		case mode == gpu.AddressWrap:
			return ((i % n) + n) % n
		case mode == gpu.AddressMirror:
			i = ((i % (2 * n)) + 2*n) % (2 * n)
			if i >= n {
				i = 2*n - 1 - i
			}
			return i
		}
		return min(max(i, 0), n-1)
	}
	texel := func(i, j int) float64 {
		i, j = at(i, w, o.AddressX), at(j, h, o.AddressY)
		if i < 0 || j < 0 {
			return 0
		}
		return float64(texels[j*w+i])
	}
	if o.Filter == gpu.FilterPoint {
		return texel(int(math.Floor(u)), int(math.Floor(v)))
	}
	i, j := math.Floor(u-0.5), math.Floor(v-0.5)
	a, b := u-0.5-i, v-0.5-j
	x, y := int(i), int(j)
	return (1-a)*(1-b)*texel(x, y) + a*(1-b)*texel(x+1, y) + (1-a)*b*texel(x, y+1) + a*b*texel(x+1, y+1)
}

func TestSamplesMatchFormulas(t *testing.T) {
	const w, h, n = 13, 7, 4096
	r := rand.New(rand.NewPCG(3, 4))
	texels := make([]float32, w*h)
	for i := range texels {
		texels[i] = r.Float32()
	}
	modes := []gpu.AddressMode{gpu.AddressClamp, gpu.AddressBorder, gpu.AddressWrap, gpu.AddressMirror}
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, filter := range []gpu.TextureFilter{gpu.FilterPoint, gpu.FilterLinear} {
			for mx, modeX := range modes {
				for my, modeY := range modes {
					for _, normalized := range []bool{false, true} {
						if !normalized && (mx > 1 || my > 1) {
							continue
						}
						o := gpu.TextureOptions{Filter: filter, AddressX: modeX, AddressY: modeY, Normalized: normalized}
						t.Run(fmt.Sprintf("filter %d, modes %d and %d, normalized %v", filter, mx, my, normalized), func(t *testing.T) {
							compareSamples(t, d, r, texels, w, h, n, o)
						})
					}
				}
			}
		}
	})
}

func compareSamples(t *testing.T, d *gpu.Device, r *rand.Rand, texels []float32, w, h, n int, o gpu.TextureOptions) {
	image, err := gpu.NewTexture2D[float32](d.DefaultStream(), w, h, texels, o)
	if err != nil {
		t.Fatal(err)
	}
	defer image.Close()
	u, v := make([]float32, n), make([]float32, n)
	for i := range u {
		u[i], v[i] = (r.Float32()*3-1)*float32(w), (r.Float32()*3-1)*float32(h)
		if o.Filter == gpu.FilterPoint { // away from the edges, where rounding decides
			u[i] = float32(math.Floor(float64(u[i]))) + 0.1 + 0.8*r.Float32()
			v[i] = float32(math.Floor(float64(v[i]))) + 0.1 + 0.8*r.Float32()
		}
		if o.Normalized {
			u[i], v[i] = u[i]/float32(w), v[i]/float32(h)
		}
	}
	out := gputest.Upload(t, d, make([]float32, n))
	if err := LaunchSampled(d.DefaultStream(), gpu.Linear(n), image, gputest.Upload(t, d, u), gputest.Upload(t, d, v), out); err != nil {
		t.Fatal(err)
	}
	// Weights have 8 fractional bits. Each of the two is off by up to half a unit, on
	// hardware by one unit.
	tolerance := 0.0
	if o.Filter == gpu.FilterLinear {
		tolerance = 2.0/256 + 1e-5
	}
	for i, got := range gputest.Download(t, d, out) {
		if want := reference(texels, w, h, o, float64(u[i]), float64(v[i])); math.Abs(float64(got)-want) > tolerance || got != got {
			t.Fatalf("at (%g, %g): %g, want %g", u[i], v[i], got, want)
		}
	}
}

func TestFetchFollowsAddressMode(t *testing.T) {
	const w, h = 5, 3
	texels := make([]float32, w*h)
	for i := range texels {
		texels[i] = float32(i) + 1
	}
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, o := range []gpu.TextureOptions{
			{}, {Filter: gpu.FilterLinear}, {AddressX: gpu.AddressBorder}, {Normalized: true},
			{Normalized: true, Filter: gpu.FilterLinear, AddressX: gpu.AddressWrap, AddressY: gpu.AddressMirror},
		} {
			image, err := gpu.NewTexture2D[float32](d.DefaultStream(), w, h, texels, o)
			if err != nil {
				t.Fatal(err)
			}
			defer image.Close()
			out := gputest.Upload(t, d, make([]float32, (w+4)*(h+4)))
			if err := LaunchFetched(d.DefaultStream(), gpu.Plane(w+4, h+4), image, out); err != nil {
				t.Fatal(err)
			}
			for i, got := range gputest.Download(t, d, out) {
				x, y := i%(w+4)-2, i/(w+4)-2
				point := o
				point.Filter, point.Normalized = gpu.FilterPoint, false
				if want := reference(texels, w, h, point, float64(x)+0.5, float64(y)+0.5); float64(got) != want {
					t.Errorf("%+v: element (%d,%d) is %g, want %g", o, x, y, got, want)
				}
			}
		}
	})
}

func TestIntegerTexelsAreNormalized(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		bytes, err := gpu.NewTexture2D[float32](s, 4, 1, []uint8{0, 1, 128, 255}, gpu.TextureOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer bytes.Close()
		words, err := gpu.NewTexture2D[float32](s, 4, 1, []uint16{9, 9, 9, 9}, gpu.TextureOptions{})
		if err != nil {
			t.Fatal(err)
		}
		defer words.Close()
		if err := gpu.Store(s, words, []uint16{0, 1, 32768, 65535}); err != nil {
			t.Fatal(err)
		}
		u, v := gputest.Upload(t, d, []float32{0.5, 1.5, 2.5, 3.5}), gputest.Upload(t, d, make([]float32, 4))
		out := gputest.Upload(t, d, make([]float32, 4))
		for _, c := range []struct {
			image *gpu.Texture2D[float32]
			want  [4]float32
		}{
			{bytes, [4]float32{0, 1.0 / 255, 128.0 / 255, 1}},
			{words, [4]float32{0, 1.0 / 65535, 32768.0 / 65535, 1}},
		} {
			if err := LaunchSampled(s, gpu.Linear(4), c.image, u, v, out); err != nil {
				t.Fatal(err)
			}
			if got := [4]float32(gputest.Download(t, d, out)); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		}
	})
}

func TestPlainGoSamplesImages(t *testing.T) {
	object := kernel.OpenImage(&kernel.Image{Width: 2, Height: 1, Channels: 1, Texels: []float32{1, 3}, Linear: true})
	defer kernel.CloseImage(object)
	out := []float32{0}
	kernel.Each(kernel.Dim3{X: 1}, kernel.Dim3{X: 1}, func(th kernel.Thread) {
		sampled(th, kernel.NewTexture2D[float32](object, 2, 1, false), []float32{1}, []float32{0.5}, out)
	})
	if out[0] != 2 {
		t.Errorf("between 1 and 3: %g, want 2", out[0])
	}
}

func TestMultiComponentElements(t *testing.T) {
	const w, h, n = 6, 5, 500
	r := rand.New(rand.NewPCG(5, 6))
	bytes := make([]uint8, w*h*4)
	for i := range bytes {
		bytes[i] = uint8(r.Uint32())
	}
	channel := func(c, channels int) []float32 {
		out := make([]float32, w*h)
		for i := range out {
			out[i] = float32(bytes[i*channels+c]) / 255
		}
		return out
	}
	u, v := make([]float32, n), make([]float32, n)
	for i := range u {
		u[i], v[i] = r.Float32()*w, r.Float32()*h
	}
	o := gpu.TextureOptions{Filter: gpu.FilterLinear, AddressX: gpu.AddressBorder}
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		two, err := gpu.NewTexture2D[kernel.Vec2[float32]](s, w, h, bytes[:w*h*2], o)
		if err != nil {
			t.Fatal(err)
		}
		defer two.Close()
		four, err := gpu.NewTexture2D[kernel.Vec4[float32]](s, w, h, bytes, o)
		if err != nil {
			t.Fatal(err)
		}
		defer four.Close()
		outTwo, outFour := gputest.Upload(t, d, make([]kernel.Vec2[float32], n)), gputest.Upload(t, d, make([]kernel.Vec4[float32], n))
		if err := LaunchBlended(s, gpu.Linear(n), two, four, gputest.Upload(t, d, u), gputest.Upload(t, d, v), outTwo, outFour); err != nil {
			t.Fatal(err)
		}
		gotTwo, gotFour := gputest.Download(t, d, outTwo), gputest.Download(t, d, outFour)
		close := func(what string, i int, got float32, texels []float32, factor float64) {
			if want := factor * reference(texels, w, h, o, float64(u[i]), float64(v[i])); math.Abs(float64(got)-want) > 2.0/256+1e-5 {
				t.Errorf("%s at (%g, %g): %g, want %g", what, u[i], v[i], got, want)
			}
		}
		for c := range 4 {
			texels := channel(c, 4)
			for i, got := range gotFour {
				close("four", i, [4]float32{got.X, got.Y, got.Z, got.W}[c], texels, 0.5)
			}
		}
		for c := range 2 {
			texels := channel(c, 2)
			for i, got := range gotTwo {
				close("two", i, [2]float32{got.X, got.Y}[c], texels, 1)
			}
		}
	})
}
