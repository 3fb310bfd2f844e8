package filter

import (
	"fmt"
	"math"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// weight is the kernel of an interpolation, in one direction.
func weight(i Interpolation, x float64) float64 {
	x = math.Abs(x)
	switch {
	case i == Linear || i == Area:
		return max(0, 1-x)
	case i == Cubic:
		const a = -0.75
		switch {
		case x < 1:
			return (a+2)*x*x*x - (a+3)*x*x + 1
		case x < 2:
			return a*x*x*x - 5*a*x*x + 8*a*x - 4*a
		}
		return 0
	case x == 0:
		return 1
	case x < 4:
		return math.Sin(math.Pi*x) * math.Sin(math.Pi*x/4) / (math.Pi * math.Pi * x * x / 4)
	}
	return 0
}

// sample reads a picture at a position.
func (p picture[T]) sample(i Interpolation, b Boundary, u, v float64, c int) float64 {
	if i == NearestPixel {
		return p.near(b, int(math.Floor(u+0.5)), int(math.Floor(v+0.5)), 0, c)
	}
	var sum, norm float64
	for y := int(math.Floor(v)) - 3; y <= int(math.Floor(v))+4; y++ {
		for x := int(math.Floor(u)) - 3; x <= int(math.Floor(u))+4; x++ {
			if w := weight(i, u-float64(x)) * weight(i, v-float64(y)); w != 0 {
				sum += w * p.near(b, x, y, 0, c)
				norm += w
			}
		}
	}
	return sum / norm
}

func refWarp[T Pixel](p picture[T], w, h int, m [3][3]float64, i Interpolation, b Boundary) []float64 {
	out := make([]float64, 0, w*h*p.c)
	find := func(x, y float64) (u, v float64) {
		q := m[2][0]*x + m[2][1]*y + m[2][2]
		return (m[0][0]*x + m[0][1]*y + m[0][2]) / q, (m[1][0]*x + m[1][1]*y + m[1][2]) / q
	}
	for y := range h {
		for x := range w {
			for c := range p.c {
				u, v := find(float64(x), float64(y))
				if i != Area {
					out = append(out, p.sample(i, b, u, v, c))
					continue
				}
				u1, v1 := find(float64(x+1), float64(y))
				u2, v2 := find(float64(x), float64(y+1))
				n := math.Ceil(max(math.Abs(u1-u), math.Abs(v1-v), math.Abs(u2-u), math.Abs(v2-v)) - 1e-9)
				n = min(max(n, 1), 16)
				sum := 0.0
				for j := range int(n) {
					for k := range int(n) {
						u, v := find(float64(x)+(float64(k)+0.5)/n-0.5, float64(y)+(float64(j)+0.5)/n-0.5)
						sum += p.sample(Linear, b, u, v, c)
					}
				}
				out = append(out, sum/(n*n))
			}
		}
	}
	return out
}

// refShrink integrates over the areas of the output's pixels.
func refShrink[T Pixel](p picture[T], w, h int) []float64 {
	out := make([]float64, 0, w*h*p.c)
	cover := func(i, n, k, size int) float64 { // of pixel i of n in pixel k of size
		return max(0, min(float64(i+1), float64(k+1)*float64(n)/float64(size))-max(float64(i), float64(k)*float64(n)/float64(size)))
	}
	for y := range h {
		for x := range w {
			for c := range p.c {
				var sum, norm float64
				for j := range p.h {
					for i := range p.w {
						a := cover(i, p.w, x, w) * cover(j, p.h, y, h)
						sum += a * p.get(i, j, 0, c)
						norm += a
					}
				}
				out = append(out, sum/norm)
			}
		}
	}
	return out
}

var interpolations = []Interpolation{NearestPixel, Linear, Cubic, Lanczos, Area}

func testWarp[T Pixel](t *testing.T, dev *gpu.Device, slack float64) {
	s := dev.DefaultStream()
	n := 0
	for _, size := range [][3]int{{1, 1, 1}, {7, 5, 3}, {40, 21, 1}, {9, 70, 4}} {
		p := noise[T](size[0], size[1], 1, size[2])
		src := upImage(t, dev, p, 2)
		for _, to := range [][2]int{{5, 9}, {33, 10}} {
			for _, i := range interpolations {
				if n++; thin(dev, n*3) {
					continue
				}
				w, h := to[0], to[1]
				dst := poisoned[T](t, dev, w, h, 1, p.c, n%4)
				if err := Resize(s, dst.image(), src, i); err != nil {
					t.Fatal(err)
				}
				sx, sy := float64(p.w)/float64(w), float64(p.h)/float64(h)
				m := [3][3]float64{{sx, 0, (sx - 1) / 2}, {0, sy, (sy - 1) / 2}, {0, 0, 1}}
				want := refWarp(p, w, h, m, i, Boundary{Mode: Nearest})
				if i == Area {
					want = refShrink(p, w, h)
				}
				matches(t, fmt.Sprint("resize ", i), down(t, dev, dst), want, slack)

				b := modes[n%len(modes)]
				m = [3][3]float64{{0.8, -0.37, 1.13}, {0.41, 2.13, -3.01}, {0, 0, 1}}
				if err := Affine(s, dst.image(), src, [2][3]float64{m[0], m[1]}, i, b); err != nil {
					t.Fatal(err)
				}
				matches(t, fmt.Sprint("affine ", i, b), down(t, dev, dst), refWarp(p, w, h, m, i, b), slack)

				m[2] = [3]float64{0.013, 0.021, 1.1}
				if err := Perspective(s, dst.image(), src, m, i, b); err != nil {
					t.Fatal(err)
				}
				matches(t, fmt.Sprint("perspective ", i, b), down(t, dev, dst), refWarp(p, w, h, m, i, b), slack)
			}
		}
	}
}

func TestWarp(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		testWarp[uint8](t, dev, 2e-3)
		testWarp[uint16](t, dev, 0.2)
		testWarp[float32](t, dev, 1e-4)
	})
}

