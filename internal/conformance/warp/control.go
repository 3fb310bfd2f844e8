package warp

import "quern.dev/kernel"

// A block of up to 1024 threads has at most maxWarps warps.
const maxWarps = 32

// total returns the sum of v over the block, in thread 0.
func total[T kernel.Number](t kernel.Thread, v T) T {
	partial := kernel.Shared[[maxWarps]T](t)
	v = kernel.WarpReduceAdd(t, v)
	if t.Lane() == 0 {
		partial[t.Warp()] = v
	}
	t.Sync()
	warps := (t.BlockDim.X*t.BlockDim.Y*t.BlockDim.Z + 31) / 32
	if t.Warp() == 0 {
		var w T
		for i := t.Lane(); i < warps; i += 32 {
			w = partial[i]
		}
		v = kernel.WarpReduceAdd(t, w)
	}
	t.Sync()
	return v
}

//quern:kernel
func reduceFloat32(t kernel.Thread, in, out []float32) {
	if v := total(t, in[linear(t)]); t.ThreadIdx.X == 0 && t.ThreadIdx.Y == 0 && t.ThreadIdx.Z == 0 {
		out[t.BlockIdx.X] = v
	}
}

//quern:kernel block=256
func reduceInt64(t kernel.Thread, in, out []int64) {
	var sum int64
	for i := t.Global(); i < len(in); i += t.Stride() {
		sum += in[i]
	}
	if v := total(t, sum); t.ThreadIdx.X == 0 {
		out[t.BlockIdx.X] = v
	}
}

// tree reduces with a loop of shuffles.
//
//quern:kernel
func tree(t kernel.Thread, in, out []int32) {
	i := linear(t)
	v := in[i]
	for d := 16; d > 0; d /= 2 {
		v += kernel.ShuffleDown(t, v, d)
	}
	out[i] = v
}

// scanBlock computes the exclusive prefix sum of a block.
//
//quern:kernel
func scanBlock(t kernel.Thread, in, out []uint32) {
	sums := kernel.Shared[[maxWarps]uint32](t)
	i := linear(t)
	v := in[i]
	inclusive := kernel.WarpScanAdd(t, v)
	if t.Lane() == 31 {
		sums[t.Warp()] = inclusive
	}
	t.Sync()
	if t.Warp() == 0 {
		s := kernel.WarpScanExclusiveAdd(t, sums[t.Lane()])
		t.SyncWarp()
		sums[t.Lane()] = s
	}
	t.Sync()
	out[i] = sums[t.Warp()] + inclusive - v
}

// rounds lets each warp do a different number of rounds of different work.
//
//quern:kernel
func rounds(t kernel.Thread, in, out []int32) {
	i := linear(t)
	v := in[i]
	for r := 0; r < t.Warp()+2; r++ {
		if t.Warp()%2 == 0 {
			v += kernel.ShuffleXor(t, v, r+1)
			continue
		}
		if kernel.All(t, v > 1<<20) {
			break
		}
		switch kernel.Ballot(t, v%2 == 0) % 3 {
		case 0:
			v = kernel.WarpScanAdd(t, v)
		case 1:
			v -= kernel.Shuffle(t, v, r)
		default:
			v++
		}
	}
	out[i] = v
}

// leave has whole warps return, and then single threads.
//
//quern:kernel
func leave(t kernel.Thread, in, out []int32) {
	i := linear(t)
	if t.Warp() == 1 {
		return
	}
	v := kernel.WarpReduceMax(t, in[i])
	if v < 0 {
		return
	}
	v = kernel.ShuffleUp(t, v+int32(t.Lane()), 1)
	if t.Lane()%3 == 0 {
		return
	}
	out[i] = v
}

// inside has threads leave a construct one by one after its last operation.
//
//quern:kernel
func inside(t kernel.Thread, in, out []int32) {
	i := linear(t)
	v := in[i]
	for r := range 3 {
		if t.Warp() == r {
			v = kernel.WarpReduceXor(t, v)
			if t.Lane() < 5 {
				continue
			}
			v += 7
		}
		v ^= int32(r)
	}
	t.Sync()
	if t.Warp() != 2 {
		v = kernel.WarpReduceMin(t, v)
		if in[i] > 3 {
			out[i] = -v
			return
		}
		v *= 3
	}
	out[i] = v
}

// distribute loops over the lanes that have work. The whole warp then does the work of
// each.
//
//quern:kernel
func distribute(t kernel.Thread, in, out []int32) {
	i := linear(t)
	var sum int32
	for left := kernel.Ballot(t, in[i]%3 == 0); left != 0; left &= left - 1 {
		lane := 0
		for left>>lane&1 == 0 {
			lane++
		}
		job := kernel.Shuffle(t, in[i], lane)
		sum += kernel.WarpReduceAdd(t, job^int32(t.Lane()))
	}
	out[i] = sum
}

