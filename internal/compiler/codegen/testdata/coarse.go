package testdata

import "quern.dev/kernel"

// scaleAdd runs four elements per thread, in accesses of 128 bits, after one
// comparison of the last index.
//
//quern:kernel
func scaleAdd(t kernel.Thread, a float32, x, y []float32) {
	if i := t.Global(); i < len(y) { // coarse:"setp.ge.s32" coarse:-"or.pred"
		y[i] += a * x[i] // coarse:"ld.global.v4.f32.*\n.*\n\tld.global.v4.f32" coarse:"st.global.v4.f32" ptx:"ld.global.f32"
	}
}

// widenBytes has elements of two sizes: the larger one decides.
//
//quern:kernel
func widenBytes(t kernel.Thread, in []uint8, out []float32) {
	i := t.Global()
	if i >= len(in) {
		return
	}
	out[i] = float32(in[i]) // coarse:"ld.global.u32" coarse:"bfe.u32" coarse:"st.global.v4.f32"
}

// negateBytes moves 16 elements per access.
//
//quern:kernel
func negateBytes(t kernel.Thread, in, out []int8) {
	if i := t.Global(); i < len(in) {
		out[i] = -in[i] // coarse:"ld.global.v4.u32" coarse:"bfe.s32" coarse:"prmt.b32" coarse:"st.global.v4.u32"
	}
}

// squareDoubles moves 2.
//
//quern:kernel
func squareDoubles(t kernel.Thread, x []float64) {
	if i := t.Global(); i < len(x) {
		x[i] *= x[i] // coarse:"ld.global.v2.f64" coarse:"st.global.v2.f64"
	}
}

// lookUp has an index from memory: the fast half bails out if one is out of
// range, and never fails.
//
//quern:kernel
func lookUp(t kernel.Thread, table []float32, at []int32, out []float32) {
	if i := t.Global(); i < len(out) {
		out[i] = table[at[i]] // coarse:"ld.global.v4.u32" coarse:"or.pred" coarse:"st.global.v4.f32"
	}
}

// difference reads a neighbour too: its threads run the same thread of four
// blocks, all loads before the first store.
//
//quern:kernel
func difference(t kernel.Thread, x, y []float32) {
	if i := t.Global(); i+1 < len(x) {
		y[i] = x[i+1] - x[i] // coarse:-"v4" coarse:"(ld.global.f32 (?s:.*)){8}st.global"
	}
}

// longSeries computes more than it moves.
//
//quern:kernel
func longSeries(t kernel.Thread, x []float32) { // coarse:-""
	if i := t.Global(); i < len(x) {
		v, s := x[i], float32(1)
		for n := range 40 {
			s = s*v/float32(n+1) + 1
		}
		x[i] = s
	}
}

// block shares memory.
//
//quern:kernel
func block(t kernel.Thread, x []float32) { // coarse:-""
	s := kernel.Shared[[256]float32](t)
	s[t.ThreadIdx.X&255] = x[t.Global()]
	t.Sync()
	x[t.Global()] = s[255-t.ThreadIdx.X&255]
}

// gatherStructs moves whole elements: its threads move 16 bytes at once, and need not run
// others.
//
// ptx:"(ld.global.v4.f32 (?s:.*)){2}(st.global.v4.f32 (?s:.*)){2}" ptx:-"[ls][dt].global.f32" coarse:-""
//
//quern:kernel
func gatherStructs(t kernel.Thread, at []int32, table, out []struct{ A, B, C, D, E, F, G, H float32 }) {
	if i := t.Global(); i < len(out) {
		out[i] = table[at[i]]
	}
}

// gatherPairs does the same with elements of 8 bytes.
//
// coarse:"(ld.global.v2.f32 (?s:.*)){2}(st.global.v2.f32 (?s:.*)){2}" coarse:-"[ls][dt].global.f32"
//
//quern:kernel
func gatherPairs(t kernel.Thread, at []int32, table, out []struct{ A, B float32 }) {
	if i := t.Global(); i < len(out) {
		out[i] = table[at[i]]
	}
}

// weighted has weights that are the same for its threads: they are loaded once.
//
// coarse:-"(ld.global.v4.f32(?s:.*)){3}" coarse:"(ld.global.v4.f32(?s:.*)){2}"
//
//quern:kernel
func weighted(t kernel.Thread, w [][4]float32, x, y []float32) {
	if i := t.Global(); i+3 < len(x) && i < len(y) && len(w) > 0 {
		y[i] = w[0][0]*x[i] + w[0][1]*x[i+1] + w[0][2]*x[i+2] + w[0][3]*x[i+3]
	}
}
