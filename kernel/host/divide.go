package host

import "math"

// Div returns x / y. Most operands fit 32 bits, and processors divide these several times
// as fast.
func Div(x, y int) int {
	if uint64(x|y) <= math.MaxUint32 {
		return int(uint32(x) / uint32(y))
	}
	return x / y
}

// Rem returns x % y. Many divisors are powers of two, for which it needs no division.
func Rem(x, y int) int {
	if x >= 0 && y > 0 && y&(y-1) == 0 {
		return x & (y - 1)
	}
	if uint64(x|y) <= math.MaxUint32 {
		return int(uint32(x) % uint32(y))
	}
	return x % y
}