// TestResizeBetweenPixels: a position in the middle of two pixels shows the right or lower one, also
// where the quotient of the sides is rounded.
func TestResizeBetweenPixels(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		sizes := []int{1, 2, 5, 10, 13, 18, 26, 34, 49, 50, 98, 147, 1000}
		pixels := make([]uint16, 1000)
		for i := range pixels {
			pixels[i] = uint16(i)
		}
		src, dst := gputest.Upload(t, dev, pixels), gputest.Alloc[uint16](t, dev, 1000)
		for _, from := range sizes {
			for _, to := range sizes {
				want := make([]uint16, to)
				for x := range want {
					want[x] = uint16((2*x + 1) * from / (2 * to))
				}
				row := Resize(s, Image[uint16]{Width: to, Height: 1, Data: dst}, Image[uint16]{Width: from, Height: 1, Data: src}, NearestPixel)
				gputest.Equal(t, gputest.Download(t, dev, dst)[:to], want, gputest.Name(fmt.Sprintf("a row of %d pixels from %d", to, from)))
				column := Resize(s, Image[uint16]{Width: 1, Height: to, Data: dst}, Image[uint16]{Width: 1, Height: from, Data: src}, NearestPixel)
				gputest.Equal(t, gputest.Download(t, dev, dst)[:to], want, gputest.Name(fmt.Sprintf("a column of %d pixels from %d", to, from)))
				if row != nil || column != nil {
					t.Fatal(row, column)
				}
			}
		}
	})
}

// TestRotateQuarters: quarter turns are exact, and four of them are none.
func TestRotateQuarters(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		p := noise[uint8](12, 7, 1, 3)
		for _, i := range interpolations[:4] {
			dst := poisoned[uint8](t, dev, 7, 12, 1, 3, 1)
			if err := Rotate(s, dst.image(), upImage(t, dev, p, 0), 90, i, Boundary{Mode: Constant}); err != nil {
				t.Fatal(err)
			}
			want := blank[uint8](7, 12, 1, 3)
			for y := range 12 {
				for x := range 7 {
					for c := range 3 { // the right edge becomes the top
						want.at[(y*7+x)*3+c] = p.at[(x*12+11-y)*3+c]
					}
				}
			}
			gputest.Equal(t, down(t, dev, dst).at, want.at, gputest.Name(fmt.Sprint("90 degrees ", i)))
			back := poisoned[uint8](t, dev, 12, 7, 1, 3, 0)
			if err := Rotate(s, back.image(), dst.image(), 270, i, Boundary{Mode: Constant}); err != nil {
				t.Fatal(err)
			}
			gputest.Equal(t, down(t, dev, back).at, p.at, gputest.Name(fmt.Sprint("360 degrees ", i)))
		}
	})
}

func TestConvert(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		s := dev.DefaultStream()
		p := noise[uint16](40, 9, 1, 2)
		f, b := poisoned[float32](t, dev, 40, 9, 1, 2, 3), poisoned[uint8](t, dev, 40, 9, 1, 2, 1)
		if err := Convert(s, f.image(), upImage(t, dev, p, 1), 1./256, -10); err != nil {
			t.Fatal(err)
		}
		if err := Convert(s, b.image(), f.image(), 2, 0); err != nil {
			t.Fatal(err)
		}
		got := down(t, dev, b)
		for i, v := range down(t, dev, f).at {
			if want := float32(p.at[i])/256 - 10; v != want {
				t.Fatalf("%v, want %v", v, want)
			}
			if got.at[i] != to[uint8](2*float64(v)) {
				t.Fatalf("%v is %v", v, got.at[i])
			}
		}
	})
}
