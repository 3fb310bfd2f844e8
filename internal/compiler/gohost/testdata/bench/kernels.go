// Kernels that the benchmarks of package gohost compare with Go written by hand.
package main

import "quern.dev/kernel"

//quern:kernel
func saxpy(t kernel.Thread, a float32, x, y []float32) {
	if i := t.Global(); i < len(y) {
		y[i] += a * x[i]
	}
}

//quern:kernel
func blurRows(t kernel.Thread, w, h int, weights, in, out []float32) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	radius := len(weights) / 2
	var sum float32
	for k := range weights {
		sum += weights[k] * in[y*w+min(max(x+k-radius, 0), w-1)]
	}
	out[y*w+x] = sum
}

//quern:kernel
func blurColumns(t kernel.Thread, w, h int, weights, in, out []float32) {
	x, y := t.Global2()
	if x >= w || y >= h {
		return
	}
	radius := len(weights) / 2
	var sum float32
	for k := range weights {
		sum += weights[k] * in[min(max(y+k-radius, 0), h-1)*w+x]
	}
	out[y*w+x] = sum
}

//quern:kernel
func matmul(t kernel.Thread, n int, a, b, c []float32) {
	as := kernel.Shared[[16][16]float32](t)
	bs := kernel.Shared[[16][16]float32](t)
	tx, ty := t.ThreadIdx.X, t.ThreadIdx.Y
	row, col := t.BlockIdx.Y*16+ty, t.BlockIdx.X*16+tx
	var acc float32
	for k0 := 0; k0 < n; k0 += 16 {
		as[ty][tx], bs[ty][tx] = 0, 0
		if row < n && k0+tx < n {
			as[ty][tx] = a[row*n+k0+tx]
		}
		if col < n && k0+ty < n {
			bs[ty][tx] = b[(k0+ty)*n+col]
		}
		t.Sync()
		for k := range 16 {
			acc += as[ty][k] * bs[k][tx]
		}
		t.Sync()
	}
	if row < n && col < n {
		c[row*n+col] = acc
	}
}

// orbits moves points that a mass in the origin attracts. Each iteration needs a root.
//
//quern:kernel
func orbits(t kernel.Thread, dt float32, x, y, vx, vy []float32) {
	i := t.Global()
	if i >= len(x) {
		return
	}
	px, py := x[i], y[i]
	r := kernel.Sqrt(px*px + py*py + 0.1)
	pull := -dt / (r * r * r)
	u, v := vx[i]+pull*px, vy[i]+pull*py
	vx[i], vy[i] = u, v
	x[i], y[i] = px+dt*u, py+dt*v
}

// editDistance compares a block's pair of words of 64 letters along diagonals.
//
//quern:kernel block=64
func editDistance(t kernel.Thread, a, b []uint8, distances []int32) {
	cost := kernel.Shared[[65][65]int32](t)
	tx := t.ThreadIdx.X
	cost[0][tx+1], cost[tx+1][0] = int32(tx+1), int32(tx+1)
	if tx == 0 {
		cost[0][0] = 0
	}
	letter := a[t.BlockIdx.X*64+tx]
	t.Sync()
	for d := range 127 {
		if y := d - tx; y >= 0 && y < 64 {
			change := cost[y][tx]
			if b[t.BlockIdx.X*64+y] != letter {
				change++
			}
			cost[y+1][tx+1] = min(change, cost[y+1][tx]+1, cost[y][tx+1]+1)
		}
		t.Sync()
	}
	if tx == 63 {
		distances[t.BlockIdx.X] = cost[64][64]
	}
}

// weighted adds up the rows of a matrix in tiles of its columns.
//
//quern:kernel block=128
func weighted(t kernel.Thread, columns int, matrix, sums []float32) {
	tile := kernel.Shared[[128]float32](t)
	row := t.BlockIdx.X * columns
	sum := float32(0)
	for left := 0; left < columns; left += 128 {
		column := left + t.ThreadIdx.X
		tile[t.ThreadIdx.X] = matrix[row+column]
		t.Sync()
		sum += float32(column) * tile[(t.ThreadIdx.X+1)%128]
		t.Sync()
	}
	sums[t.Global()] = sum
}

// rings reads each element's neighbor in rings of n elements.
//
//quern:kernel
func rings(t kernel.Thread, n int, in, out []float32) {
	i := t.Global()
	if i >= len(out) {
		return
	}
	out[i] = in[i/n*n+(i+1)%n]
}
