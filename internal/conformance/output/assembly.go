package output

import "quern.dev/kernel"

// wideSum adds two 64-bit numbers in 32-bit halves.
//
//quern:ptx add.cc.u32 $lo, $alo, $blo;
//quern:ptx addc.u32 $hi, $ahi, $bhi;
func wideSum(alo, ahi, blo, bhi uint32) (lo, hi uint32) {
	sum := (uint64(ahi)<<32 | uint64(alo)) + (uint64(bhi)<<32 | uint64(blo))
	return uint32(sum), uint32(sum >> 32)
}

// permute selects four of the eight bytes of a and b.
//
//quern:ptx prmt.b32 $r, $a, $b, $selector;
func permute(a, b, selector uint32) (r uint32) {
	bytes := uint64(b)<<32 | uint64(a)
	for i := range 4 {
		k := selector >> (4 * i) & 0xf
		v := uint32(bytes>>(8*(k&7))) & 0xff
		if k&8 != 0 { // replicate the sign of the byte
			v = uint32(int32(v<<24)>>31) & 0xff
		}
		r |= v << (8 * i)
	}
	return r
}

// half computes x/2 + n. Its PTX uses a register of its own.
//
//quern:ptx .reg .f64 t;
//quern:ptx cvt.rn.f64.s64 t, $n;
//quern:ptx fma.rn.f64 $y, $x, 0d3FE0000000000000, t;
func half(x float64, n int) (y float64) { return x*0.5 + float64(n) }

//quern:ptx nanosleep.u32 $ns;
//quern:ptx .target sm_70
//quern:ptx .version 6.3
func pause(ns uint32) {}

// assembled calls functions that are instructions on a GPU.
//
//quern:kernel
func assembled(t kernel.Thread, x []uint32, f []float64, out []uint32) {
	i := t.Global()
	if i >= len(f) {
		return
	}
	a := x[4*i:]
	lo, hi := wideSum(a[0], a[1], a[2], a[3])
	lo, hi = wideSum(lo, hi, hi, lo)
	out[3*i], out[3*i+1] = lo, hi
	out[3*i+2] = permute(a[0], a[1], a[2])
	f[i] = half(f[i], i-3)
}

// paused sleeps briefly.
//
//quern:kernel
func paused(t kernel.Thread, out []int32) {
	pause(100)
	if i := t.Global(); i < len(out) {
		out[i]++
	}
}
