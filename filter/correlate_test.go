package filter

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

var modes = []Boundary{{Mode: Reflect}, {Constant, 2.5}, {Mode: Nearest}, {Mode: Mirror}, {Mode: Wrap}}

// sizes of test images, around the edges of tiles.
var sizes = [][4]int{{1, 1, 1, 1}, {2, 3, 1, 3}, {31, 5, 1, 4}, {33, 32, 1, 1}, {10, 33, 1, 3}, {129, 40, 1, 1}, {65, 9, 1, 2}, {5, 4, 6, 1}, {1, 70, 2, 1}}

func randomWeights(n int) []float32 {
	w := make([]float32, n)
	for i := range w {
		w[i] = float32(rand.IntN(65)-32) / float32(16*math.Sqrt(float64(n)))
	}
	return w
}

func refCorrelate[T Pixel](p picture[T], k Stencil, flip bool, b Boundary) []float64 {
	k, _ = k.check("", "")
	out := make([]float64, 0, len(p.at))
	for z := range p.d {
		for y := range p.h {
			for x := range p.w {
				for c := range p.c {
					sum := 0.0
					for n, w := range k.Weights {
						i, j, l := n%k.Width-k.Width/2, n/k.Width%k.Height-k.Height/2, n/k.Width/k.Height-k.Depth/2
						if flip {
							i, j, l = -i, -j, -l
						}
						sum += float64(w) * p.near(b, x+i, y+j, z+l, c)
					}
					out = append(out, sum)
				}
			}
		}
	}
	return out
}

func testCorrelate[Out, In Pixel](t *testing.T, dev *gpu.Device, slack float64) {
	stencils := [][3]int{{1, 1, 1}, {3, 3, 1}, {4, 2, 1}, {70, 1, 1}, {1, 40, 1}, {18, 19, 1}, {3, 2, 3}}
	n := 0
	for _, size := range sizes {
		for i, k := range stencils {
			if size[0]*size[1] > 4000 && k[0]*k[1] > 100 {
				continue
			}
			if n++; thin(dev, n) {
				continue
			}
			b := modes[(n+i)%len(modes)]
			p := noise[In](size[0], size[1], size[2], size[3])
			stencil := Stencil{k[0], k[1], k[2], randomWeights(k[0] * k[1] * k[2])}
			src := up(t, dev, p, n%3)
			dst := poisoned[Out](t, dev, p.w, p.h, p.d, p.c, n%4)
			s := dev.DefaultStream()
			flip := n%2 == 0
			var err error
			if flip {
				err = ConvolveVolume(s, dst, src, stencil, b)
			} else {
				err = CorrelateVolume(s, dst, src, stencil, b)
			}
			if err != nil {
				t.Fatal(err)
			}
			matches(t, fmt.Sprint("correlate ", k, b, flip), down(t, dev, dst), refCorrelate(p, stencil, flip, b), slack)
			if k[0] == 18 {
				continue
			}
			x, y, z := randomWeights(k[0]), randomWeights(k[1]), randomWeights(k[2])
			product := make([]float32, 0, len(stencil.Weights))
			for _, c := range z {
				for _, b := range y {
					for _, a := range x {
						product = append(product, a*b*c)
					}
				}
			}
			stencil.Weights = product
			if b.Mode == Constant {
				b.Value = 0 // otherwise the passes differ from one of all weights, as in SciPy
			}
			if err = SeparableVolume(s, dst, src, x, y, z, b); err != nil {
				t.Fatal(err)
			}
			matches(t, fmt.Sprint("separable ", k, b), down(t, dev, dst), refCorrelate(p, stencil, false, b), slack)
		}
	}
}

func TestCorrelate(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		t.Run("uint8", func(t *testing.T) { testCorrelate[uint8, uint8](t, dev, 1e-3) })
		t.Run("uint16", func(t *testing.T) { testCorrelate[uint16, uint16](t, dev, 0.1) })
		t.Run("float32", func(t *testing.T) { testCorrelate[float32, float32](t, dev, 1e-4) })
		t.Run("mixed", func(t *testing.T) { testCorrelate[float32, uint8](t, dev, 5e-3) })
	})
}
