// Package kernels holds the kernels of package filter. Their launchers do not check what they
// are given: package filter does.
package kernels

import "quern.dev/kernel"

//go:generate go tool quern gen

// The rules for pixels beyond the edges, in the order of filter.Mode.
const (
	reflect = iota
	constant
	nearest
	mirror
	wrap
)

// inside returns the pixel that is at index i of a line of n pixels, or -1 for a constant.
func inside(mode, i, n int) int {
	if i >= 0 && i < n {
		return i
	}
	switch mode {
	case nearest:
		return kernel.Clamp(i, 0, n-1)
	case reflect:
		i = modulo(i, 2*n)
		return min(i, 2*n-1-i)
	case mirror:
		if n == 1 {
			return 0
		}
		i = modulo(i, 2*n-2)
		return min(i, 2*n-2-i)
	case wrap:
		return modulo(i, n)
	}
	return -1
}

// modulo returns i mod n, which is not negative.
func modulo(i, n int) int {
	i %= n
	if i < 0 {
		i += n
	}
	return i
}

// round converts to the nearest value of T, ties to even. Values out of range saturate.
func round[T kernel.Number](v float32) T {
	if T(1)/2 == 0 {
		v = kernel.RoundToEven(v)
	}
	return T(v)
}
