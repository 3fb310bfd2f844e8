package random

import (
	"quern.dev/gpu"
	"quern.dev/kernel"
)

// Exponential32 returns a number from the exponential distribution with mean 1. It
// is at least 2^-33 and at most 22.9, and within 3 ULP of the exact function of the
// random bits.
func (s Source) Exponential32(i uint64) float32 { return exponential32(s.Uint32(i)) }

// Exponential64 returns a number from the exponential distribution with mean 1. It
// is at least 2^-65 and at most 45.1, and within 4 ULP of the exact function of the
// random bits.
func (s Source) Exponential64(i uint64) float64 { return exponential64(s.Uint64(i)) }

//quern:kernel specialise=shift:0
func fillExponential32(t kernel.Thread, src Source, shift int, mean float32, dst []float32) {
	if i := t.Global(); 4*i-shift < len(dst) {
		w := src.words32(t)
		store4(dst, i, shift, [4]float32{
			mean * exponential32(w[0]), mean * exponential32(w[1]),
			mean * exponential32(w[2]), mean * exponential32(w[3]),
		})
	}
}

//quern:kernel specialise=shift:0
func fillExponential64(t kernel.Thread, src Source, shift int, mean float64, dst []float64) {
	if i := t.Global(); 2*i-shift < len(dst) {
		a, b := src.words64(t)
		store2(dst, i, shift, mean*exponential64(a), mean*exponential64(b))
	}
}

// Exponential fills dst with numbers from the exponential distribution. Element i
// is mean*e, where e is src.Exponential32(i) or src.Exponential64(i).
func Exponential[T Float](s *gpu.Stream, src Source, dst *gpu.Buffer[T], mean T) error {
	const op = "Exponential"
	if err := check(op, s, src, dst); err != nil {
		return err
	}
	if !positive(mean) {
		return invalid(op, "mean", "is %v; it must be positive and finite", mean)
	}
	if dst.Len() == 0 {
		return nil
	}
	if d, ok := any(dst).(*gpu.Buffer[float32]); ok {
		g, shift := src.grid32(d.Len())
		return failed(op, LaunchFillExponential32(s, g, src, shift, float32(mean), d))
	}
	d := any(dst).(*gpu.Buffer[float64])
	g, shift := src.grid64(d.Len())
	return failed(op, LaunchFillExponential64(s, g, src, shift, float64(mean), d))
}
