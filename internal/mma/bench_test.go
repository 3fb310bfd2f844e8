package mma

import "testing"

func BenchmarkMultiply(b *testing.B) {
	for _, f := range []Format{Float16, BFloat16, TF32, Int8} {
		b.Run([]string{"float16", "bfloat16", "tf32", "int8"}[f], func(b *testing.B) {
			var x A
			var y B
			var c C[float32]
			var d C[int32]
			for lane := range Lanes {
				for i := range x[lane] {
					x[lane][i] = 0x3c003c00
				}
			}
			for b.Loop() {
				if f >= Int8 {
					Multiply(f, f, &x, &y, &d)
				} else {
					Multiply(f, f, &x, &y, &c)
				}
			}
		})
	}
}
