package devicemath

import "math"

// Pow returns x**y.
func Pow(x, y float32) float32 {
	hi, lo := logDouble(Abs(x))
	// The exponent of the result as a sum of two numbers, limited to where the
	// result is 0 or +Inf.
	p := float32(y * hi)
	q := FMA(y, hi, -p)
	q = FMA(y, lo, q)
	if p > 120 {
		p, q = 120, 0
	}
	if p < -120 {
		p, q = -120, 0
	}
	t := FMA(p, log2E, roundingBias)
	k := t - roundingBias
	r := FMA(k, -ln2Hi, p) + FMA(k, -ln2Lo, q)
	z := scale(FMA(expTail(r), r*r, r)+1, integer(t))

	if x > 0 && x <= maxFloat && Abs(y) <= maxFloat && x != 1 && y != 1 {
		return z
	}
	return powSpecial(x, y, z)
}

// powSpecial returns x**y where x is not positive and finite, or y is not
// finite, or one of them is 1. Argument z is |x|**y if both are finite and not
// 0.
func powSpecial(x, y, z float32) float32 {
	switch {
	case y == 0 || x == 1:
		return 1
	case y == 1:
		return x
	case x != x || y != y:
		return notANumber()
	case Abs(y) > maxFloat:
		a := Abs(x)
		switch {
		case a == 1:
			return 1
		case (a > 1) == (y > 0):
			return infinity()
		}
		return 0
	}
	integral := Trunc(y) == y
	odd := integral && Abs(y) < 0x1p24 && Trunc(y*0.5) != y*0.5
	switch {
	case x == 0 || Abs(x) > maxFloat:
		z = 0
		if (x == 0) == (y < 0) {
			z = infinity()
		}
	case !integral: // x < 0
		return notANumber()
	}
	if odd {
		return Copysign(z, x)
	}
	return z
}

// logDouble returns the natural logarithm of a positive finite x as the sum of
// two numbers, with a relative error of some 2**-34.
//
// With x = 2**e * m, sqrt(1/2) <= m < sqrt(2), and s = (m-1)/(m+1), it is
// e*log(2) + 2*atanh(s). All but the small terms of atanh's series are carried
// in two numbers.
func logDouble(x float32) (hi, lo float32) {
	e := float32(0)
	if x < smallestNormal {
		x *= 0x1p23
		e = -23
	}
	const squareRootOfHalf = 0x3f3504f3
	i := math.Float32bits(x) - squareRootOfHalf
	m := math.Float32frombits(i&0x7fffff + squareRootOfHalf)
	e += float32(int32(i) >> 23)

	// s + sl = (m-1) / (v+vl), v+vl = m+1
	u, v := m-1, m+1
	vl := m - (v - 1)
	inverse := 1 / v
	s := float32(u * inverse)
	sl := float32(FMA(-s, vl, FMA(-s, v, u)) * inverse)

	// z + zl = s*s
	z := float32(s * s)
	zl := FMA(s, s, -z)
	zl = FMA(s+s, sl, zl)

	// a + al = atanh(s)/s**3 - 1/s**2
	const third, thirdLo = 0x1.555556p-2, -0x1.555556p-27
	p := FMA(0x1.dfa3bap-04, z, 0x1.245278p-03)
	p = float32(FMA(p, z, 0x1.999ap-03) * z)
	a := third + p
	al := ((third - a) + p) + thirdLo

	// c + cl = s**3
	c := float32(s * z)
	cl := FMA(s, z, -c)
	cl = FMA(s, zl, FMA(sl, z, cl))

	// w + wl = s**3 * (a+al)
	w := float32(c * a)
	wl := FMA(c, a, -w)
	wl = FMA(c, al, FMA(cl, a, wl))

	// l + ll = atanh(s)
	l := s + w
	ll := ((s - l) + w) + (sl + wl)

	// e*log(2) + 2*(l+ll). The first is larger than the second, or 0.
	h := float32(e * ln2Hi)
	hl := FMA(e, ln2Hi, -h)
	hl = FMA(e, ln2Lo, hl)
	l, ll = l+l, ll+ll
	sum := h + l
	rest := ((h - sum) + l) + (hl + ll)
	hi = sum + rest
	return hi, (sum - hi) + rest
}
