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
