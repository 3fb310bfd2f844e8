package filter

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// picture is an image or volume on the host, in the order of a dense Volume.
type picture[T Pixel] struct {
	w, h, d, c int
	at         []T
}

func blank[T Pixel](w, h, d, c int) picture[T] { return picture[T]{w, h, d, c, make([]T, w*h*d*c)} }

// noise returns random pixels. Those of float32 are multiples of 1/256 between -4 and 4.
func noise[T Pixel](w, h, d, c int) picture[T] {
	p := blank[T](w, h, d, c)
	for i := range p.at {
		if isFloat[T]() {
			p.at[i] = T(float32(rand.IntN(2048)-1024) / 256)
		} else {
			p.at[i] = T(rand.Uint32())
		}
	}
	return p
}

func (p picture[T]) get(x, y, z, c int) float64 {
	return float64(p.at[((z*p.h+y)*p.w+x)*p.c+c])
}

// near returns the value at a pixel that may be beyond the edges.
func (p picture[T]) near(b Boundary, x, y, z, c int) float64 {
	if uint(x) < uint(p.w) && uint(y) < uint(p.h) && uint(z) < uint(p.d) {
		return p.get(x, y, z, c)
	}
	if b.Mode == Constant {
		return float64(b.Value)
	}
	return p.get(b.Mode.find(x, p.w), b.Mode.find(y, p.h), b.Mode.find(z, p.d), c)
}

type line struct {
	mode Mode
	n    int
}

var found = map[line][]int{} // by line: the results of walk for -256 to n+255

func (m Mode) find(i, n int) int {
	if i < -256 || i >= n+256 {
		return walk(m, i, n)
	}
	l := line{m, n}
	if found[l] == nil {
		for k := -256; k < n+256; k++ {
			found[l] = append(found[l], walk(m, k, n))
		}
	}
	return found[l][i+256]
}

// walk finds the pixel at index i by steps of one from pixel 0, turning at the edges.
func walk(m Mode, i, n int) int {
	at, step := 0, 1
	if i < 0 {
		switch m {
		case Nearest:
			return 0
		case Wrap:
			return walk(m, i+n, n)
		}
		// Index -1 is pixel 0 again, or pixel 1.
		if m == Reflect {
			return walk(m, -1-i, n)
		}
		return walk(m, -i, n)
	}
	for range i {
		next := at + step
		if next < 0 || next >= n {
			switch m {
			case Nearest:
				return at
			case Wrap:
				next = 0
			case Reflect:
				step, next = -step, at
			case Mirror:
				step = -step
				next = at + step
				if n == 1 {
					next = 0
				}
			}
		}
		at = next
	}
	return at
}

// to converts a value as the filters do.
func to[T Pixel](v float64) T {
	if isFloat[T]() {
		return T(v)
	}
	zero := T(0)
	return T(min(max(math.RoundToEven(v), 0), float64(zero-1)))
}

// up uploads a picture with gaps between its rows and images.
func up[T Pixel](t testing.TB, dev *gpu.Device, p picture[T], gap int) Volume[T] {
	stride := p.w*p.c + gap
	plane := p.h*stride + 2*gap
	data := make([]T, gap+p.d*plane)
	for i := range data {
		data[i] = T(77)
	}
	for z := range p.d {
		for y := range p.h {
			copy(data[gap+z*plane+y*stride:], p.at[(z*p.h+y)*p.w*p.c:][:p.w*p.c])
		}
	}
	return Volume[T]{p.w, p.h, p.d, p.c, stride, plane, gputest.Upload(t, dev, data).Slice(gap, gap+p.d*plane)}
}

func upImage[T Pixel](t testing.TB, dev *gpu.Device, p picture[T], gap int) Image[T] {
	v := up(t, dev, p, gap)
	return Image[T]{v.Width, v.Height, v.Channels, v.Stride, v.Data}
}

// down downloads a volume, and fails the test if anything in the gaps has been written.
func down[T Pixel](t testing.TB, dev *gpu.Device, v Volume[T]) picture[T] {
	t.Helper()
	s, err := v.check("down", "v", true)
	if err != nil {
		t.Fatal(err)
	}
	p := blank[T](s.w, s.h, s.d, s.c)
	data := gputest.Download(t, dev, v.Data)
	for i := range data {
		z, y, e := i/s.plane, i%s.plane/s.stride, i%s.plane%s.stride
		if z < s.d && y < s.h && e < s.row() {
			p.at[(z*s.h+y)*s.row()+e] = data[i]
		} else if data[i] != T(77) {
			t.Fatalf("element %d in a gap of %v was written", i, s)
		}
	}
	return p
}

// poisoned uploads an image that is to be overwritten.
func poisoned[T Pixel](t testing.TB, dev *gpu.Device, w, h, d, c, gap int) Volume[T] {
	p := blank[T](w, h, d, c)
	for i := range p.at {
		p.at[i] = T(101)
	}
	return up(t, dev, p, gap)
}

func (v Volume[T]) image() Image[T] {
	return Image[T]{v.Width, v.Height, v.Channels, v.Stride, v.Data}
}

// matches compares, integers with a difference of one where the exact value is within slack
// of the middle between two.
func matches[T Pixel](t testing.TB, name string, got picture[T], want []float64, slack float64) {
	t.Helper()
	for i, v := range got.at {
		exact := want[i]
		d := math.Abs(float64(v) - exact)
		if !isFloat[T]() {
			clamped := float64(to[T](exact))
			if float64(v) == clamped {
				continue
			}
			d -= 0.5
		}
		if !(d <= slack+1e-6*math.Abs(exact)) {
			x, y, z := i/got.c%got.w, i/got.c/got.w%got.h, i/got.c/got.w/got.h
			t.Fatalf("%s: %dx%dx%dx%d: pixel (%d,%d,%d) channel %d is %v, want %v", name, got.w, got.h, got.d, got.c, x, y, z, i%got.c, v, exact)
		}
	}
}

var all = flag.Bool("all", false, "run every case on the simulator")

// thin reports whether a test skips its n-th case on this device: the simulator runs one in
// 16, unless the flag -all is given.
func thin(dev *gpu.Device, n int) bool { return dev.Backend() == gpu.Sim && n%16 != 0 && !*all }
