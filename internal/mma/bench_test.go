package mma

import "testing"

func BenchmarkMultiply(b *testing.B) {
	for _, f := range []Format{Float16, BFloat16, TF32, Float64, Int8} {
		b.Run([]string{"float16", "bfloat16", "tf32", "float64", "int8"}[f], func(b *testing.B) {
			var x A
			var y B
			var c C[float32]
			var d C[int32]
			var e C[float64]
			for lane := range Lanes {
				for i := range x[lane] {
					x[lane][i] = 0x3c003c00
				}
			}
			for b.Loop() {
				switch {
				case f >= Int8:
					Multiply(f, f, &x, &y, &d)
				case f == Float64:
					Multiply(f, f, &x, &y, &e)
				default:
					Multiply(f, f, &x, &y, &c)
				}
			}
		})
	}
}
