package memory

import (
	"math"
	"testing"

	"quern.dev/gpu"
	"quern.dev/internal/devicetest"
	"quern.dev/kernel"
)

// sameBits compares values so that NaNs are equal and zeros of two signs are not.
func sameBits[T kernel.Number](x, y T) bool {
	return x == y && math.Signbit(float64(x)) == math.Signbit(float64(y)) || x != x && y != y
}

func checkBits[T kernel.Number](t *testing.T, what string, got, want []T) {
	t.Helper()
	for i := range want {
		if !sameBits(got[i], want[i]) {
			t.Errorf("%s %d is %v, want %v", what, i, got[i], want[i])
			return
		}
	}
}

type operation[T kernel.Number] struct {
	each   func(t kernel.Thread, x []T, cells, old []T)
	launch func(s *gpu.Stream, g gpu.Grid, x, cells, old *gpu.Buffer[T]) error
	cells  int // of a thread
}

// compare runs operations of each value on each start value.
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
	c, old := devicetest.Upload(t, d, cells), devicetest.Upload(t, d, make([]T, len(cells)))
	launched(t, o.launch(d.DefaultStream(), line(blocks, 32), devicetest.Upload(t, d, x), c, old))
	checkBits(t, "old value", devicetest.Download(t, d, old), wantOld)
	checkBits(t, "cell", devicetest.Download(t, d, c), wantCells)
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
	devicetest.Each(t, func(t *testing.T, d *gpu.Device) {
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

func TestAtomicOperationsOfEachScope(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d *gpu.Device) {
		x := numbers[float32](1000)
		wantSums, wantExtremes := make([]uint32, 10), []float32{1e9, -1e9}
		each(8, 128, func(th kernel.Thread) { scopes(th, x, wantSums, wantExtremes) })
		sums, extremes := devicetest.Upload(t, d, make([]uint32, 10)), devicetest.Upload(t, d, []float32{1e9, -1e9})
		launched(t, LaunchScopes(d.DefaultStream(), line(8, 128), devicetest.Upload(t, d, x), sums, extremes))
		check(t, devicetest.Download(t, d, sums), wantSums)
		check(t, devicetest.Download(t, d, extremes), wantExtremes)

		words := numbers[uint32](5000)
		want := make([]uint32, 50)
		for _, w := range words {
			want[w%50]++
		}
		out := devicetest.Upload(t, d, make([]uint32, 50))
		launched(t, LaunchHistogram(d.DefaultStream(), line(4, 64).Shared(200), devicetest.Upload(t, d, words), out))
		check(t, devicetest.Download(t, d, out), want)
	})
}
