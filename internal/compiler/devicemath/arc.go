package devicemath

const (
	piHi = 0x1.921fb6p+1
	piLo = -0x1.777a5cp-24
)

// asinTail returns asin(x) - x for |x| <= 1/2, z = x*x.
func asinTail(x, z float32) float32 {
	p := FMA(0x1.595c6p-05, z, 0x1.8c3e5p-06)
	p = FMA(p, z, 0x1.747bb8p-05)
	p = FMA(p, z, 0x1.330204p-04)
	p = FMA(p, z, 0x1.5555c8p-03)
	return p * (x * z)
}

// Asin returns the arcsine of x.
func Asin(x float32) float32 {
	a := Abs(x)
	s, z := a, a*a
	if a > 0.5 {
		// asin(a) = pi/2 - 2*asin(sqrt((1-a)/2)); 1-a is exact.
		z = FMA(a, -0.5, 0.5)
		s = Sqrt(z)
	}
	tail := asinTail(s, z)
	y := s + tail
	if a > 0.5 {
		// The rounding of the first difference counts, where it is above 1
		// and the result below.
		y = FMA(s, -2, halfPi1)
		rest := FMA(s, -2, halfPi1-y)
		y += rest + FMA(tail, -2, halfPi2)
	}
	return Copysign(y, x)
}

// Acos returns the arccosine of x.
func Acos(x float32) float32 {
	a := Abs(x)
	s, z := a, a*a
	if a > 0.5 {
		// acos(a) = 2*asin(sqrt((1-a)/2))
		z = FMA(a, -0.5, 0.5)
		s = Sqrt(z)
	}
	tail := asinTail(s, z)
	if a > 0.5 {
		y := 2 * (s + tail)
		if x < 0 {
			y = FMA(s, -2, piHi) + FMA(tail, -2, piLo)
		}
		return y
	}
	if x < 0 {
		s, tail = -s, -tail
	}
	return (halfPi1 - s) + (halfPi2 - tail)
}

// atanTail returns atan(x) - x for |x| <= 1.
func atanTail(x float32) float32 {
	z := x * x
	p := FMA(0x1.7ec704p-09, z, -0x1.0c262ap-06)
	p = FMA(p, z, 0x1.61f8bcp-05)
	p = FMA(p, z, -0x1.355464p-04)
	p = FMA(p, z, 0x1.b4dffep-04)
	p = FMA(p, z, -0x1.230ab2p-03)
	p = FMA(p, z, 0x1.9978eep-03)
	p = FMA(p, z, -0x1.5554dcp-02)
	return p * (x * z)
}

// Atan returns the arctangent of x.
func Atan(x float32) float32 {
	a := Abs(x)
	s := a
	if a > 1 {
		s = 1 / a
	}
	tail := atanTail(s)
	y := s + tail
	if a > 1 {
		y = (halfPi1 - s) + (halfPi2 - tail)
	}
	return Copysign(y, x)
}

// Atan2 returns the arctangent of y/x, in the quadrant of (x, y).
func Atan2(y, x float32) float32 {
	a, b := Abs(y), Abs(x)
	low, high := a, b
	if a > b {
		low, high = b, a
	}
	s := low / high
	if low == high {
		s = 1 // both infinite, or both zero
	}
	if high == 0 {
		s = 0
	}
	tail := atanTail(s)
	// The angle is 0, pi/2 or pi, plus or minus s+tail.
	base, baseLo := float32(0), float32(0)
	if a > b {
		base, baseLo = halfPi1, halfPi2
		s, tail = -s, -tail
	}
	if x < 0 || x == 0 && 1/x < 0 {
		base, baseLo = piHi-base, piLo-baseLo
		s, tail = -s, -tail
	}
	r := (base + s) + (baseLo + tail)
	if x != x || y != y {
		r = x + y
	}
	return Copysign(r, y)
}
