package algo

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestBounds(t *testing.T) {
	each(t, func(t *testing.T, d *gpu.Device, s *gpu.Stream) {
		for _, n := range []int{0, 1, 2, 3, 1000} {
			for name, x := range inputs[float32](n) {
				slices.SortStableFunc(x, ascending)
				values := append(specials[float32](), 3, 3.5, 7, 1e30)
				for range 50 {
					values = append(values, float32(rand.IntN(n+2)))
				}
				lower, upper := make([]int, len(values)), make([]int, len(values))
				for i, v := range values {
					lower[i] = sort.Search(n, func(j int) bool { return ascending(x[j], v) >= 0 })
					upper[i] = sort.Search(n, func(j int) bool { return ascending(x[j], v) > 0 })
				}
				in, at := gputest.Upload(t, d, x), gputest.Upload(t, d, make([]int, len(values)))
				of := gputest.Upload(t, d, values)
				if err := LowerBound(s, Ascending[float32](), at, in, of); err != nil {
					t.Fatal(err)
				}
				gputest.Equal(t, gputest.Download(t, d, at), lower, gputest.Name(fmt.Sprintf("lower %d %s", n, name)))
				if err := UpperBound(s, Ascending[float32](), at, in, of); err != nil {
					t.Fatal(err)
				}
				gputest.Equal(t, gputest.Download(t, d, at), upper, gputest.Name(fmt.Sprintf("upper %d %s", n, name)))
			}
		}
	})
}

func TestIsSorted(t *testing.T) {
	each(t, func(t *testing.T, d *gpu.Device, s *gpu.Stream) {
		for _, n := range []int{0, 1, 2, 3, 1000} {
			for name, x := range inputs[float64](n) {
				want := uint32(0)
				if slices.IsSortedFunc(x, descendingOrder) {
					want = 1
				}
				dst := gputest.Upload(t, d, []uint32{99})
				if err := IsSorted(s, Descending[float64](), dst, gputest.Upload(t, d, x)); err != nil {
					t.Fatal(err)
				}
				gputest.Equal(t, gputest.Download(t, d, dst), []uint32{want}, gputest.Name(fmt.Sprintf("%d %s", n, name)))
			}
		}
	})
}

// extremesOfSlice returns what ArgMin and ArgMax find in the order of compare.
func extremesOfSlice[T Number](x []T, compare func(a, b T) int) (lo, hi int) {
	for i, v := range x {
		if v != v {
			return i, i
		}
		if compare(v, x[lo]) < 0 {
			lo = i
		}
		if compare(v, x[hi]) > 0 {
			hi = i
		}
	}
	return lo, hi
}

func TestExtremes(t *testing.T) {
	each(t, func(t *testing.T, d *gpu.Device, s *gpu.Stream) {
		for _, n := range []int{1, 2, 3, 255, 256, 257, smallest, smallest + 1, 2*smallest + 7} {
			extremesOf(t, d, s, n, Ascending[float32](), ascending)
			if n < 300 {
				extremesOf(t, d, s, n, Ascending[float64](), ascending)
				extremesOf(t, d, s, n, Descending[float32](), descendingOrder)
				extremesOf(t, d, s, n, Descending[int32](), descendingOrder)
				extremesOf(t, d, s, n, Ascending[uint64](), ascending)
			}
		}
	})
}

func extremesOf[T Number](t *testing.T, d *gpu.Device, s *gpu.Stream, n int, order Less[T], compare func(a, b T) int) {
	t.Helper()
	all := inputs[T](n)
	if T(1)/2 != 0 {
		for name, at := range map[string]int{"NaN first": 0, "NaN last": n - 1, "NaN somewhere": rand.IntN(n)} {
			x := random[T](n, 1000)
			x[at], x[n-1] = T(math.NaN()), T(math.NaN())
			all[name] = x
		}
	}
	for name, x := range fewer(d, n, all) {
		lo, hi := extremesOfSlice(x, compare)
		in, at := gputest.Upload(t, d, x), gputest.Upload(t, d, []int{-1})
		both := gputest.Upload(t, d, []T{99, 98})
		title := fmt.Sprintf("%T %d %s ", x, n, name)
		if err := ArgMin(s, order, at, in); err != nil {
			t.Fatal(err)
		}
		gputest.Equal(t, gputest.Download(t, d, at), []int{lo}, gputest.Name(title+"ArgMin"))
		if err := ArgMax(s, order, at, in); err != nil {
			t.Fatal(err)
		}
		gputest.Equal(t, gputest.Download(t, d, at), []int{hi}, gputest.Name(title+"ArgMax"))
		if err := MinMax(s, order, both, in); err != nil {
			t.Fatal(err)
		}
		gputest.Equal(t, gputest.Download(t, d, both), []T{x[lo], x[hi]}, gputest.NaNEqual, gputest.Name(title+"MinMax"))
	}
}
