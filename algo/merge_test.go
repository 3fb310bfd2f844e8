package algo

import (
	"fmt"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestMerge(t *testing.T) {
	each(t, func(t *testing.T, d *gpu.Device, s *gpu.Stream) {
		for _, n := range sortLengths(d) {
			for _, m := range []int{0, 1, n / 3, mergeTile[float32]() + 5} {
				a, b := fewer(d, n+m, inputs[float32](n)), inputs[float32](m)
				for name, x := range a {
					y := b[name]
					slices.SortStableFunc(x, ascending)
					slices.SortStableFunc(y, ascending)
					want := append(slices.Clone(x), y...)
					slices.SortStableFunc(want, ascending)
					dst := gputest.Upload(t, d, make([]float32, n+m))
					if err := Merge(s, Ascending[float32](), dst, gputest.Upload(t, d, x), gputest.Upload(t, d, y)); err != nil {
						t.Fatal(err)
					}
					if !gputest.Equal(t, gputest.Download(t, d, dst), want, gputest.Bits, gputest.Name(fmt.Sprintf("%d and %d %s", n, m, name))) {
						return
					}
				}
			}
		}
	})
}

func TestMergePairsMovesValuesOfAnyType(t *testing.T) {
	each(t, func(t *testing.T, d *gpu.Device, s *gpu.Stream) {
		lengths := sortLengths(d)
		for _, n := range lengths {
			for _, m := range []int{0, 1, n / 3, mergeTile[float32]() + 5} {
				mergePairs(t, d, s, n, m, func(i int) int32 { return int32(i) })
			}
		}
		n := lengths[len(lengths)-1]
		mergePairs(t, d, s, n, n/2, func(i int) uint8 { return uint8(i) })
		mergePairs(t, d, s, n, n/2, func(i int) [3]uint16 { return [3]uint16{uint16(i), uint16(i >> 16)} })
		mergePairs(t, d, s, 0, n, func(i int) float64 { return float64(i) })
		mergePairs(t, d, s, n, n/2, func(i int) [2]float64 { return [2]float64{float64(i), -float64(i)} })
	})
}

// mergePairs merges n and m keys in descending order. Values are numbered, those of the second list
// from n on, so that they show whether equal keys keep their order.
func mergePairs[V comparable](t *testing.T, d *gpu.Device, s *gpu.Stream, n, m int, value func(i int) V) {
	t.Helper()
	for name, x := range fewer(d, n+m, inputs[float32](n)) {
		y := inputs[float32](m)[name]
		slices.SortStableFunc(x, descendingOrder)
		slices.SortStableFunc(y, descendingOrder)
		all, from := append(slices.Clone(x), y...), make([]int, n+m)
		values := make([]V, n+m)
		for i := range from {
			from[i], values[i] = i, value(i)
		}
		slices.SortStableFunc(from, func(i, j int) int { return descendingOrder(all[i], all[j]) })
		want, wantValues := make([]float32, n+m), make([]V, n+m)
		for i, j := range from {
			want[i], wantValues[i] = all[j], values[j]
		}
		dst, dstValues := gputest.Alloc[float32](t, d, n+m), gputest.Alloc[V](t, d, n+m)
		err := MergePairs(s, Descending[float32](), dst, dstValues, gputest.Upload(t, d, x), gputest.Upload(t, d, values[:n]), gputest.Upload(t, d, y), gputest.Upload(t, d, values[n:]))
		if err != nil {
			t.Fatal(err)
		}
		title := fmt.Sprintf("%d and %d %s", n, m, name)
		if !gputest.Equal(t, gputest.Download(t, d, dst), want, gputest.Bits, gputest.Name(title+" keys")) {
			return
		}
		if got := gputest.Download(t, d, dstValues); !slices.Equal(got, wantValues) {
			t.Fatalf("%s values of type %T: %v, want %v", title, values, got[:min(n+m, 20)], wantValues[:min(n+m, 20)])
		}
	}
}
