package algo

import (
	"math"
	"math/rand/v2"
	"sort"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestHistograms(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		for _, bins := range []int{1, 7, 256, 5000, 20000} {
			for _, n := range []int{0, 1, 1000, 30000} {
				counts := gputest.Alloc[uint32](t, d, bins)
				check := func(what string, err error, want []uint32) {
					t.Helper()
					if err != nil {
						t.Fatal(err)
					}
					if !gputest.Equal(t, gputest.Download(t, d, counts), want, gputest.Name(what)) {
						t.Fatalf("n=%d, bins=%d", n, bins)
					}
				}
				x := random[float32](n, 1)
				for i := range x {
					switch rand.IntN(20) {
					case 0:
						x[i] = []float32{-1, 0, 1, 2, float32(math.NaN()), float32(math.Inf(1))}[rand.IntN(6)]
					case 1:
						x[i] = 0.5
					}
				}
				low, high := float32(0.25), float32(1)
				want := make([]uint32, bins)
				scale := float32(bins) / (high - low)
				for _, v := range x {
					if v >= low && v <= high {
						want[min(int(float32(v-low)*scale), bins-1)]++
					}
				}
				in := gputest.Upload(t, d, x)
				check("even", HistogramEven(s, low, high, counts, in), want)

				edges := random[float32](bins+1, 1)
				sort.Slice(edges, func(i, j int) bool { return edges[i] < edges[j] })
				clear(want)
				for _, v := range x {
					if v >= edges[0] && v <= edges[bins] {
						at := sort.Search(bins, func(i int) bool { return edges[i+1] > v })
						want[min(at, bins-1)]++
					}
				}
				check("edges", HistogramEdges(s, gputest.Upload(t, d, edges), counts, in), want)

				v := make([]int32, n)
				clear(want)
				for i := range v {
					v[i] = rand.Int32N(int32(bins)+2) - 1
					if v[i] >= 0 && int(v[i]) < bins {
						want[v[i]]++
					}
				}
				check("values", HistogramValues(s, counts, gputest.Upload(t, d, v)), want)
			}
		}
	})
}

// TestElementsBesideTheRangeAreNotCounted has differences from low that are rounded to those of high.
func TestElementsBesideTheRangeAreNotCounted(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		const low, high = -1000, 1
		inf := float32(math.Inf(1))
		x := []float32{low, high, math.Nextafter32(high, inf), math.Nextafter32(low, -inf), inf, -inf, float32(math.NaN()), math.MaxFloat32}
		for _, bins := range []int{1, 127, 254, 20000} {
			counts := gputest.Alloc[uint32](t, d, bins)
			if err := HistogramEven(d.DefaultStream(), low, high, counts, gputest.Upload(t, d, x)); err != nil {
				t.Fatal(err)
			}
			total := uint32(0)
			for _, n := range gputest.Download(t, d, counts) {
				total += n
			}
			if total != 2 {
				t.Errorf("%d bins: %d elements are counted, want those at both edges", bins, total)
			}
		}
	})
}
