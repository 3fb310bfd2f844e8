package codegen

import "quern.dev/kernel"

// Scopes, orders and the instructions of clocks.
//
// ptx:"mov.u64 %rd[0-9]+, %clock64"
//
//quern:kernel
func orders(t kernel.Thread, x []int32, f []float32, now []int64) {
	kernel.AtomicAdd(&x[0], 1, kernel.BlockScope)              // ptx:"red.cta.global.add.[su]32"
	x[1] = kernel.AtomicExchange(&x[2], 5, kernel.SystemScope) // ptx:"atom.sys.global.exch.b32"
	kernel.AtomicMin(&f[0], 1.5)                               // ptx:"red.global.min.s32" ptx:"red.global.max.u32"
	x[3] = kernel.LoadAcquire(&x[4])                           // ptx:"ld.acquire.gpu.global"
	kernel.StoreRelease(&x[5], 1, kernel.BlockScope)           // ptx:"st.release.cta.global"
	kernel.Fence(kernel.SystemScope)                           // ptx:"membar.sys"
	now[0] = kernel.Clock()
}

// A copy of the size of its element needs no check of the address; copies of 16 bytes
// bypass the first-level cache.
//
// ptx:"cp.async.ca.shared.global" ptx:"cp.async.cg.shared.global" ptx:"cp.async.wait_group 1"
//
//quern:kernel block=64
func copies(t kernel.Thread, x []float32, out []float32) {
	s := kernel.Shared[[2][256]float32](t)
	i := t.ThreadIdx.X
	kernel.AsyncCopy(t, &s[0][i], &x[i])
	kernel.AsyncCopy(t, (*[4]float32)(s[1][4*i:]), (*[4]float32)(x[4*i:]))
	kernel.AsyncCommit(t)
	kernel.AsyncWait(t, 1)
	t.Sync()
	out[i] = s[0][i] + s[1][i]
}
