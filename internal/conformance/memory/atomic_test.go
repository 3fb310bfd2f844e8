package memory

import (
	"math"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// checkBits compares results bit for bit, except that all NaNs are equal. Zeros of
// different sign differ.
func checkBits[T kernel.Number](t *testing.T, what string, got, want []T) {
	t.Helper()
	gputest.Equal(t, got, want, gputest.Bits, gputest.NaNEqual, gputest.Name(what))
}

type operation[T kernel.Number] struct {
	each   func(t kernel.Thread, x []T, cells, old []T)
	launch func(s *gpu.Stream, g gpu.Grid, x, cells, old *gpu.Buffer[T]) error
	cells  int // per thread
}

// compare applies the operations with each value to each start value.
func (o operation[T]) compare(t *testing.T, d *gpu.Device, values []T) {
	var x, cells []T
	for i, v := range values {
		x = append(x, v)
		for j := range o.cells {
			cells = append(cells, values[(i*7+j*5+3)%len(values)])
		}
	}
	blocks := (len(x) + 31) / 32
	wantCells, wantOld := append([]T{}, cells...), make([]T, len(cells))
	each(blocks, 32, func(th kernel.Thread) { o.each(th, x, wantCells, wantOld) })
	c, old := gputest.Upload(t, d, cells), gputest.Upload(t, d, make([]T, len(cells)))
	launched(t, o.launch(d.DefaultStream(), line(blocks, 32), gputest.Upload(t, d, x), c, old))
	checkBits(t, "old value", gputest.Download(t, d, old), wantOld)
	checkBits(t, "cell", gputest.Download(t, d, c), wantCells)
}

func integers[T kernel.AtomicInteger]() []T {
	var list []T
	for _, v := range []int64{0, 1, 2, -1, 77, -78, 1 << 20, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64, 12345678901} {
		list = append(list, T(v), T(v)+1, T(v)*3)
	}
	return list
}

func floats[T kernel.Float]() []T {
	inf := T(math.Inf(1))
	list := []T{0, T(math.Copysign(0, -1)), 1, -1, 1.5, -2.25, 1e-30, -1e-30, 1e30, -1e30, inf, -inf, T(math.NaN()), 3, -7}
	for i := range 20 {
		list = append(list, T(i)-9.5)
	}
	return list
}

func TestAtomicOperations(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		operation[int32]{operations[int32], LaunchOperations[int32], 11}.compare(t, d, integers[int32]())
		operation[uint32]{operations[uint32], LaunchOperations[uint32], 11}.compare(t, d, integers[uint32]())
		operation[int64]{operations[int64], LaunchOperations[int64], 11}.compare(t, d, integers[int64]())
		operation[uint64]{operations[uint64], LaunchOperations[uint64], 11}.compare(t, d, integers[uint64]())
		operation[int]{operations[int], LaunchOperations[int], 11}.compare(t, d, integers[int]())
		operation[uint]{operations[uint], LaunchOperations[uint], 11}.compare(t, d, integers[uint]())
		operation[float32]{floatOperations[float32], LaunchFloatOperations[float32], 8}.compare(t, d, floats[float32]())
		operation[float64]{floatOperations[float64], LaunchFloatOperations[float64], 8}.compare(t, d, floats[float64]())
	})
}

func TestAtomicScopes(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		x := numbers[float32](1000)
		wantSums, wantExtremes := make([]uint32, 10), []float32{1e9, -1e9}
		each(8, 128, func(th kernel.Thread) { scopes(th, x, wantSums, wantExtremes) })
		sums, extremes := gputest.Upload(t, d, make([]uint32, 10)), gputest.Upload(t, d, []float32{1e9, -1e9})
		launched(t, LaunchScopes(d.DefaultStream(), line(8, 128), gputest.Upload(t, d, x), sums, extremes))
		gputest.Equal(t, gputest.Download(t, d, sums), wantSums)
		gputest.Equal(t, gputest.Download(t, d, extremes), wantExtremes)

		words := numbers[uint32](5000)
		want := make([]uint32, 50)
		for _, w := range words {
			want[w%50]++
		}
		out := gputest.Upload(t, d, make([]uint32, 50))
		launched(t, LaunchHistogram(d.DefaultStream(), line(4, 64).Shared(200), gputest.Upload(t, d, words), out))
		gputest.Equal(t, gputest.Download(t, d, out), want)
	})
}
