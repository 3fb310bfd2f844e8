package conformance

import "quern.dev/kernel"

//quern:kernel block=64
func blockSum(t kernel.Thread, in []int32, out []int32) {
	partial := kernel.Shared[[64]int32](t)
	x := t.ThreadIdx.X
	v := int32(0)
	if i := t.Global(); i < len(in) {
		v = in[i]
	}
	partial[x] = v
	t.Sync()
	for s := t.BlockDim.X / 2; s > 0; s /= 2 {
		if x < s {
			partial[x] += partial[x+s]
		}
		t.Sync()
	}
	if x == 0 {
		out[t.BlockIdx.X] = partial[0]
	}
}

//quern:kernel block=16x16
func transposeTile(t kernel.Thread, w, h int, in, out []float32) {
	tile := kernel.Shared[[16][17]float32](t)
	x, y := t.Global2()
	if x < w && y < h {
		tile[t.ThreadIdx.Y][t.ThreadIdx.X] = in[y*w+x]
	}
	t.Sync()
	x = t.BlockIdx.Y*16 + t.ThreadIdx.X
	y = t.BlockIdx.X*16 + t.ThreadIdx.Y
	if x < h && y < w {
		out[y*h+x] = tile[t.ThreadIdx.X][t.ThreadIdx.Y]
	}
}

//quern:kernel block=8x8
func matmulTile(t kernel.Thread, n int, a, b, c []float32) {
	as := kernel.Shared[[8][8]float32](t)
	bs := kernel.Shared[[8][8]float32](t)
	tx, ty := t.ThreadIdx.X, t.ThreadIdx.Y
	col, row := t.Global2()
	sum := float32(0)
	for k := 0; k < n; k += 8 {
		as[ty][tx], bs[ty][tx] = 0, 0
		if row < n && k+tx < n {
			as[ty][tx] = a[row*n+k+tx]
		}
		if col < n && k+ty < n {
			bs[ty][tx] = b[(k+ty)*n+col]
		}
		t.Sync()
		for i := range 8 {
			sum += as[ty][i] * bs[i][tx]
		}
		t.Sync()
	}
	if row < n && col < n {
		c[row*n+col] = sum
	}
}

// barrierInCall waits at barriers inside a function, under uniform control flow, with
// variables that are live across the barriers.
//
//quern:kernel block=32
func barrierInCall(t kernel.Thread, rounds int, in []int32, out []int32) {
	line := kernel.Shared[[32]int32](t)
	x := t.ThreadIdx.X
	i := t.Global()
	mine := int32(0)
	if i < len(in) {
		mine = in[i]
	}
	var history [4]int32
	for r := range rounds {
		mine = mine*3 + rotate(t, line, mine, r+1)
		history[r&3] = mine
		if t.BlockIdx.X&1 == 1 {
			line[x] = mine
			t.Sync()
			mine += line[31-x]
			t.Sync()
		}
	}
	if i < len(out) {
		out[i] = mine + history[1] - history[2]
	}
}

// rotate returns the value of the thread `by` positions further on.
func rotate(t kernel.Thread, line *[32]int32, v int32, by int) int32 {
	line[t.ThreadIdx.X] = v
	t.Sync()
	w := line[(t.ThreadIdx.X+by)%32]
	t.Sync()
	return w
}

// blockMax returns the maximum of v over the block. Each call has its own shared
// variables.
func blockMax(t kernel.Thread, v int32) int32 {
	s := kernel.Shared[[32]int32](t)
	s[t.ThreadIdx.X] = v
	t.Sync()
	m := s[0]
	for k := 1; k < 32; k++ {
		m = max(m, s[k])
	}
	return m
}

//quern:kernel block=32
func sharedInCall(t kernel.Thread, in []int32, out []int32) {
	i := t.Global()
	v := int32(-1 << 31)
	if i < len(in) {
		v = in[i]
	}
	a := blockMax(t, v)
	b := blockMax(t, ^v)
	if i < len(out) {
		out[i] = a - b
	}
}

//quern:kernel
func histogram(t kernel.Thread, in []uint8, counts []uint32) {
	local := kernel.Shared[[256]uint32](t)
	for i := t.ThreadIdx.X; i < 256; i += t.BlockDim.X {
		local[i] = 0
	}
	t.Sync()
	for i := t.Global(); i < len(in); i += t.Stride() {
		kernel.AtomicAdd(&local[in[i]], 1)
	}
	t.Sync()
	for i := t.ThreadIdx.X; i < 256; i += t.BlockDim.X {
		if n := local[i]; n > 0 {
			kernel.AtomicAdd(&counts[i], n)
		}
	}
}

//quern:kernel
func atomics(t kernel.Thread, in []int32, i32 []int32, u32 []uint32, i64 []int64, u64 []uint64, f32 []float32, f64 []float64) {
	i := t.Global()
	if i >= len(in) {
		return
	}
	v := in[i]
	kernel.AtomicAdd(&i32[0], v)
	kernel.AtomicMin(&i32[1], v)
	kernel.AtomicMax(&i32[2], v)
	kernel.AtomicSub(&i32[3], v)
	kernel.AtomicAnd(&i32[4], v)
	kernel.AtomicOr(&i32[5], v)
	kernel.AtomicXor(&i32[6], v)
	kernel.AtomicAdd(&u32[0], uint32(v))
	kernel.AtomicMin(&u32[1], uint32(v))
	kernel.AtomicMax(&u32[2], uint32(v))
	kernel.AtomicAdd(&i64[0], int64(v)*int64(v))
	kernel.AtomicMin(&i64[1], int64(v)<<20)
	kernel.AtomicMax(&i64[2], int64(v)<<20)
	kernel.AtomicAdd(&u64[0], uint64(v))
	kernel.AtomicMin(&u64[1], uint64(v))
	kernel.AtomicMax(&u64[2], uint64(v))
	kernel.AtomicAdd(&f32[0], float32(v&7))
	kernel.AtomicAdd(&f64[0], float64(v&1023))
	// The old values of an exchange are a permutation, so their sum is known.
	old := kernel.AtomicExchange(&i32[7], int32(i))
	kernel.AtomicAdd(&i64[3], int64(old))
	// A lock-free maximum of a function of v.
	want := uint32(v)*2654435761 ^ uint32(i)
	for seen := kernel.AtomicOr(&u32[3], 0); seen < want; {
		was := kernel.AtomicCompareAndSwap(&u32[3], seen, want)
		if was == seen {
			break
		}
		seen = was
	}
}