// aggregate counts with one atomic operation per warp.
//
//quern:kernel
func aggregate(t kernel.Thread, in []int32, count []int32, out []int32) {
	i := linear(t)
	mask := kernel.Ballot(t, in[i] > 0)
	n := int32(0)
	for m := mask; m != 0; m &= m - 1 {
		n++
	}
	if t.Lane() == 0 {
		kernel.AtomicAdd(&count[0], n)
	}
	out[i] = kernel.Shuffle(t, n, 0)
}

// phases has warp operations between barriers, in a loop that is uniform for the block.
//
//quern:kernel
func phases(t kernel.Thread, n int, in, out []int32) {
	tile := kernel.Shared[[1024]int32](t)
	i := linear(t)
	me := i % (t.BlockDim.X * t.BlockDim.Y * t.BlockDim.Z)
	v := in[i]
	for r := range n {
		tile[me] = v
		t.Sync()
		other := tile[(me+r+1)%(t.BlockDim.X*t.BlockDim.Y*t.BlockDim.Z)]
		if r%2 == 0 {
			other = kernel.ShuffleDown(t, other, r)
		}
		t.Sync()
		if t.Warp() >= r {
			v += kernel.WarpReduceMax(t, other) - kernel.Shuffle(t, v, r)
		}
		v ^= other
	}
	out[i] = v
}

// neighbours has lanes pass values on through shared memory.
//
//quern:kernel
func neighbours(t kernel.Thread, in, out []int32) {
	tile := kernel.Shared[[1024]int32](t)
	i := linear(t)
	me := i % (t.BlockDim.X * t.BlockDim.Y * t.BlockDim.Z)
	tile[me] = in[i]
	t.SyncWarp()
	v := int32(-1)
	if me^1 < t.BlockDim.X*t.BlockDim.Y*t.BlockDim.Z {
		v = tile[me^1]
	}
	t.SyncWarp()
	tile[me] = v * 2
	t.SyncWarp()
	if t.Lane() == 0 {
		for k := me; k < me+32 && k < t.BlockDim.X*t.BlockDim.Y*t.BlockDim.Z; k++ {
			out[i] += tile[k]
		}
	}
}

type counter struct{ up, down int32 }

// add is a method that all lanes of a warp call together.
func (c *counter) add(t kernel.Thread, v int32) bool {
	c.up += kernel.WarpReduceAdd(t, max(v, 0))
	c.down += kernel.WarpReduceAdd(t, min(v, 0))
	return kernel.Any(t, c.up+c.down > int32(t.Lane()))
}

//quern:kernel
func methods(t kernel.Thread, in, out []int32) {
	i := linear(t)
	var c counter
	n := int32(0)
	for c.add(t, in[i]) && n < 5 {
		n++
	}
	out[i] = c.up - c.down + n
}

// pick executes one of several operations, and returns from the middle.
func pick(t kernel.Thread, v int32, mode int) int32 {
	switch mode {
	case 0:
		return kernel.ShuffleXor(t, v, 1)
	case 1:
		for i := range 3 {
			v += kernel.ShuffleUp(t, v, i)
			if kernel.All(t, v%2 == 0) {
				return v + 1
			}
		}
		return v
	}
	twice := func(x int32) int32 { return 2 * kernel.WarpReduceMin(t, x) }
	return twice(v) + twice(-v)
}

// tangled has warp operations in nested labeled loops, on array elements and through
// pointers.
//
//quern:kernel
func tangled(t kernel.Thread, n int, in, out []int32) {
	i := linear(t)
	v := in[i] % 100
	var kept [4]int32
	var sums struct{ last, all int32 }
	p := &sums
outer:
	for w := t.Warp(); w < n; w += 2 {
		for j := range 4 {
			if (w+j)%5 == 4 {
				continue outer
			}
			kept[j] += pick(t, v+int32(j), (w+j)%3)
			if kernel.Any(t, kept[j] > 500) {
				kept[j] /= 3
				break
			}
		}
		p.last = pick(t, kept[t.Lane()%4], w%3)
		p.all += kernel.WarpScanAdd(t, p.last)
		if w == 3 && kernel.Ballot(t, v > 0) != 0 {
			v, p.last = p.last%50, v
		}
		if w > 4 {
			if t.Lane() > 7 {
				continue
			}
			v++
		}
	}
	for _, k := range kept {
		v = v*31 + k
	}
	out[i] = v ^ sums.all
}
