package devicemath

import "math"

const (
	log2EHi   = 0x1.715476p+0 // the float32 nearest to 1/ln(2), and the rest
	log2ELo   = 0x1.4ae0cp-26
	log10EHi  = 0x1.bcb7b2p-2 // 1/ln(10)
	log10ELo  = -0x1.5b235ep-27
	log10Of2  = 0x1.344136p-2
	log10Of2L = -0x1.ec10cp-27
)

const (
	smallestNormal = 0x1p-126
	maxFloat       = 0x1.fffffep127
)

func infinity() float32 { return math.Float32frombits(0x7f800000) }

func notANumber() float32 { return math.Float32frombits(0x7fc00000) }

// logReduce splits a positive finite x into 2**e * (1+f) with an integer e and
// -1/3 <= f < 1/3. Both steps are exact.
func logReduce(x float32) (e, f float32) {
	e = 0
	if x < smallestNormal {
		x *= 0x1p23
		e = -23
	}
	n, f := logSplit(x)
	return e + n, f
}

// logSplit is logReduce of a normal number.
func logSplit(x float32) (e, f float32) {
	const twoThirds = 0x3f2aaaab
	i := math.Float32bits(x) - twoThirds
	f = math.Float32frombits(i&0x7fffff+twoThirds) - 1
	return float32(int32(i) >> 23), f
}

// logTail returns log(1+f) - f for -1/3 <= f <= 1/3.
func logTail(f float32) float32 {
	p := FMA(-0x1.07d416p-03, f, 0x1.1e6964p-03)
	p = FMA(p, f, -0x1.f32cc2p-04)
	p = FMA(p, f, 0x1.1ed60ap-03)
	p = FMA(p, f, -0x1.559c8ap-03)
	p = FMA(p, f, 0x1.99d048p-03)
	p = FMA(p, f, -0x1.fffefap-03)
	p = FMA(p, f, 0x1.555506p-02)
	p = FMA(p, f, -0.5)
	return p * (f * f)
}

// logSpecial returns y, or what a logarithm is where x is not a positive finite
// number.
func logSpecial(x, y float32) float32 {
	if x > 0 && x <= maxFloat {
		return y
	}
	if x == 0 {
		return -infinity()
	}
	if x < 0 {
		return notANumber()
	}
	return x
}

// Log returns the natural logarithm of x.
func Log(x float32) float32 {
	if isPositiveNormal(x) {
		e, f := logSplit(x)
		return FMA(e, ln2Hi, f+logTail(f))
	}
	e, f := logReduce(x)
	return logSpecial(x, FMA(e, ln2Hi, f+logTail(f)))
}

// isPositiveNormal reports whether x is positive, finite and not subnormal.
func isPositiveNormal(x float32) bool { return math.Float32bits(x)-0x00800000 < 0x7f000000 }

// Log2 returns the binary logarithm of x.
func Log2(x float32) float32 {
	e, f := logReduce(x)
	return logSpecial(x, e+FMA(f, log2EHi, FMA(logTail(f), log2EHi, f*log2ELo)))
}

// Log10 returns the decimal logarithm of x.
func Log10(x float32) float32 {
	e, f := logReduce(x)
	y := FMA(f, log10EHi, FMA(logTail(f), log10EHi, f*log10ELo))
	return logSpecial(x, FMA(e, log10Of2, FMA(e, log10Of2L, y)))
}

// Log1p returns the natural logarithm of 1 + x.
func Log1p(x float32) float32 {
	e, _ := logReduce(1 + x)
	f := x
	if e != 0 {
		// (1+x)/2**e - 1 without the rounding of 1+x; 1/2**e and x/2**e are
		// exact.
		s := power(2 - int32(e))
		f = FMA(s, 0.25*x, FMA(s, 0.25, -1))
	}
	y := FMA(e, ln2Hi, f+logTail(f))
	if x == 0 {
		y = x
	}
	return logSpecial(1+x, y)
}
