package devicemath

import "math"

const (
	twoOverPi = 0.6366197723675814
	// pi/2 as the sum of three float32 values.
	halfPi1 = 0x1.921fb6p+0
	halfPi2 = -0x1.777a5cp-25
	halfPi3 = -0x1.ee59dap-50
	// largeAngle is where reduce takes more bits of pi.
	largeAngle = 0x1p16
)

// reduce splits x into q*pi/2 + r + rl with an integer q, of which it returns
// the low bits, and |r| <= pi/4 but for rounding; rl is at most half an ULP of
// r.
func reduce(x float32) (r, rl float32, q uint32) {
	if Abs(x) >= largeAngle {
		return reduceLarge(x)
	}
	t := FMA(x, twoOverPi, roundingBias)
	k := t - roundingBias
	a := FMA(k, -halfPi1, x) // exact
	// a - k*halfPi2, exactly (Knuth's TwoSum).
	p := float32(k * -halfPi2)
	pl := FMA(k, -halfPi2, -p)
	s := a + p
	b := s - a
	sl := (a - (s - b)) + (p - b) + FMA(k, -halfPi3, pl)
	r = s + sl
	rl = (s - r) + sl
	return r, rl, math.Float32bits(t)
}

// reduceLarge is reduce for |x| >= 2, by multiplication with the bits of 2/pi
// that matter for x (Payne and Hanek, Radian reduction for trigonometric
// functions, 1983).
func reduceLarge(x float32) (r, rl float32, q uint32) {
	bits := math.Float32bits(x)
	if bits&0x7f800000 == 0x7f800000 {
		return x - x, 0, 0
	}
	// |x| = m * 2**(e-31), m < 2**32
	m := uint64(bits<<8 | 1<<31)
	e := bits>>23&0xff - 127

	// Bits of 2/pi that make multiples of 4 are left out: w is the 96 bits from
	// weight 2**(32-e) down. The product of m with the 96 bits, modulo 2**96,
	// is x*2/pi modulo 4 in units of 2**-94.
	word, shift := (e-1)>>5, (e-1)&31
	w0, w1, w2, w3 := twoOverPiWord(word), twoOverPiWord(word+1), twoOverPiWord(word+2), twoOverPiWord(word+3)
	w0 = w0<<shift | w1>>(32-shift)
	w1 = w1<<shift | w2>>(32-shift)
	w2 = w2<<shift | w3>>(32-shift)
	p := m*uint64(w1) + m*uint64(w2)>>32
	p += m * uint64(w0) << 32

	// p is now in units of 2**-62. The nearest integer is q; f the rest.
	q = uint32((p + 1<<61) >> 62)
	f := int64(p - uint64(q)<<62)
	const unit = 0x1p-62
	hi := float32(f)
	lo := float32(f - int64(hi))
	hi, lo = hi*unit, lo*unit
	s := float32(hi * halfPi1)
	sl := FMA(hi, halfPi1, -s)
	sl = FMA(hi, halfPi2, FMA(lo, halfPi1, sl))
	r = s + sl
	rl = (s - r) + sl
	if bits>>31 != 0 {
		return -r, -rl, -q
	}
	return r, rl, q
}

// twoOverPiWord returns bits 32*(i-1) to 32*i of the fraction of 2/pi, zeros
// for i = 0.
func twoOverPiWord(i uint32) uint32 {
	switch i {
	case 0:
		return 0
	case 1:
		return 0xa2f9836e
	case 2:
		return 0x4e441529
	case 3:
		return 0xfc2757d1
	case 4:
		return 0xf534ddc0
	case 5:
		return 0xdb629599
	}
	return 0x3c439041
}

// sinCos returns the cosine of r if q is odd and its sine if not, negated if
// bit 1 of q is set. Both are sums b + a*p of a polynomial p, so that threads
// which differ in q take the same path.
func sinCos(r, rl float32, q uint32) float32 {
	z := r * r
	c3, c2, c1, c0 := float32(0), float32(-0x1.995408p-13), float32(0x1.110778p-07), float32(-0x1.555546p-03)
	a, b := r*z, r
	if q&1 != 0 {
		c3, c2, c1, c0 = 0x1.99e80cp-16, -0x1.6c0c28p-10, 0x1.55554ap-05, -0.5
		a, b, rl = z, 1, 0
	}
	p := FMA(c3, z, c2)
	p = FMA(p, z, c1)
	p = FMA(p, z, c0)
	y := b + FMA(a, p, rl)
	if q&2 != 0 {
		y = -y
	}
	return y
}

// Sin returns the sine of x.
func Sin(x float32) float32 {
	r, rl, q := reduce(x)
	y := sinCos(r, rl, q)
	if x == 0 {
		return x
	}
	return y
}

// Cos returns the cosine of x.
func Cos(x float32) float32 {
	r, rl, q := reduce(x)
	return sinCos(r, rl, q+1)
}

// Tan returns the tangent of x.
func Tan(x float32) float32 {
	r, rl, q := reduce(x)
	z := r * r
	p := FMA(0x1.33d70ap-07, z, 0x1.96ebe4p-09)
	p = FMA(p, z, 0x1.906b8ap-06)
	p = FMA(p, z, 0x1.b585ecp-05)
	p = FMA(p, z, 0x1.112de6p-03)
	p = FMA(p, z, 0x1.5554dep-02)
	tail := FMA(r*z, p, rl)
	t := r + tail
	if q&1 != 0 {
		// -1/(t+tl), with one step of Newton's iteration.
		tl := (r - t) + tail
		y := -1 / t
		t = FMA(y, FMA(y, tl, FMA(y, t, 1)), y)
	}
	if x == 0 {
		return x
	}
	return t
}
