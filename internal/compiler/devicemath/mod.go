package devicemath

import "math"

// Mod returns the remainder of x/y with the sign of x, exactly.
func Mod(x, y float32) float32 {
	a, b := Abs(x), Abs(y)
	if !(a <= maxFloat) || b == 0 || b != b {
		return notANumber()
	}
	if a < b {
		return x
	}
	// a = m * 2**i and b = n * 2**j, with integers m and n below 2**24 and
	// i >= j.
	m, i := split(a)
	n, j := split(b)
	// 2**(i-j) * m modulo n, by 8 bits at a time.
	m %= n
	for ; i > j; i -= 8 {
		k := i - j
		if k > 8 {
			k = 8
		}
		m = m << uint32(k) % n
	}
	return Copysign(scale(float32(m), j), x)
}

// split returns m and e with x = m * 2**e, m < 2**24, for a finite x >= 0.
func split(x float32) (m uint32, e int32) {
	bits := math.Float32bits(x)
	m, e = bits&0x7fffff, int32(bits>>23)
	if e == 0 {
		return m, 1 - 150
	}
	return m | 1<<23, e - 150
}

// Round returns the nearest integer value, half away from zero.
func Round(x float32) float32 {
	t := Trunc(x)
	if Abs(x-t) >= 0.5 {
		t += Copysign(1, x)
	}
	return Copysign(t, x)
}
