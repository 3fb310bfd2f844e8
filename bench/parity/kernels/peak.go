package kernels

import "quern.dev/kernel"

// MultiplyAdds is the number of fused multiply-adds per round of multiplyAdd.
const MultiplyAdds = 8 * unrolled

// unrolled is the number of steps of each chain per round.
const unrolled = 16

// multiplyAdd executes only fused multiply-adds in independent chains, which is the peak
// rate of the device.
//
//quern:kernel block=256 unchecked
func multiplyAdd(t kernel.Thread, rounds int, f float32, sums []float32) {
	start := float32(t.ThreadIdx.X)
	a, b, c, d, e, g, h, i := start, start+1, start+2, start+3, start+4, start+5, start+6, start+7
	for range rounds {
		for range unrolled {
			a = kernel.FMA(a, f, 1)
			b = kernel.FMA(b, f, 1)
			c = kernel.FMA(c, f, 1)
			d = kernel.FMA(d, f, 1)
			e = kernel.FMA(e, f, 1)
			g = kernel.FMA(g, f, 1)
			h = kernel.FMA(h, f, 1)
			i = kernel.FMA(i, f, 1)
		}
	}
	sums[t.Global()] = a + b + c + d + e + g + h + i
}
