package filter

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// around returns the values at the pixels of a window whose top left corner is (-cx, -cy) from
// each pixel, to f, and collects its results.
func around[T Pixel](p picture[T], b Boundary, w, h, cx, cy int, mask []bool, f func([]float64) float64) []float64 {
	out := make([]float64, 0, len(p.at))
	values := make([]float64, 0, w*h)
	for y := range p.h {
		for x := range p.w {
			for c := range p.c {
				values = values[:0]
				for k := range w * h {
					if mask == nil || mask[k] {
						values = append(values, p.near(b, x+k%w-cx, y+k/w-cy, 0, c))
					}
				}
				out = append(out, f(values))
			}
		}
	}
	return out
}

func total(values []float64) (sum float64) {
	for _, v := range values {
		sum += v
	}
	return sum
}

func median(values []float64) float64 {
	slices.SortFunc(values, func(a, b float64) int {
		switch {
		case a < b || b != b && a == a:
			return -1
		case a > b || a != a && b == b:
			return 1
		}
		return 0
	})
	return values[len(values)/2]
}

// A flat image filter, its reference, and the windows to try.
func testWindows[T Pixel](t *testing.T, dev *gpu.Device, name string, windows [][2]int, slack float64,
	run func(s *gpu.Stream, dst, src Image[T], w, h int, b Boundary) error, reference func(p picture[T], w, h int, b Boundary) []float64) {
	t.Helper()
	n := 0
	for _, size := range sizes {
		if size[2] > 1 {
			continue
		}
		for _, k := range windows {
			if n++; thin(dev, n) || size[0]*size[1]*k[0]*k[1] > 1<<19 {
				continue
			}
			b := modes[n%len(modes)]
			if b.Mode == Constant {
				b.Value = 3
			}
			p := noise[T](size[0], size[1], 1, size[3])
			src := upImage(t, dev, p, n%3)
			dst := poisoned[T](t, dev, p.w, p.h, 1, p.c, n%4)
			if err := run(dev.DefaultStream(), dst.image(), src, k[0], k[1], b); err != nil {
				t.Fatal(err)
			}
			matches(t, fmt.Sprint(name, k, b), down(t, dev, dst), reference(p, k[0], k[1], b), slack)
		}
	}
}

func testBox[T Pixel](t *testing.T, dev *gpu.Device) {
	slack := 0.0
	if isFloat[T]() {
		slack = 1e-5
	}
	testWindows(t, dev, "box", [][2]int{{1, 1}, {3, 3}, {4, 5}, {33, 2}, {7, 40}}, slack,
		func(s *gpu.Stream, dst, src Image[T], w, h int, b Boundary) error { return Box(s, dst, src, w, h, b) },
		func(p picture[T], w, h int, b Boundary) []float64 {
			return around(p, b, w, h, w/2, h/2, nil, func(v []float64) float64 { return total(v) / float64(w*h) })
		})
}

func TestBox(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		testBox[uint8](t, dev)
		testBox[uint16](t, dev)
		testBox[float32](t, dev)
	})
}

// TestBoxInfinity: infinities and NaN affect only the windows that contain them.
func TestBoxInfinity(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		p := noise[float32](70, 40, 1, 1)
		p.at[20*70+30], p.at[5*70+66] = float32(math.Inf(1)), float32(math.NaN())
		src, dst := upImage(t, dev, p, 0), poisoned[float32](t, dev, 70, 40, 1, 1, 0)
		if err := Box(dev.DefaultStream(), dst.image(), src, 5, 3, Boundary{}); err != nil {
			t.Fatal(err)
		}
		want := around(p, Boundary{}, 5, 3, 2, 1, nil, func(v []float64) float64 { return total(v) / 15 })
		got := down(t, dev, dst)
		for i, v := range got.at {
			if e := want[i]; float64(v) != e && !(v != v && e != e) && !(math.Abs(float64(v)-e) < 1e-5) {
				t.Fatalf("pixel %d: %v, want %v", i, v, e)
			}
		}
	})
}

func testMedian[T Pixel](t *testing.T, dev *gpu.Device) {
	testWindows(t, dev, "median", [][2]int{{1, 1}, {3, 3}, {5, 5}, {7, 3}, {9, 11}}, 0,
		func(s *gpu.Stream, dst, src Image[T], w, h int, b Boundary) error {
			return Median(s, dst, src, w, h, b)
		},
		func(p picture[T], w, h int, b Boundary) []float64 {
			return around(p, b, w, h, w/2, h/2, nil, median)
		})
}

func TestMedian(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		testMedian[uint8](t, dev)
		testMedian[uint16](t, dev)
		testMedian[float32](t, dev)
	})
}

