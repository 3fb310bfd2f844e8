package memory

import (
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func halves[T comparable](t *testing.T, d *gpu.Device, of func(float64) T, body func(th kernel.Thread, x, cells, old, sums []T), launch func(s *gpu.Stream, g gpu.Grid, x, cells, old, sums *gpu.Buffer[T]) error) {
	const n = 150
	x, cells := make([]T, n), make([]T, n)
	for i := range x {
		x[i] = of(float64(i)*1.37 - 60)
		cells[i] = of(3000 / float64(i+1))
	}
	wantCells, wantOld, wantSums := append([]T{}, cells...), make([]T, n), make([]T, 10)
	each(3, 64, func(th kernel.Thread) { body(th, x, wantCells, wantOld, wantSums) })
	c, old, sums := gputest.Upload(t, d, cells), gputest.Upload(t, d, make([]T, n)), gputest.Upload(t, d, make([]T, 10))
	launched(t, launch(d.DefaultStream(), line(3, 64), gputest.Upload(t, d, x), c, old, sums))
	gputest.Equal(t, gputest.Download(t, d, c), wantCells)
	gputest.Equal(t, gputest.Download(t, d, old), wantOld)
	gputest.Equal(t, gputest.Download(t, d, sums), wantSums)
}

func TestAtomicAdditionOf16BitFloats(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		halves(t, d, kernel.ToFloat16[float64], addFloat16, LaunchAddFloat16)
		halves(t, d, kernel.ToBFloat16[float64], addBFloat16, LaunchAddBFloat16)
		older := func(k *gpu.Kernel) func(*gpu.Stream, gpu.Grid, ...any) error {
			return olderKernel(t, k).Launch
		}
		halves(t, d, kernel.ToFloat16[float64], addFloat16, func(s *gpu.Stream, g gpu.Grid, x, cells, old, sums *gpu.Buffer[kernel.Float16]) error {
			return older(quernAddFloat16)(s, g, x, cells, old, sums)
		})
		halves(t, d, kernel.ToBFloat16[float64], addBFloat16, func(s *gpu.Stream, g gpu.Grid, x, cells, old, sums *gpu.Buffer[kernel.BFloat16]) error {
			return older(quernAddBFloat16)(s, g, x, cells, old, sums)
		})
	})
}
