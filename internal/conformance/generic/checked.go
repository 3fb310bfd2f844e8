package generic

import "quern.dev/kernel"

// shiftBy is compiled with and without checks. Without checks, a thread may read past the
// length of x, within the buffer that contains x.
//
//quern:kernel also=unchecked
func shiftBy(t kernel.Thread, by int, x, out []int32) {
	if i := t.Global(); i < len(out) {
		out[i] = x[i+by]
	}
}

//quern:kernel also=unchecked instantiate=float32,int64
func scaleBy[T kernel.Number](t kernel.Thread, by T, x []T) {
	x[t.Global()] *= by
}
