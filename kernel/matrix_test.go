package kernel_test

import (
	"strings"
	"testing"

	"quern.dev/kernel"
)

func TestMatrixMisusePanics(t *testing.T) {
	whole, partial := kernel.Dim3{X: 32}, kernel.Dim3{X: 40}
	for _, test := range []struct {
		name  string
		block kernel.Dim3
		body  func(t kernel.Thread)
		want  string
	}{
		{"factors of types that do not match", whole, func(t kernel.Thread) {
			kernel.MMA(t, kernel.MatrixA[kernel.Float16]{}, kernel.MatrixB[kernel.BFloat16]{}, kernel.Accumulator[float32]{})
		}, "types do not match"},
		{"a factor of floats and one of integers", whole, func(t kernel.Thread) {
			kernel.MMA(t, kernel.MatrixA[float32]{}, kernel.MatrixB[int8]{}, kernel.Accumulator[float32]{})
		}, "types do not match"},
		{"a sum of the wrong type", whole, func(t kernel.Thread) {
			kernel.MMA(t, kernel.MatrixA[int8]{}, kernel.MatrixB[int8]{}, kernel.Accumulator[float32]{})
		}, "types do not match"},
		{"a warp of fewer than 32 threads", partial, func(t kernel.Thread) {
			kernel.MMA(t, kernel.MatrixA[int8]{}, kernel.MatrixB[uint8]{}, kernel.Accumulator[int32]{})
		}, "MMA: the warp has fewer than 32 threads"},
		{"lines of another type", whole, func(t kernel.Thread) {
			kernel.LoadMatrixA[kernel.Float16](t, &[4]float32{})
		}, "LoadMatrixA: the element type is kernel.Float16, but the line type is [4]float32"},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer func() {
				if e, ok := recover().(*kernel.ThreadError); !ok || !strings.Contains(e.Error(), test.want) {
					t.Errorf("panics with %v, want %q", e, test.want)
				}
			}()
			kernel.Each(kernel.Dim3{X: 1}, test.block, test.body)
		})
	}
}

func TestAccumulatorElementsCoverTheMatrix(t *testing.T) {
	var count [16][8]int
	kernel.Each(kernel.Dim3{X: 1}, kernel.Dim3{X: 32}, func(t kernel.Thread) {
		var c kernel.Accumulator[float32]
		for i := range c {
			count[c.Row(t, i)][c.Column(t, i)]++
		}
	})
	for row := range count {
		for column, n := range count[row] {
			if n != 1 {
				t.Errorf("%d elements are of row %d, column %d", n, row, column)
			}
		}
	}
}
