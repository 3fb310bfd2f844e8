package algo

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestMomentsOf(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		out := gputest.Alloc[Moments](t, d, 1)
		for _, n := range []int{0, 1, 2, 300, 9000, 50000} {
			x := make([]float64, n)
			sum := 0.0
			for i := range x {
				x[i] = 1e9 + rand.NormFloat64()
				sum += x[i] - 1e9
			}
			mean, m2 := sum/float64(n), 0.0
			for _, v := range x {
				m2 += (v - 1e9 - mean) * (v - 1e9 - mean)
			}
			if err := MomentsOf(d.DefaultStream(), out, gputest.Upload(t, d, x)); err != nil {
				t.Fatal(err)
			}
			got := gputest.Download(t, d, out)[0]
			if n == 0 {
				if got != (Moments{}) {
					t.Errorf("no numbers: %v", got)
				}
				continue
			}
			if got.Count != int64(n) || math.Abs(got.Mean-1e9-mean) > 1e-6 || math.Abs(got.M2-m2) > 1e-6*m2 {
				t.Errorf("n=%d: got %v, want %v and %v", n, got, mean+1e9, m2)
			}
		}
	})
}

func TestSumCompensated(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		out := gputest.Alloc[Compensated[float32]](t, d, 1)
		for _, n := range []int{0, 1, 1000, 30000} {
			x := make([]float32, 2*n)
			sum := 0.0
			for i := range n {
				large, small := float32(rand.NormFloat64()*1e8), float32(rand.Float64())
				x[i], x[2*n-1-i] = large, -large+small
				sum += float64(large) + float64(x[2*n-1-i])
			}
			if err := SumCompensated(d.DefaultStream(), out, gputest.Upload(t, d, x)); err != nil {
				t.Fatal(err)
			}
			if got := float64(gputest.Download(t, d, out)[0].Value()); math.Abs(got-sum) > 1e-6*math.Abs(sum)+1e-3 {
				t.Errorf("n=%d: got %v, want %v", n, got, sum)
			}
		}
	})
}

func TestGatherAndScatter(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		const n = 1000
		at := make([]uint32, n)
		x, want, back := make([][3]uint16, n), make([][3]uint16, n), make([][3]uint16, n)
		for i, p := range rand.Perm(n) {
			at[i], x[i] = uint32(p), [3]uint16{uint16(i), 7, uint16(2 * i)}
		}
		for i, p := range at {
			want[i], back[p] = x[p], x[i]
		}
		in, index, out := gputest.Upload(t, d, x), gputest.Upload(t, d, at), gputest.Alloc[[3]uint16](t, d, n)
		if err := Gather(s, out, in, index); err != nil {
			t.Fatal(err)
		}
		gputest.Equal(t, gputest.Download(t, d, out), want)
		if err := Scatter(s, out, in, index); err != nil {
			t.Fatal(err)
		}
		gputest.Equal(t, gputest.Download(t, d, out), back)
		at[17] = n
		if err := Gather(s, out, in, gputest.Upload(t, d, at)); err != nil {
			t.Fatal(err)
		}
		fault, ok := errors.AsType[*gpu.KernelError](s.Synchronize(t.Context()))
		if !ok || fault.Kind != gpu.OutOfRange {
			t.Errorf("an index out of range: %v", fault)
		}
	})
}

// The elements are combined in the same order on all devices.
func TestReduceHasTheSameBitsOnAllDevices(t *testing.T) {
	for _, n := range []int{1, 3, 4, 5, 130, 1023, 1025, 5000} {
		x := random[float32](n, 1)
		var first []float32
		gputest.Each(t, func(t *testing.T, d *gpu.Device) {
			out := gputest.Alloc[float32](t, d, 1)
			if err := Reduce(d.DefaultStream(), Sum[float32](), out, gputest.Upload(t, d, x)); err != nil {
				t.Fatal(err)
			}
			got := gputest.Download(t, d, out)
			if first == nil {
				first = got
			}
			gputest.Equal(t, got, first, gputest.Bits)
		})
	}
}

// The sum of infinities and numbers is that of plain additions.
func TestCompensatedSumsOfInfinities(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		inf := math.Inf(1)
		for _, c := range []struct {
			x    []float64
			want float64
		}{
			{[]float64{1, inf, 2}, inf},
			{[]float64{-inf, 1}, -inf},
			{[]float64{inf, -inf}, math.NaN()},
			{[]float64{1, math.NaN()}, math.NaN()},
			{[]float64{math.MaxFloat64, math.MaxFloat64}, inf},
			{append(make([]float64, 5000), -inf), -inf},
		} {
			sum := gputest.Alloc[Compensated[float64]](t, d, 1)
			if err := SumCompensated(d.DefaultStream(), sum, gputest.Upload(t, d, c.x)); err != nil {
				t.Fatal(err)
			}
			if got := gputest.Download(t, d, sum)[0].Value(); got != c.want && !(math.IsNaN(got) && math.IsNaN(c.want)) {
				t.Errorf("the sum of %d numbers from %v on is %v, want %v", len(c.x), c.x[:1], got, c.want)
			}
		}
	})
}
