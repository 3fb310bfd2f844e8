package language

import "quern.dev/kernel"

// trace prints the elements that exceed the limit.
//
//quern:kernel
func trace(t kernel.Thread, limit float32, x []float32) {
	if i := t.Global(); i < len(x) && x[i] > limit {
		kernel.Printf("x[%d] = %.1f > %g\n", i, x[i], limit)
	}
}

// roots replaces each element with its square root.
//
//quern:kernel
func roots(t kernel.Thread, x []float64) {
	if i := t.Global(); i < len(x) {
		kernel.Assert(x[i] >= 0, "the input is not negative")
		x[i] = kernel.Sqrt(x[i])
	}
}

// decode turns digits into numbers.
//
//quern:kernel
func decode(t kernel.Thread, text []uint8, values []int32) {
	i := t.Global()
	if i >= len(text) {
		return
	}
	switch c := text[i]; {
	case '0' <= c && c <= '9':
		values[i] = int32(c - '0')
	default:
		panic("not a digit")
	}
}
