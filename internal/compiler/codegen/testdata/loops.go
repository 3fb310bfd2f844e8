package codegen

import "quern.dev/kernel"

type mote struct{ X, Y, Z, V, W, Age, Mass, Pad float32 }

// What the thread has written is not read again, so that writes of neighbours are one access.
//
// ptx:-"ld.global[^$]*ld.global[^$]*ld.global" ptx:"st.global.v4.f32" coarse:-""
//
//quern:kernel
func motes(t kernel.Thread, dt float32, p []mote) {
	if i := t.Global(); i < len(p) {
		p[i].V += dt * p[i].Mass
		p[i].X += dt * p[i].V
		p[i].W += dt * p[i].V
		p[i].Y += dt * p[i].W
		p[i].Z += dt * p[i].X
	}
}

// A division of invariants stands in front of the loop, behind the test whether it runs.
//
// ptx:"bra .L[0-9]*;[^$]*div.rn.f32"
//
//quern:kernel
func relax(t kernel.Thread, n int, h float32, x []float32) {
	if i := t.Global(); i < len(x) {
		v := x[i]
		for range n {
			v += h / 6 * v // ptx:-"div" ptx:"fma"
		}
		x[i] = v
	}
}

// Addresses that only some iterations use, but which do not change, are computed before the
// loop.
//
//quern:kernel block=16x16 unchecked
func diffuse(t kernel.Thread, n int, x, out []float32) {
	tile := kernel.Shared[[16][16]float32](t)
	tx, ty := t.ThreadIdx.X, t.ThreadIdx.Y
	tile[ty][tx] = x[ty*16+tx]
	t.Sync()
	west := max(tx-1, 0)
	v := float32(0)
	for i := range n {
		if tx > i {
			v += tile[ty][west] // ptx:-"mad" ptx:-"mul" ptx:"ld.shared.f32"
			v *= tile[west][ty] // ptx:-"mad" ptx:-"mul.lo" ptx:"ld.shared.f32"
		}
	}
	out[ty*16+tx] = v
}

// The address of an element is that of the one before plus a row.
//
//quern:kernel unchecked
func column(t kernel.Thread, n, d int, x, out []float32) {
	if i := t.Global(); i < n {
		sum := float32(0)
		for f := range d {
			sum += x[f*n+i] // ptx:-"mad.lo[^$]*mad.lo[^$]*mad.lo[^$]*mad.lo" ptx:"mul.wide.s32"
		}
		out[i] = sum
	}
}

// The power of two is the hardware's, and nothing branches.
//
//quern:kernel
func exponential(t kernel.Thread, x []float32) {
	if i := t.Global(); i < len(x) {
		x[i] = kernel.Exp(x[i]) // ptx:"ex2.approx.ftz.f32" ptx:-"bra"
	}
}

// Elements that are a number of rows apart are computed from one address, and what is added to
// a thread's number does not hide that.
//
//quern:kernel block=256 unchecked
func tiles(t kernel.Thread, n int, x, out []float32) {
	tile := kernel.Shared[[16][64]float32](t)
	for k := 0; k < n; k += 16 {
		for j := range 4 {
			e := t.ThreadIdx.X + 256*j
			tile[e/64][e%64] = x[(k+e/64)*n+e%64] // ptx:"mul.lo.s32 %r[0-9]*, %r[0-9]*, 4;" ptx:-"add.s32 %r[0-9]*, %r[0-9]*, (256|512|768);" ptx:"st.shared.f32 .%r[0-9]*.1024."
		}
		t.Sync()
		out[t.Global()] += tile[k%16][t.ThreadIdx.X%64]
		t.Sync()
	}
}

// The reads of several iterations come before what these write. A bound in memory is read once.
//
//quern:kernel unchecked
func scatter(t kernel.Thread, ends, at, of []int32, out []uint32) {
	i := t.Global()
	for e := ends[i]; e < ends[i+1]; e++ {
		if of[at[e]] > 0 { // ptx:"ld.global[^$]*ld.global[^$]*ld.global[^$]*ld.global[^$]*ld.global[^$]*ld.global[^$]*ld.global[^$]*ld.global"
			kernel.AtomicAdd(&out[at[e]], 1)
		}
	}
}

// The product wraps to negative numbers, so the remainder is that of signed numbers.
//
//quern:kernel
func wrapping(t kernel.Thread, n int, out []int64) {
	v := int32(3)
	for range n {
		out[0] += int64(v) % (int64(v) | 1) // ptx:"rem.s64" ptx:-"rem.u64"
		v *= 2147483646
	}
}

// A remainder that is its dividend still reads its divisor.
//
//quern:kernel
func checkedDivisors(t kernel.Thread, x []uint64, out []uint64) {
	sum := uint64(0)
	for i := range 3 {
		for j := range 4 {
			sum += uint64(j) % max(x[i], 1) // wide:"setp.ge.u64"
		}
	}
	out[0] = sum
}
