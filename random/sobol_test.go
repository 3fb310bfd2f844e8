package random_test

import (
	"fmt"
	"math"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/random"
)

// The expected coordinates, times 2^32, are SciPy's (scipy.stats.qmc.Sobol, 1.17).
var sobolPoints = map[int][7]uint32{
	1:    {2147483648, 2147483648, 2147483648, 2147483648, 2147483648, 2147483648, 2147483648},
	2:    {3221225472, 1073741824, 1073741824, 3221225472, 3221225472, 1073741824, 3221225472},
	3:    {1073741824, 3221225472, 3221225472, 1073741824, 1073741824, 3221225472, 1073741824},
	5:    {3758096384, 3758096384, 536870912, 1610612736, 2684354560, 3758096384, 1610612736},
	100:  {1778384896, 1107296256, 3321888768, 2046820352, 2785017856, 771751936, 4060086272},
	1000: {943718400, 415236096, 2227175424, 3862953984, 1916796928, 3116367872, 3066036224},
}

var sobolColumns = [7]int{0, 1, 2, 7, 63, 500, 1023}

func points[T random.Float](t *testing.T, dev *gpu.Device, q *random.Sobol, first uint64, n int) []T {
	t.Helper()
	dst := gputest.Alloc[T](t, dev, n*q.Dimensions())
	if err := random.Points(dev.DefaultStream(), q, first, dst); err != nil {
		t.Fatal(err)
	}
	return gputest.Download(t, dev, dst)
}

func TestSobolPointsAreThoseOfJoeAndKuo(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		q, err := random.NewSobol(dev.DefaultStream(), random.MaxSobolDimensions)
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		for i, want := range sobolPoints {
			got := points[float64](t, dev, q, uint64(i), 1)
			narrow := points[float32](t, dev, q, uint64(i), 1)
			for k, d := range sobolColumns {
				if x := float64(want[k]) * 0x1p-32; got[d] != x || narrow[d] != float32(x) {
					t.Errorf("point %d, coordinate %d: %v and %v, want %v", i, d, got[d], narrow[d], x)
				}
			}
		}
	})
}

// Points of any range are those of the whole sequence.
func TestSobolPointsDoNotDependOnTheRange(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		for _, dimensions := range []int{1, 2, 5} {
			q, err := random.NewScrambledSobol(dev.DefaultStream(), dimensions, source)
			if err != nil {
				t.Fatal(err)
			}
			defer q.Close()
			all := points[float64](t, dev, q, 0, 3000)
			for _, r := range [][2]int{{0, 0}, {0, 1}, {1, 2}, {0, 17}, {33, 100}, {1000, 2001}, {2047, 3000}} {
				got := points[float64](t, dev, q, uint64(r[0]), r[1]-r[0])
				compare(t, fmt.Sprint(dimensions, r), got, func(i int) float64 { return all[r[0]*dimensions+i] })
			}
			last := points[float64](t, dev, q, 1<<32-40, 40)
			for k := range 40 {
				one := points[float64](t, dev, q, 1<<32-40+uint64(k), 1)
				compare(t, fmt.Sprint("the last points ", k), one, func(i int) float64 { return last[k*dimensions+i] })
			}
		}
	})
}

// Of 2^k points, each interval of length 2^-k has one coordinate of each dimension,
// also after scrambling, and the means converge faster than random ones.
func TestSobolPointsAreEven(t *testing.T) {
	dev := gputest.Open(t, gpu.Config{Device: "cpu"})
	plain, err := random.NewSobol(dev.DefaultStream(), random.MaxSobolDimensions)
	if err != nil {
		t.Fatal(err)
	}
	defer plain.Close()
	scrambled, err := random.NewScrambledSobol(dev.DefaultStream(), random.MaxSobolDimensions, random.Source{Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	defer scrambled.Close()
	const n = 256
	for name, q := range map[string]*random.Sobol{"plain": plain, "scrambled": scrambled} {
		x := points[float64](t, dev, q, 0, n)
		for d := range q.Dimensions() {
			var seen [n]bool
			for i := range n {
				cell := int(x[i*q.Dimensions()+d] * n)
				if seen[cell] {
					t.Fatalf("%s: dimension %d has two points in interval %d", name, d, cell)
				}
				seen[cell] = true
			}
		}
		// The first two dimensions are a (0, 8, 2)-net: each of 16x16 squares has a point.
		var seen [n]bool
		for i := range n {
			seen[int(x[i*q.Dimensions()]*16)*16+int(x[i*q.Dimensions()+1]*16)] = true
		}
		for cell, s := range seen {
			if !s {
				t.Fatalf("%s: no point in square %d", name, cell)
			}
		}
	}
	q, err := random.NewScrambledSobol(dev.DefaultStream(), 6, random.Source{Seed: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	const many = 1 << 14
	x, sum := points[float64](t, dev, q, 0, many), 0.0
	for i := range many {
		product := 1.0
		for _, v := range x[6*i : 6*i+6] {
			product *= math.Pi / 2 * math.Sin(math.Pi*v)
		}
		sum += product
	}
	// The standard error of random points is 0.012.
	if e := math.Abs(sum/many - 1); e > 2e-4 {
		t.Errorf("the integral is off by %g", e)
	}
}
