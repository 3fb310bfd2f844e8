package conformance

import "quern.dev/kernel"

// Kernels whose rows of threads the CPU device runs together: through several blocks,
// for the range that passes conditions, in loops that keep values, and between clamped
// indices.

// inside has conditions that a range of a row passes, from both sides.
//
//quern:kernel
func inside(t kernel.Thread, w, h, low, high int, in, out []int32) {
	x, y := t.Global2()
	if x < 0 || x >= w || y >= h || !(low <= x) || x > high {
		return
	}
	out[y*w+x] = in[y*w+x]*3 + in[y*w+x-low]
}

// columnSums keeps a sum in a loop that all threads of a row run in lockstep, and uses an
// element that they share.
//
//quern:kernel
func columnSums(t kernel.Thread, w, h, from int, in, out []int32) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	sum, last := int32(y), int32(-1)
	for k := 3; k < from+y; k++ {
		v := in[(k-3)*w+x]
		if v > last {
			last = v
		}
		sum = sum*7 + v ^ in[k-3]
	}
	out[y*w+x] = sum - last
}

// nearest has a loop in lockstep within another one.
//
//quern:kernel block=32
func nearest(t kernel.Thread, n, centres, features int, in, out []int32) {
	i := t.Global()
	if i >= n {
		return
	}
	least, at := uint32(1<<32-1), int32(-1)
	for c := range centres {
		sum := uint32(0)
		for f := range features {
			d := in[f*n+i] - in[c*features+f]
			sum += uint32(d * d)
		}
		if sum < least {
			least, at = sum, int32(c)
		}
	}
	out[i] = at
}

// clamped has neighbours that are clamped to the image, in an order that matters if the
// clamps were missed.
//
//quern:kernel
func clamped(t kernel.Thread, w, h, reach int, in, out []int32) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	row := y * w
	west, east := max(x-reach, 0), min(x+reach, w-1)
	up := max(y-1, 0) * w
	out[row+x] = in[row+west]*5 + in[row+x]*3 - in[row+east] + in[up+min(max(x-1, 0), w-1)] + int32(west+2*east)
}

// relaxed takes steps between barriers in which a range of the block takes part. The
// variable that says so is used behind barriers and behind the loop.
//
//quern:kernel block=64
func relaxed(t kernel.Thread, n, steps int, in, out []int32) {
	now := kernel.Shared[[64]int32](t)
	next := kernel.Shared[[64]int32](t)
	tx := t.ThreadIdx.X
	x0 := t.BlockIdx.X*(64-2*steps) - steps
	x := x0 + tx
	exists := x >= 0 && x < n
	if exists {
		now[tx] = in[x]
	}
	t.Sync()
	left, right := max(tx-1, -x0), min(tx+1, n-1-x0)
	mine := exists && steps == 0
	for i := range steps {
		mine = exists && tx > i && tx < 63-i
		if mine {
			next[tx] = now[left]*3 + now[tx] ^ now[right]
		}
		t.Sync()
		if mine {
			now[tx] = next[tx]
		}
		t.Sync()
	}
	if mine {
		out[x] = now[tx]
	}
}

// halves adds rows up by halves: which rows take part is the same for a row of threads,
// and found by a division that fails if step is 0.
//
//quern:kernel block=8x16
func halves(t kernel.Thread, step int, in, out []int32) {
	m := kernel.Shared[[16][8]int32](t)
	tx, ty := t.ThreadIdx.X, t.ThreadIdx.Y
	m[ty][tx] = in[t.Global()%len(in)] + int32(ty)
	t.Sync()
	for half := 1; half < 16; half *= 2 {
		if ty%(step*half) == 0 && ty+half < 16 {
			m[ty][tx] += m[ty+half][tx]
		}
		t.Sync()
	}
	if ty == 0 {
		out[t.BlockIdx.X*8+tx] = m[0][tx]
	}
}

// strided has a loop with the grid's stride before a barrier.
//
//quern:kernel block=32
func strided(t kernel.Thread, n, step int, in, out []int32) {
	s := kernel.Shared[[32]int32](t)
	sum := int32(0)
	for i := t.Global(); i < n; i += step {
		sum = sum*3 + in[i]
		if in[i] < 0 {
			sum++
		}
	}
	s[t.ThreadIdx.X] = sum
	t.Sync()
	out[t.Global()] = s[31-t.ThreadIdx.X]
}

// beyond fails in the one thread whose index is at.
//
//quern:kernel
func beyond(t kernel.Thread, w, at int, in, out []int32) {
	x, y := t.Global2()
	i := y*w + x
	if x < w {
		v := in[i]
		if i == at {
			v = in[i+len(in)]
		}
		out[i] = v
	}
}
