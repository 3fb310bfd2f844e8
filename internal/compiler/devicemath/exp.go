package devicemath

import "math"

const (
	log2E = 1.4426950408889634 // 1/ln(2)
	ln2Hi = 0x1.62e43p-1       // the float32 nearest to ln(2), and the rest
	ln2Lo = -0x1.05c61p-29
)

// roundingBias moves a number of magnitude below 2**22 to where the float32
// values are the integers: adding it rounds, and leaves the integer in the low
// bits.
const roundingBias = 0x1.8p23

// Exp returns e**x.
func Exp(x float32) float32 {
	t := biasedFloor(x, log2EHi/exponents)
	return ApproxExp2Normal(FMA(x, log2ELo, FMA(x, log2EHi, zeroFloor-t))) * powerOf(t)
}

// halfExp returns e**x / 2, without overflow on the way and more exactly than Exp.
func halfExp(x float32) float32 {
	r, n := expReduce(x)
	return scale(FMA(expTail(r), r*r, r)+1, n-1)
}

// expReduce splits x into n*ln(2) + r with an integer n and |r| <= ln(2)/2. It
// limits x to where e**x/4 and e**x*4 are still 0 or +Inf. The product n*ln2Hi
// is cancelled exactly.
func expReduce(x float32) (r float32, n int32) {
	if x > 95 {
		x = 95
	}
	if x < -110 {
		x = -110
	}
	r, t := expRemainder(x)
	return r, integer(t)
}

// expRemainder splits x like expReduce and returns n + roundingBias, whose low
// bits are those of n.
func expRemainder(x float32) (r, t float32) {
	t = FMA(x, log2E, roundingBias)
	k := t - roundingBias
	r = FMA(k, -ln2Hi, x)
	return FMA(k, -ln2Lo, r), t
}

// integer returns the integer that adding roundingBias left in t.
func integer(t float32) int32 {
	return int32(math.Float32bits(t)) - 0x4b400000
}

// expTail returns (e**r - 1 - r) / r**2 for |r| <= ln(2)/2.
func expTail(r float32) float32 {
	p := FMA(0x1.6b9796p-10, r, 0x1.122534p-07)
	p = FMA(p, r, 0x1.5556f6p-05)
	p = FMA(p, r, 0x1.5554b4p-03)
	return FMA(p, r, 0x1.fffffep-02)
}

// scale returns x * 2**n for -252 <= n <= 254, rounded at most once if x is a
// normal number: only the second product can leave the normal range.
func scale(x float32, n int32) float32 {
	half := n >> 1
	return x * power(half) * power(n-half)
}

// power returns 2**n for -126 <= n <= 127.
func power(n int32) float32 {
	return math.Float32frombits(uint32(n+127) << 23)
}

// Exp2 returns 2**x.
func Exp2(x float32) float32 {
	t := biasedFloor(x, 1.0/exponents)
	return ApproxExp2Normal(x+(zeroFloor-t)) * powerOf(t)
}

const (
	leastExponent = -126
	exponents     = 127 - leastExponent
	zeroFloor     = roundingBias + 127 // biasedFloor of an exponent of 0
)

// biasedFloor returns n + zeroFloor, whose low bits are those of 2**n. Here n is the integer
// below e = exponents*x*y, so that the rest e-n is from 0 to 1, plus what the roundings here add,
// which the constant keeps above 0: the hardware's power of two is less exact for negative
// arguments. But n stays within the exponents of normal numbers; what is beyond them is part of
// the rest. Then of 2**(e-n) * 2**n only the product overflows, or is rounded to a subnormal
// number.
func biasedFloor(x, y float32) float32 {
	s := FMASaturated(x, y, -float32(leastExponent)/exponents-0x1p-23)
	return FMADown(s, exponents, zeroFloor+leastExponent)
}

// powerOf returns 2**n for t = n + zeroFloor.
func powerOf(t float32) float32 { return math.Float32frombits(math.Float32bits(t) << 23) }

// Expm1 returns e**x - 1.
func Expm1(x float32) float32 {
	if x == 0 {
		return x
	}
	if x < -18 {
		return -1
	}
	if x > 89 {
		x = 89 // so that n is at most 128
	}
	r, n := expReduce(x)
	tail := expTail(r) * r * r
	if n == 0 {
		return r + tail
	}
	// (e**r - 1)*2**n + (2**n - 1), at half the size so that 2**128 is in range.
	// What r contributes is added first: it is exact, and the tail is small.
	s := power(n - 1)
	y := FMA(s, tail, FMA(s, r, s-0.5))
	return y + y
}
