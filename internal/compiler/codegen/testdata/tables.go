package codegen

import "quern.dev/kernel"

var coefficients = [5]float32{0.1, 0.2, 0.4, 0.2, 0.1}

var permutation = [256]uint8{0: 17, 1: 5, 255: 3}

// A table that all threads of a warp read at the same place is in constant
// memory.
//
// ptx:"ld.const.f32" ptx:-"ld.global.nc"
//
//quern:kernel
func together(t kernel.Thread, n int, in, out []float32) {
	if i := t.Global(); i < len(in)-5 && i < len(out) {
		var sum float32
		//quern:nounroll
		for k := 0; k < n && k < 5; k++ {
			sum += coefficients[k] * in[i+k]
		}
		out[i] = sum
	}
}

// Other tables are read through the cache for global memory.
//
// ptx:"ld.global.nc.u8" ptx:-"ld.const"
//
//quern:kernel
func apart(t kernel.Thread, in, out []uint8) {
	if i := t.Global(); i < len(in) && i < len(out) {
		out[i] = permutation[in[i]]
	}
}

// The compiler of driver 580 crashes if the address is a sum without a product.
//
// ptx:"mul.wide.[us]32 .*, 1;" ptx:"ld.const.u8"
//
//quern:kernel
func chosen(t kernel.Thread, n int, x float32, out []uint8) {
	if i := t.Global(); i < len(out) {
		out[i] = pair[truth(x > 1)]
	}
}

var pair = [2]uint8{3, 4}

func truth(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// An element at a constant index needs no memory access.
//
//quern:kernel
func known(t kernel.Thread, out []float32) {
	if i := t.Global(); i < len(out) {
		out[i] = coefficients[2] // ptx:-"ld.(const|global)" ptx:"0f3ECCCCCD"
	}
}