// TestMedianNaN: NaN counts as greater than all numbers.
func TestMedianNaN(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		p := noise[float32](40, 20, 1, 1)
		special := []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1)), 1e-40, 0, -1e-40, float32(math.Copysign(float64(math.NaN()), -1))}
		for i := range p.at {
			if rand.IntN(2) == 0 {
				p.at[i] = special[rand.IntN(len(special))]
			}
		}
		for _, k := range []int{3, 5, 7} {
			src, dst := upImage(t, dev, p, 0), poisoned[float32](t, dev, 40, 20, 1, 1, 0)
			if err := Median(dev.DefaultStream(), dst.image(), src, k, k, Boundary{Mode: Wrap}); err != nil {
				t.Fatal(err)
			}
			want := around(p, Boundary{Mode: Wrap}, k, k, k/2, k/2, nil, median)
			for i, v := range down(t, dev, dst).at {
				if float64(v) != want[i] && !(v != v && want[i] != want[i]) {
					t.Fatalf("%d: pixel %d: %v, want %v", k, i, v, want[i])
				}
			}
		}
	})
}

func turned(mask []bool) []bool {
	m := slices.Clone(mask)
	slices.Reverse(m)
	return m
}

// refMorph computes erosions and dilations of a picture, in which dilations turn the element.
func refErode[T Pixel](p picture[T], e Element, b Boundary) picture[T] {
	return of(p, around(p, b, e.Width, e.Height, e.Width/2, e.Height/2, e.Mask, slices.Min[[]float64]))
}

func refDilate[T Pixel](p picture[T], e Element, b Boundary) picture[T] {
	return of(p, around(p, b, e.Width, e.Height, (e.Width-1)/2, (e.Height-1)/2, turned(e.Mask), slices.Max[[]float64]))
}

// of returns a picture of the size of p.
func of[T Pixel](p picture[T], values []float64) picture[T] {
	q := blank[T](p.w, p.h, p.d, p.c)
	for i, v := range values {
		q.at[i] = T(v)
	}
	return q
}

func minus[T Pixel](a, b picture[T]) picture[T] {
	q := blank[T](a.w, a.h, a.d, a.c)
	for i := range a.at {
		if q.at[i] = a.at[i] - b.at[i]; !isFloat[T]() && a.at[i] < b.at[i] {
			q.at[i] = 0
		}
	}
	return q
}

func testMorphology[T Pixel](t *testing.T, dev *gpu.Device) {
	elements := []Element{{Width: 3, Height: 3}, {Width: 4, Height: 1}, {Width: 2, Height: 35}, {3, 2, []bool{true, false, true, true, true, false}}}
	filters := []struct {
		name string
		run  func(s *gpu.Stream, dst, src Image[T], e Element, b Boundary, work ...*gpu.Workspace) error
		want func(p picture[T], e Element, b Boundary) picture[T]
	}{
		{"Erode", Erode[T], refErode[T]},
		{"Dilate", Dilate[T], refDilate[T]},
		{"Open", Open[T], func(p picture[T], e Element, b Boundary) picture[T] { return refDilate(refErode(p, e, b), e, b) }},
		{"Close", Close[T], func(p picture[T], e Element, b Boundary) picture[T] { return refErode(refDilate(p, e, b), e, b) }},
		{"Gradient", MorphologicalGradient[T], func(p picture[T], e Element, b Boundary) picture[T] {
			return minus(refDilate(p, e, b), refErode(p, e, b))
		}},
		{"TopHat", TopHat[T], func(p picture[T], e Element, b Boundary) picture[T] {
			return minus(p, refDilate(refErode(p, e, b), e, b))
		}},
		{"BlackHat", BlackHat[T], func(p picture[T], e Element, b Boundary) picture[T] {
			return minus(refErode(refDilate(p, e, b), e, b), p)
		}},
	}
	n := 0
	for _, size := range sizes {
		if size[2] > 1 || size[0]*size[1] > 3000 {
			continue
		}
		for i, f := range filters {
			for j, e := range elements {
				if n++; thin(dev, n/2) || i > 1 && j != n%len(elements) {
					continue
				}
				b := modes[n%len(modes)]
				if b.Mode == Constant {
					b.Value = 3
				}
				p := noise[T](size[0], size[1], 1, size[3])
				src, dst := upImage(t, dev, p, n%3), poisoned[T](t, dev, p.w, p.h, 1, p.c, n%4)
				if err := f.run(dev.DefaultStream(), dst.image(), src, e, b); err != nil {
					t.Fatal(err)
				}
				gputest.Equal(t, down(t, dev, dst).at, f.want(p, e, b).at, gputest.Name(fmt.Sprint(f.name, e, b, size)))
				if t.Failed() {
					t.FailNow()
				}
			}
		}
	}
}

func TestMorphology(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		testMorphology[uint8](t, dev)
		testMorphology[uint16](t, dev)
		testMorphology[float32](t, dev)
	})
}
