package generic

import (
	"fmt"
	"testing"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

func TestUnrolledLoopsMatchPlainGo(t *testing.T) {
	x := make([]int32, 100)
	for i := range x {
		x[i] = int32(i*37%211) - 50
	}
	for _, n := range []int32{-3, 0, 1, 2, 3, 4, 5, 7, 8, 13, 40} {
		t.Run(fmt.Sprintf("%d iterations", n), func(t *testing.T) {
			agree(t, dim(2), dim(64), x,
				func(th kernel.Thread, x []int32) { unrolled(th, n, x) },
				func(s *gpu.Stream, g gpu.Grid, x *gpu.Buffer[int32]) error { return LaunchUnrolled(s, g, n, x) })
		})
	}
	for _, n := range []int64{0, 1, 2, 3, 4, 5, 9, 100, 126} {
		t.Run(fmt.Sprintf("%d iterations at the edges", n), func(t *testing.T) {
			agree(t, dim(1), dim(8), make([]int64, 8),
				func(th kernel.Thread, x []int64) { atTheEdges(th, n, x) },
				func(s *gpu.Stream, g gpu.Grid, x *gpu.Buffer[int64]) error { return LaunchAtTheEdges(s, g, n, x) })
		})
	}
	for _, n := range []int{0, 1, 3, 4, 5, 30} {
		t.Run(fmt.Sprintf("a slice of %d", n), func(t *testing.T) {
			values := numbers[float32](n)
			agree(t, dim(1), dim(8), make([]float32, 7),
				func(th kernel.Thread, sums []float32) { reduced(th, values, sums) },
				func(s *gpu.Stream, g gpu.Grid, sums *gpu.Buffer[float32]) error {
					x, err := gpu.Upload(s, values)
					if err != nil {
						return err
					}
					defer x.Close()
					return LaunchReduced(s, g, x, sums)
				})
		})
	}
}
