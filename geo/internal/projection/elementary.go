package projection

import "math"

// fma is the fused multiply-add x*y + z, which is rounded once.
func fma(x, y, z float64) float64 { return math.FMA(x, y, z) }

const (
	halfPi = math.Pi / 2
	// halfPi and its rounding error.
	halfPiLow = 6.123233995736766e-17
	ln2Low    = 2.3190468138462996e-17
)

// 1/n!, by which Taylor's series are divided.
const (
	inverse2  = 1. / 2
	inverse3  = 1. / 6
	inverse4  = 1. / 24
	inverse5  = 1. / 120
	inverse6  = 1. / 720
	inverse7  = 1. / 5040
	inverse8  = 1. / 40320
	inverse9  = 1. / 362880
	inverse10 = 1. / 3628800
	inverse11 = 1. / 39916800
	inverse12 = 1. / 479001600
	inverse13 = 1. / 6227020800
	inverse14 = 1. / 87178291200
	inverse15 = 1. / 1307674368000
	inverse16 = 1. / 20922789888000
	inverse17 = 1. / 355687428096000
)

// sincos returns the sine and the cosine of x, for |x| < 1e5.
func sincos(x float64) (sin, cos float64) {
	n := math.RoundToEven(x * (2 / math.Pi))
	r := fma(-n, halfPiLow, fma(-n, halfPi, x))
	z := -float64(r * r)
	s := fma(fma(fma(fma(fma(fma(fma(inverse17, z, inverse15), z, inverse13), z, inverse11), z, inverse9), z, inverse7), z, inverse5), z, inverse3)
	c := fma(fma(fma(fma(fma(fma(fma(inverse16, z, inverse14), z, inverse12), z, inverse10), z, inverse8), z, inverse6), z, inverse4), z, inverse2)
	s, c = fma(float64(s*z), r, r), fma(c, z, 1)
	q := int(n) & 3
	if q&1 != 0 {
		s, c = c, s
	}
	if q&2 != 0 {
		s = -s
	}
	if (q+1)&2 != 0 {
		c = -c
	}
	return s, c
}

// arctangents are atan(k/8).
var arctangents = [9]float64{0, 0.12435499454676144, 0.24497866312686414, 0.3587706702705722, 0.4636476090008061,
	0.5585993153435624, 0.6435011087932844, 0.7188299996216245, 0.7853981633974483}

// atan2 returns the angle of the point (x, y), from -Pi to Pi. It is 0 for the origin.
func atan2(y, x float64) float64 {
	low, high := min(math.Abs(x), math.Abs(y)), max(math.Abs(x), math.Abs(y))
	if high == 0 {
		return 0
	}
	// atan(low/high) = atan(c) + atan(t), with c = k/8.
	k := math.RoundToEven(8 * (low / high))
	if !(k >= 0) { // NaN
		return math.NaN()
	}
	c := k / 8
	t := fma(-c, high, low) / fma(c, low, high)
	z := -float64(t * t)
	s := fma(fma(fma(fma(fma(1./13, z, 1./11), z, 1./9), z, 1./7), z, 1./5), z, 1./3)
	a := arctangents[int(k)] + fma(float64(s*z), t, t)
	if math.Abs(y) > math.Abs(x) {
		a = halfPi - (a - halfPiLow)
	}
	if x < 0 {
		a = math.Pi - (a - 2*halfPiLow)
	}
	return math.Copysign(a, y)
}

// hypot is not protected against overflow, which no coordinate causes.
func hypot(x, y float64) float64 { return math.Sqrt(fma(x, x, float64(y*y))) }

// asin is accurate to an ulp for small x, and to 1e-16/cos near the ends.
func asin(x float64) float64 { return atan2(x, math.Sqrt(float64((1-x)*(1+x)))) }

// exp returns e**x; results below 1e-300 are 0.
func exp(x float64) float64 {
	switch {
	case x > 700:
		return math.Inf(1)
	case x < -690:
		return 0
	case x != x:
		return x
	}
	n := math.RoundToEven(x * math.Log2E)
	r := fma(-n, ln2Low, fma(-n, math.Ln2, x))
	s := fma(fma(fma(fma(fma(fma(fma(fma(fma(fma(fma(fma(fma(inverse13, r, inverse12), r, inverse11), r, inverse10), r, inverse9), r, inverse8), r, inverse7), r, inverse6), r, inverse5), r, inverse4), r, inverse3), r, inverse2), r, 1), r, 1)
	return float64(s * math.Float64frombits(uint64(int64(n)+1023)<<52))
}

// log returns the natural logarithm of a normal number, -Inf for 0 and less.
func log(x float64) float64 {
	switch {
	case !(x > 1e-300):
		if x != x {
			return x
		}
		return math.Inf(-1)
	case x > 1e300:
		return math.Inf(1)
	}
	b := math.Float64bits(x)
	n := float64(int64(b>>52) - 1023)
	m := math.Float64frombits(b&(1<<52-1) | 1023<<52)
	if m > math.Sqrt2 {
		m, n = m/2, n+1
	}
	// log(m) = 2 atanh(t)
	t := (m - 1) / (m + 1)
	t2 := float64(t * t)
	s := fma(fma(fma(fma(fma(fma(fma(fma(1./19, t2, 1./17), t2, 1./15), t2, 1./13), t2, 1./11), t2, 1./9), t2, 1./7), t2, 1./5), t2, 1./3)
	t = 2 * t
	return fma(n, math.Ln2, fma(n, ln2Low, fma(float64(s*t2), t, t)))
}

// asinh has an absolute error of 1e-16 and more for large x only.
func asinh(x float64) float64 {
	a := math.Abs(x)
	return math.Copysign(log(a+math.Sqrt(fma(a, a, 1))), x)
}

// atanh has an absolute error of 1e-16.
func atanh(x float64) float64 { return 0.5 * log((1+x)/(1-x)) }

// sinh has an absolute error of 1e-16 for small x.
func sinh(x float64) float64 {
	e := exp(math.Abs(x))
	return math.Copysign(0.5*(e-1/e), x)
}

// wrap returns the angle from -Pi to Pi that is equal to x but for full turns.
func wrap(x float64) float64 {
	if math.Abs(x) <= math.Pi {
		return x
	}
	n := math.RoundToEven(x * (1 / (2 * math.Pi)))
	return fma(-n, 4*halfPiLow, fma(-n, 2*math.Pi, x))
}

// Angle returns the angle of the point (x, y), from -Pi to Pi.
func Angle(y, x float64) float64 { return atan2(y, x) }

// Log returns the natural logarithm of a normal number.
func Log(x float64) float64 { return log(x) }
