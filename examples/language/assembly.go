package language

import "quern.dev/kernel"

// dot4 adds the products of the bytes of a and b to c.
//
//quern:ptx .target sm_61
//quern:ptx dp4a.u32.u32 $sum, $a, $b, $c;
func dot4(a, b, c uint32) (sum uint32) {
	for shift := 0; shift < 32; shift += 8 {
		c += (a >> shift & 0xff) * (b >> shift & 0xff)
	}
	return c
}

// dots computes dot products of rows of four bytes.
//
//quern:kernel
func dots(t kernel.Thread, a, b, out []uint32) {
	if i := t.Global(); i < len(out) {
		out[i] = dot4(a[i], b[i], 0)
	}
}
