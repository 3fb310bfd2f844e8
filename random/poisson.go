package random

import (
	"math"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

// poisson is a Poisson distribution, prepared for drawing. Means below smallMean
// use inversion, larger ones transformed rejection (Hörmann, "The transformed
// rejection method for generating Poisson random variables", 1993, algorithm PTRS).
type poisson struct {
	Mean           float64
	Zero           float64 // probability of 0, for inversion
	A, B, Vr, LogA float64 // of PTRS; LogA is the logarithm of its 1/alpha
}

const (
	smallMean   = 10
	mostInverse = 128 // P(more) is below 1e-80 for means up to smallMean
)

func newPoisson(mean float64) poisson {
	p := poisson{Mean: mean}
	if mean < smallMean {
		p.Zero = exp64(-mean)
		return p
	}
	p.B = 0.931 + float64(2.53*math.Sqrt(mean))
	p.A = -0.059 + float64(0.02483*p.B)
	p.Vr = 0.9277 - 3.6224/(p.B-2)
	p.LogA = log64(1.1239 + 1.1328/(p.B-3.4))
	return p
}

// draw returns the number of an index, counted from the start of the stream.
func (p poisson) draw(src Source, i uint64) float64 {
	if p.Mean < smallMean {
		w, u := src.group64(i/2, 0)
		if i&1 == 0 {
			u = w
		}
		return p.invert(open64(u))
	}
	for part := uint32(0); part < 1<<16; part++ {
		a, b := src.group64(i, part)
		u, v := open64(a)-0.5, open64(b)
		us := 0.5 - math.Abs(u)
		k := math.Floor((float64((2*p.A/us+p.B)*u) + p.Mean) + 0.43)
		if us >= 0.07 && v <= p.Vr {
			return k
		}
		if k < 0 || us < 0.013 && v > us {
			continue
		}
		if (log64(v)+p.LogA)-log64(p.A/float64(us*us)+p.B) <= p.log(k) {
			return k
		}
	}
	return math.Floor(p.Mean) // after 2^16 rejections
}

// invert returns the smallest k with a cumulative probability of at least u.
func (p poisson) invert(u float64) float64 {
	k, term, sum := 0.0, p.Zero, p.Zero
	for u > sum && k < mostInverse {
		k++
		term *= p.Mean / k
		sum += term
	}
	return k
}

// log returns the logarithm of the probability of k, without cancellation for large
// means (Loader, "Fast and accurate computation of binomial probabilities", 2000).
func (p poisson) log(k float64) float64 {
	if k == 0 {
		return -p.Mean
	}
	return -stirling(k) - deviance(k, p.Mean) - 0.5*(log64(k)+log2Pi)
}

const log2Pi = 1.8378770664093454836 // log(2*π)

// stirlings has the error of Stirling's formula for log(k!).
var stirlings = [16]float64{
	0, 0.08106146679532725822, 0.041340695955409294094, 0.027677925684998339149,
	0.020790672103765093112, 0.016644691189821192163, 0.013876128823070747999, 0.011896709945891770095,
	0.010411265261972096497, 0.0092554621827127329177, 0.0083305634333628712565, 0.007573675487951840795,
	0.0069428401072095298657, 0.0064089941880042070684, 0.0059513701127588477356, 0.005554733551962801371,
}

// stirling returns log(k!) - log(sqrt(2*π*k)) - k*log(k) + k.
func stirling(k float64) float64 {
	if k < 16 {
		return stirlings[int(k)&15]
	}
	r := 1 / k
	r2 := float64(r * r)
	s := 1.0/1260 - float64(r2*(1.0/1680))
	s = 1.0/360 - float64(r2*s)
	return float64(r * (1.0/12 - float64(r2*s)))
}

// deviance returns k*log(k/mean) + mean - k.
func deviance(k, mean float64) float64 {
	d := k - mean
	if math.Abs(d) >= 0.1*(k+mean) {
		return float64(k*log64(k/mean)) - d
	}
	v := d / (k + mean)
	sum := float64(d * v)
	term := 2 * float64(k*v)
	v2 := float64(v * v)
	for n := 3.0; n < 64; n += 2 {
		term *= v2
		next := sum + term/n
		if next == sum {
			break
		}
		sum = next
	}
	return sum
}

// Poisson returns a number from the Poisson distribution with the given mean, which
// is positive and at most 1e15.
func (s Source) Poisson(i uint64, mean float64) int64 {
	return int64(newPoisson(mean).draw(s, i+s.Offset))
}

//quern:kernel instantiate=int32,int64
func fillPoisson[T int32 | int64](t kernel.Thread, src Source, p poisson, dst []T) {
	if i := t.Global(); i < len(dst) {
		dst[i] = T(p.draw(src, src.Offset+uint64(i)))
	}
}

// Poisson fills dst with numbers from the Poisson distribution. Element i is
// src.Poisson(i, mean). The mean is at most 1e15, and 2e9 for int32.
func Poisson[T int32 | int64](s *gpu.Stream, src Source, dst *gpu.Buffer[T], mean float64) error {
	const op = "Poisson"
	if err := check(op, s, src, dst); err != nil {
		return err
	}
	most := 1e15
	if _, ok := any(dst).(*gpu.Buffer[int32]); ok {
		most = 2e9
	}
	if !(mean > 0 && mean <= most) {
		return invalid(op, "mean", "is %v; it must be positive and at most %g", mean, most)
	}
	if dst.Len() == 0 {
		return nil
	}
	return failed(op, LaunchFillPoisson(s, gpu.Linear(dst.Len()), src, newPoisson(mean), dst))
}
