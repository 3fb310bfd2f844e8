package conformance

import "quern.dev/kernel"

// Kernels whose blocks have a declared shape, with loops that a row of threads executes in
// lockstep, and with accesses to adjacent elements. The CPU device interchanges their
// loops and takes windows of slices and shared memory.

//quern:kernel block=16x4
func columnTiles(t kernel.Thread, w, h int, in, out []int32) {
	tile := kernel.Shared[[24][16]int32](t)
	top := t.BlockIdx.Y * 16
	x := t.BlockIdx.X*16 + t.ThreadIdx.X
	if x < w {
		for k := t.ThreadIdx.Y; k < 24; k += 4 {
			tile[k][t.ThreadIdx.X] = in[kernel.Clamp(top+k-4, 0, h-1)*w+x]
		}
	}
	t.Sync()
	if x < w {
		for k := t.ThreadIdx.Y; k < 16 && top+k < h; k += 4 {
			centre := k + 4
			sum := int32(0)
			for j := -4; j <= 4; j++ {
				sum = sum*3 + tile[centre+j][t.ThreadIdx.X]
			}
			if sum&1 == 0 {
				sum += int32(k)
			}
			out[(top+k)*w+x] = sum
		}
	}
}

// rowTiles shifts its window by a run-time offset, so that the window may leave the tile.
//
//quern:kernel block=32
func rowTiles(t kernel.Thread, shift int, in, out []int32) {
	line := kernel.Shared[[40]int32](t)
	i := t.Global()
	for k := t.ThreadIdx.X; k < 40; k += 32 {
		line[k] = in[min(t.BlockIdx.X*32+k, len(in)-1)]
	}
	t.Sync()
	if i < len(out) {
		out[i] = line[t.ThreadIdx.X+shift] - 2*line[t.ThreadIdx.X+4] + line[t.ThreadIdx.X]
	}
}

// runningRows carries a value from one iteration to the next in one loop but not in the
// other. The inner loop has a break.
//
//quern:kernel block=8x8
func runningRows(t kernel.Thread, w, h int, in, out []int32) {
	s := kernel.Shared[[8][8]int32](t)
	x := t.BlockIdx.X*8 + t.ThreadIdx.X
	mine := int32(0)
	if x < w {
		for y := t.ThreadIdx.Y; y < h; y += 8 {
			mine = mine*7 + in[y*w+x]
			out[y*w+x] = mine
		}
	}
	s[t.ThreadIdx.Y][t.ThreadIdx.X] = mine
	t.Sync()
	if x < w {
		for y := t.ThreadIdx.Y; y < h; y += 8 {
			v := out[y*w+x]
			for k := range 8 {
				v ^= s[(y+k)%8][t.ThreadIdx.X]
				if v < 0 {
					break
				}
			}
			out[y*w+x] = v
		}
	}
}

// A part of the threads, or all of them in some launches, return before the last statement.

//quern:kernel
func returnsInSomeLaunches(t kernel.Thread, on bool, in, out []int32) {
	i := t.Global()
	if i >= len(out) {
		return
	}
	if !on {
		out[i] = in[i]
		return
	}
	out[i] = 3*in[i] + 1
}

//quern:kernel
func returnsAtTheEdge(t kernel.Thread, in, out []int32) {
	i := t.Global()
	if i >= len(out) {
		return
	}
	if i < 1 {
		out[i] = in[i]
		return
	}
	out[i] = in[i] - in[i-1]
}

//quern:kernel
func returnsAtTheBorder(t kernel.Thread, w, h int, in, out []int32) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	i := y*w + x
	if y == 0 || y == h-1 {
		out[i] = -in[i]
		return
	}
	for k := range 3 {
		if x < k {
			out[i] = int32(k)
			return
		}
	}
	out[i] = in[i-w] + in[i+w]
}
