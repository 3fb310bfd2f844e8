package codegen

import "quern.dev/kernel"

// A guarded access needs no check where the guard names the slice, and at most
// one unsigned comparison elsewhere.
//
// ptx:-"mul.lo.s64" ptx:-"mad.lo.s64" ptx:-"cvt.s64"
//
//quern:kernel
func saxpy(t kernel.Thread, a float32, x, y []float32) {
	if i := t.Global(); i < len(y) { // ptx:"mad.lo.s32" ptx:"setp.(lt|ge).(s|u)32"
		y[i] += a * x[i] // ptx:-"setp" ptx:-"bra" ptx:"ld.global.f32" ptx:"fma.rn.f32" ptx:"st.global.f32" ptx:"mul.wide.[su]32[^$]*add.u64" ptx:-"mad.wide" narrow:"setp.ge.u32" wide:"setp"
	}
}

// A loop with the grid's stride counts in 32 bits.
//
// ptx:-"add.s64" ptx:-"setp.[a-z]+.s64" wide:"s64"
//
//quern:kernel
func gridStride(t kernel.Thread, x []float32) {
	for i := t.Global(); i < len(x); i += t.Stride() { // ptx:"(add|mad.lo).s32" ptx:"setp.[a-z]+.[su]32"
		x[i] *= 2 // ptx:-"setp" ptx:"mul.wide.[su]32[^$]*add.u64" ptx:-"mad.wide"
	}
}

// Row and column of a picture: the index is computed in 32 bits.
//
// ptx:-"mul.lo.s64" ptx:-"mad.lo.s64"
//
//quern:kernel
func plane(t kernel.Thread, w, h int, in, out []float32) {
	x, y := t.Global2()
	if x < w && y < h { // ptx:"setp.[a-z]+.[su]32"
		out[y*w+x] = in[y*w+x] + 1 // ptx:"mad.lo.s32" narrow:"setp.ge.u32" narrow:-"setp.*64"
	}
}

// Checks that are left compare unsigned, so that one comparison finds both a
// negative index and one that is too large.
//
//quern:kernel
func gather(t kernel.Thread, index []int32, in, out []float32) {
	if i := t.Global(); i < len(index) && i < len(out) {
		out[i] = in[index[i]] // ptx:"setp.ge.u32" ptx:-"setp.*64" ptx:-"setp.lt"
	}
}

// An unchecked kernel has no checks of indices.
//
// ptx:-"setp.ge.u" ptx:-"setp.*64"
//
//quern:kernel unchecked
func unchecked(t kernel.Thread, index []int32, in, out []float32) {
	i := t.Global()
	out[i] = in[index[i]] // ptx:"ld.global.s32|ld.global.u32" ptx:"st.global.f32" ptx:-"setp"
}

// The same element of the same slice is checked once.
//
//quern:kernel
func once(t kernel.Thread, i int, x []int32) {
	x[i]++    // narrow:"(?s)setp.ge.u32.*ld.global" narrow:-"(?s)setp.ge.*setp.ge"
	x[i] *= 3 // narrow:-"setp.ge"
}

// A table of 256 indexed by a byte needs no check.
//
//quern:kernel block=256
func histogram(t kernel.Thread, in []uint8, out []uint32) {
	bins := kernel.Shared[[256]uint32](t)
	bins[t.ThreadIdx.X] = 0 // ptx:-"setp" ptx:"st.shared.u32"
	t.Sync()                // ptx:"bar.sync 0"
	for i := t.Global(); i < len(in); i += t.Stride() {
		kernel.AtomicAdd(&bins[in[i]], 1) // ptx:-"setp" ptx:"red.shared.add.u32|atom.shared.add.u32"
	}
	t.Sync()
	kernel.AtomicAdd(&out[t.ThreadIdx.X], bins[t.ThreadIdx.X]) // ptx:"red.global.add.u32"
}

// A clamped index is in range, and 32 bits are enough for it.
//
// ptx:"cvt.rzi.s32.f32" ptx:-"s64.f32|setp.num"
//
//quern:kernel
func clamped(t kernel.Thread, in [8]float32, out []float32) {
	i := t.Global()
	if i >= len(out) {
		return
	}
	k := min(max(int(out[i]), 0), 7)
	out[i] = in[k] // ptx:-"setp" ptx:"ld.param.f32|ld.local.f32"
}

var ringSteps = [3]int{0, 1, -1}

// ring reads neighbours on a ring. Steps are constants once the loop is
// unrolled, wrapping around leaves an index below w, and conditions that cannot
// hold are gone.
//
//quern:kernel
func ring(t kernel.Thread, w int, in, out []float32) { // proven:-"table" narrow:-"table"
	x := t.Global()
	if x >= w {
		return
	}
	sum := float32(0)
	for i := range 3 {
		from := x - ringSteps[i]
		if from < 0 {
			from += w
		}
		if from >= w {
			from -= w
		}
		sum += in[i*w+from] // proven:-"setp"
	}
	out[x] = sum
}

// Iterations that only read memory make their checks together, each kind once: two
// branches and that of the loop, in a batch of eight.
//
// narrow:"(ld.global.u32 (?s:.*)){9}\n\t@%p[0-9]+ bra \$L(?s:.*)(ld.global.f32 (?s:.*)){8}"
//
//quern:kernel
func gatherSum(t kernel.Thread, ends, at []int32, x, sums []float32) {
	if i := t.Global(); i < len(sums) {
		sum := float32(0)
		for j := ends[i]; j < ends[i+1]; j++ {
			sum += x[at[j]]
		}
		sums[i] = sum
	}
}
