package codegen

import "quern.dev/kernel"

type ray struct {
	Origin, Direction [3]float32
	Hits              int32
}

func (r *ray) advance(d float32) {
	for i := range 3 {
		r.Origin[i] += d * r.Direction[i]
	}
	r.Hits++
}

// Structs, small arrays and pointers to them become registers.
//
// ptx:-"local" ptx:-"cvta.local"
//
//quern:kernel
func structs(t kernel.Thread, d float32, rays []ray) {
	i := t.Global()
	if i >= len(rays) {
		return
	}
	r := rays[i] // ptx:"ld.global.f32"
	r.advance(d)
	p := &r
	p.advance(2 * d)
	rays[i] = r // ptx:"st.global.f32" ptx:-"setp"
}

// An array that is indexed by a variable lives in local memory, and its own
// checks compare with its constant length.
//
// ptx:".local"
//
//quern:kernel
func dynamic(t kernel.Thread, n int, x []int32) {
	var a [16]int32
	for i := range a {
		a[i] = x[i]
	}
	x[0] = a[n]    // ptx:"ld.local" narrow:"setp.ge.u(32|64) %p\d+, %rd?\d+, 16"
	x[1] = a[n&15] // ptx:"ld.local" ptx:-"setp.ge.u(32|64) %p\d+, %rd?\d+, 16"
}

// A parameter that the kernel changes is the thread's own copy.
//
//quern:kernel
func parameters(t kernel.Thread, r ray, n int, x []float32) {
	r.Hits += 2
	r.Origin[1] = float32(r.Hits)
	n++
	x[0] = r.Origin[0] + r.Origin[1] + float32(n) // ptx:"st.global.f32"
}

// Shuffled control flow: what cannot be reached is not there.
//
// ptx:-"panic" ptx:-"mul.lo"
//
//quern:kernel
func dead(t kernel.Thread, x []int32) {
	const level = 3
	if level > 4 {
		x[0] *= 3
	}
	for i := range 0 {
		x[i] *= 5
	}
}

// The atomic whose old value is not used is a reduction.
//
//quern:kernel
func atomics(t kernel.Thread, x []int32, f []float32, u []uint64) {
	kernel.AtomicAdd(&x[0], 1)        // ptx:"red.global.add.[su]32"
	x[1] = kernel.AtomicMax(&x[2], 5) // ptx:"atom.global.max.s32"
	kernel.AtomicAdd(&f[0], 1)        // ptx:"red.global.add.f32"
	kernel.AtomicOr(&u[0], 1<<40)     // ptx:"red.global.or.b64"
	kernel.Fence()                    // ptx:"membar.gl"
}
