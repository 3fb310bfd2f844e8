package algo

import (
	"errors"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestAxis(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		shapes := []Axis{{1, 1, 1}, {3, 5, 1}, {7, 33, 1}, {1, 5000, 1}, {100, 64, 1}, {2, 300, 1}, {1, 7, 5}, {4, 3, 1000}, {2, 1000, 3}, {5, 1, 7}, {0, 4, 2}, {1000, 2, 2}, {1, 5000, 4}, {3, 300, 8}, {2, 130, 12}}
		for _, a := range shapes {
			n := a.Outer * a.N * a.Inner
			x := random[int64](n, 1<<40)
			sums, scan, before := make([]int64, a.Outer*a.Inner), make([]int64, n), make([]int64, n)
			for o := range a.Outer {
				for i := range a.Inner {
					sum := int64(0)
					for k := range a.N {
						at := (o*a.N+k)*a.Inner + i
						before[at] = sum + 5
						sum += x[at]
						scan[at] = sum
					}
					sums[o*a.Inner+i] = sum
				}
			}
			in, out, all := gputest.Upload(t, d, x), gputest.Alloc[int64](t, d, len(sums)), gputest.Alloc[int64](t, d, n)
			check := func(what string, err error, got *gpu.Buffer[int64], want []int64) {
				t.Helper()
				if err != nil {
					t.Fatal(a, what, err)
				}
				if !gputest.Equal(t, gputest.Download(t, d, got), want, gputest.Name(what)) {
					t.Fatal(a)
				}
			}
			check("reduce", ReduceAxis(s, Sum[int64](), a, out, in), out, sums)
			check("scan", ScanAxis(s, Sum[int64](), a, all, in), all, scan)
			check("exclusive", ScanExclusiveAxis(s, Sum[int64](), a, 5, all, in), all, before)
		}
		if _, err := AxisOf(0, 1, 1<<62, 4); !errors.Is(err, gpu.ErrInvalid) {
			t.Error("the extents behind the axis overflow:", err)
		}
		if a, err := AxisOf(0, 5, 0, 1<<62, 1<<62); err != nil || a != (Axis{1, 5, 0}) {
			t.Error("an array without elements:", a, err)
		}
		if _, err := AxisOf(2, 3, 4); err == nil {
			t.Error("an axis that does not exist")
		}
		if a, err := AxisOf(-2, 3, 4, 5, 6); err != nil || a != (Axis{12, 5, 6}) {
			t.Error(a, err)
		}
		if err := ReduceAxis(s, Sum[int64](), Axis{2, 3, 4}, gputest.Alloc[int64](t, d, 8), gputest.Alloc[int64](t, d, 23)); err == nil || err.Error() != "algo: ReduceAxis: src: 23 elements, but 2x[3]x4 are 24" {
			t.Error(err)
		}
	})
}

func TestReduceSegments(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, longest := range []int{1, 5, 40, 1000} {
			ends := []int32{0}
			for range 100 {
				ends = append(ends, ends[len(ends)-1]+int32(rand.IntN(longest+1)))
			}
			x := random[float64](int(ends[len(ends)-1]), 100)
			want := make([]float64, len(ends)-1)
			for i := range want {
				want[i] = -1
				for k := ends[i]; k < ends[i+1]; k++ {
					want[i] = max(want[i], x[k])
				}
			}
			out := gputest.Alloc[float64](t, d, len(want))
			if err := ReduceSegments(d.DefaultStream(), Max[float64](), -1, out, gputest.Upload(t, d, x), gputest.Upload(t, d, ends)); err != nil {
				t.Fatal(err)
			}
			gputest.Equal(t, gputest.Download(t, d, out), want)
		}
	})
}
