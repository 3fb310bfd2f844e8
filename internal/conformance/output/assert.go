package output

import "quern.dev/kernel"

// asserted fails at the first negative element.
//
//quern:kernel
func asserted(t kernel.Thread, x []int32, out []int32) {
	if i := t.Global(); i < len(x) {
		kernel.Assert(x[i] >= 0, "the input is not negative")
		out[i] = x[i] * 2
	}
}
