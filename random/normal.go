package random

import (
	"math"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

// normals32 maps two words to two independent numbers from the standard normal
// distribution (Box and Muller, 1958).
func normals32(u, v uint32) (x, y float32) {
	radius := kernel.Sqrt(2 * exponential32(u))
	sin, cos := sinCos32(v)
	return float32(radius * cos), float32(radius * sin)
}

func normals64(u, v uint64) (x, y float64) {
	radius := math.Sqrt(2 * exponential64(u))
	sin, cos := sinCos64(v)
	return float64(radius * cos), float64(radius * sin)
}

// Normal32 returns a number from the standard normal distribution. Its absolute
// value is at most 6.77, and it is within 4 ULP of the exact function of the random
// bits. Indices 2k and 2k+1 of the stream share the words 2k and 2k+1.
func (s Source) Normal32(i uint64) float32 {
	i += s.Offset
	w := s.group(i/4, 0)
	u, v := w[0], w[1]
	if i&2 != 0 {
		u, v = w[2], w[3]
	}
	x, y := normals32(u, v)
	if i&1 != 0 {
		return y
	}
	return x
}

// Normal64 returns a number from the standard normal distribution. Its absolute
// value is at most 9.5, and it is within 4 ULP of the exact function of the random
// bits.
func (s Source) Normal64(i uint64) float64 {
	i += s.Offset
	x, y := normals64(s.group64(i/2, 0))
	if i&1 != 0 {
		return y
	}
	return x
}

//quern:kernel specialise=shift:0
func fillNormal32(t kernel.Thread, src Source, shift int, mean, deviation float32, dst []float32) {
	if i := t.Global(); 4*i-shift < len(dst) {
		w := src.words32(t)
		a, b := normals32(w[0], w[1])
		c, d := normals32(w[2], w[3])
		store4(dst, i, shift, [4]float32{
			mean + float32(deviation*a), mean + float32(deviation*b),
			mean + float32(deviation*c), mean + float32(deviation*d),
		})
	}
}

//quern:kernel specialise=shift:0
func fillNormal64(t kernel.Thread, src Source, shift int, mean, deviation float64, dst []float64) {
	if i := t.Global(); 2*i-shift < len(dst) {
		x, y := normals64(src.words64(t))
		store2(dst, i, shift, mean+float64(deviation*x), mean+float64(deviation*y))
	}
}

// Normal fills dst with numbers from the normal distribution. Element i is
// mean + deviation*z, where z is src.Normal32(i) or src.Normal64(i).
func Normal[T Float](s *gpu.Stream, src Source, dst *gpu.Buffer[T], mean, deviation T) error {
	const op = "Normal"
	if err := check(op, s, src, dst); err != nil {
		return err
	}
	if !finite(mean) {
		return invalid(op, "mean", "is %v; it must be finite", mean)
	}
	if !finite(deviation) || deviation < 0 {
		return invalid(op, "deviation", "is %v; it must be finite and not negative", deviation)
	}
	if dst.Len() == 0 {
		return nil
	}
	if d, ok := any(dst).(*gpu.Buffer[float32]); ok {
		g, shift := src.grid32(d.Len())
		return failed(op, LaunchFillNormal32(s, g, src, shift, float32(mean), float32(deviation), d))
	}
	d := any(dst).(*gpu.Buffer[float64])
	g, shift := src.grid64(d.Len())
	return failed(op, LaunchFillNormal64(s, g, src, shift, float64(mean), float64(deviation), d))
}

func finite[T Float](x T) bool { return x-x == 0 }

// positive reports whether x is positive and finite.
func positive[T Float](x T) bool { return x > 0 && finite(x) }
