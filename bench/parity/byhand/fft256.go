package byhand

import (
	"quern.dev/bench/parity/kernels"
	"quern.dev/kernel"
)

// FFT256 transforms every kernels.RowSize points in four passes of radix 4 (Stockham).
func FFT256(twiddles, in, out []kernel.Vec2[float32]) {
	const n = kernels.RowSize
	parallel(len(in)/n, func(lo, hi int) {
		var a, b, w [n]complex64
		for i, t := range twiddles {
			w[i] = complex(t.X, t.Y)
		}
		for k := lo; k < hi; k++ {
			for i, v := range in[k*n:][:n] {
				a[i] = complex(v.X, v.Y)
			}
			pass4(&a, &b, &w, 1)
			pass4(&b, &a, &w, 4)
			pass4(&a, &b, &w, 16)
			pass4(&b, &a, &w, 64)
			for i, v := range a {
				out[k*n+i] = kernel.V2(real(v), imag(v))
			}
		}
	})
}

// pass4 computes transforms of 4*done points from those of done points.
func pass4(from, to, w *[kernels.RowSize]complex64, done int) {
	const quarter = kernels.RowSize / 4
	for j := range quarter {
		k := j % done
		v0, v1, v2, v3 := from[j], from[j+quarter], from[j+2*quarter], from[j+3*quarter]
		if k > 0 {
			t := k * (quarter / done)
			v1 *= w[t]
			v2 *= w[2*t]
			v3 *= w[3*t]
		}
		a, b, c, d := v0+v2, v0-v2, v1+v3, v1-v3
		d = complex(imag(d), -real(d))
		first := (j-k)*4 + k
		to[first], to[first+done], to[first+2*done], to[first+3*done] = a+c, b+d, a-c, b-d
	}
}
