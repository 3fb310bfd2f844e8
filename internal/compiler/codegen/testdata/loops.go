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

// A loop that counts down to 0 runs in batches whose counter is a multiple of their size: the
// buffer of each step is known.
//
//quern:kernel block=32 unchecked
func countdown(t kernel.Thread, n int, x []float32) {
	buffers := kernel.Shared[[2][33]float32](t)
	tx := t.ThreadIdx.X
	v := x[tx]
	for left := n; left > 0; left-- {
		buffer := &buffers[left&1] // ptx:"and.b32" ptx:-"and.b32[^$]*and.b32[^$]*and.b32"
		buffer[tx] = v             // ptx:"(st.shared.f32[^$]*){5}" ptx:-"(st.shared.f32[^$]*){6}"
		t.Sync()
		v += buffer[tx+1]
	}
	x[tx] = v
}

// Two iterations of a long loop run at a time.
//
//quern:kernel unchecked
func orbit(t kernel.Thread, n int, h, a, b, c float64, x []float64) {
	i := t.Global()
	u, v, w := x[3*i], x[3*i+1], x[3*i+2]
	for range n {
		for range 3 {
			p, q, r := a*(v-u), u*(b-w)-v, u*v-c*w
			d, e, f := a*(v+h*q-u-h*p), (u+h*p)*(b-w-h*r)-v-h*q, (u+h*p)*(v+h*q)-c*(w+h*r)
			u += h / 2 * (p + d)
			v += h / 2 * (q + e)
			w += h / 2 * (r + f) // ptx:"(?s)add.f64.*add.f64|(?s)fma.rn.f64.*fma.rn.f64"
		}
	}
	x[3*i], x[3*i+1], x[3*i+2] = u, v, w
}

// An address that several ifs of an iteration need is computed once, at its start.
// The last loop has a single if.
//
//quern:kernel block=32 unchecked
func pairs(t kernel.Thread, n int, x, out []uint8) {
	best := kernel.Shared[[32][132]uint8](t)
	tx := t.ThreadIdx.X
	for i := range 132 {
		best[tx][i] = x[i]
	}
	t.Sync()
	most := uint8(0)
	for k := tx; k < n; k++ {
		if x[k] == 'A' {
			most = max(most, best[k+1][tx]) // ptx:"(ld.shared.u8[^@]*){8}" ptx:-"mad.lo.u32[^@]*mad.lo.u32"
		}
	}
	out[tx] = most
}
