// Package drawing has a kernel that draws from every distribution of package random, as
// kernels of programs do. Only its tests use it.
package drawing

import (
	"quern.dev/kernel"
	"quern.dev/random"
)

// draw stores eight floats and eight integers for each thread.
//
//quern:kernel
func draw(t kernel.Thread, src random.Source, b random.Bijection, floats []float64, integers []uint64) {
	if i := t.Global(); i < len(floats)/8 && i < len(integers)/8 {
		k := uint64(i)
		floats[8*i] = float64(src.Float32(k))
		floats[8*i+1] = src.Float64(k)
		floats[8*i+2] = float64(src.Normal32(k))
		floats[8*i+3] = src.Normal64(k)
		floats[8*i+4] = float64(src.Exponential32(k))
		floats[8*i+5] = src.Exponential64(k)
		floats[8*i+6] = src.Gamma(k, 0.3)
		floats[8*i+7] = src.Beta(k, 2, 3)
		integers[8*i] = uint64(src.Uint32(k))
		integers[8*i+1] = src.Uint64(k)
		integers[8*i+2] = uint64(src.Uint32N(k, 10))
		integers[8*i+3] = src.Uint64N(k, 1<<63+1)
		integers[8*i+4] = uint64(src.Poisson(k, 3))
		integers[8*i+5] = uint64(src.Poisson(k, 300))
		integers[8*i+6] = b.At(k)
		integers[8*i+7] = src.At(5).Bijection(77).At(k)
		if src.Bernoulli(k, 0.25) {
			integers[8*i] = 1
		}
	}
}
