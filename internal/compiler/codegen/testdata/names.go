package codegen

import "quern.dev/kernel"

// Parameters may be named like registers, instructions and each other's parts.
//
//quern:kernel
func mov(t kernel.Thread, reg, entry, f1, rd1, WARP_SZ, π, quern_fault, quern_kernel, x_len float32, x []float32) {
	ld := [2]float32{reg, entry}
	x[t.Global()] = f1 + rd1 + WARP_SZ + π + quern_fault + quern_kernel + x_len + ld[t.ThreadIdx.X&1] // ptx:"st.global.f32"
}

// Shared variables and tables as well.
//
//quern:kernel block=32
func bar(t kernel.Thread, shared int32, x []int32) {
	reg := kernel.Shared[[32]int32](t)
	reg[t.ThreadIdx.X] = shared + local[t.ThreadIdx.X&3] // ptx:"st.shared" ptx:"ld.(global|const)"
	t.Sync()
	x[t.Global()] = reg[31-t.ThreadIdx.X] // ptx:"ld.shared"
}

var local = [4]int32{1, 2, 3, 4}
