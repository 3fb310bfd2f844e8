package main

import (
	"runtime"
	"sync"

	"quern.dev/bench/kernels"
)

// The kernels as a Go programmer writes them without Quern: loops over parts of the data,
// with one goroutine per core.

// parallel splits [0, n) into one part per core and calls f for each part concurrently.
func parallel(n int, f func(lo, hi int)) {
	workers := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { f(w*n/workers, (w+1)*n/workers) })
	}
	wg.Wait()
}

func saxpy(a float32, x, y []float32) {
	parallel(len(y), func(lo, hi int) {
		x, y := x[lo:hi], y[lo:hi]
		for i, v := range x {
			y[i] += a * v
		}
	})
}

// The blurs make one pass over the row per pair of weights. This keeps the inner loops
// free of bounds checks and is twice as fast as a loop over the weights per pixel.

func blurRows(weights *kernels.Weights, w, h int, in, out []float32) {
	parallel(h, func(lo, hi int) {
		padded := make([]float32, w+2*kernels.Radius)
		for y := lo; y < hi; y++ {
			row := in[y*w : (y+1)*w]
			copy(padded[kernels.Radius:], row)
			for k := range kernels.Radius {
				padded[k] = row[0]
				padded[w+kernels.Radius+k] = row[w-1]
			}
			sums := out[y*w : (y+1)*w]
			scale(weights[0], row, sums)
			for k := 1; k <= kernels.Radius; k++ {
				addScaled(weights[k], padded[kernels.Radius-k:], padded[kernels.Radius+k:], sums)
			}
		}
	})
}

func blurColumns(weights *kernels.Weights, w, h int, in, out []float32) {
	row := func(y int) []float32 {
		y = min(max(y, 0), h-1)
		return in[y*w : (y+1)*w]
	}
	parallel(h, func(lo, hi int) {
		for y := lo; y < hi; y++ {
			sums := out[y*w : (y+1)*w]
			scale(weights[0], row(y), sums)
			for k := 1; k <= kernels.Radius; k++ {
				addScaled(weights[k], row(y-k), row(y+k), sums)
			}
		}
	})
}

// scale sets sums to f*in.
func scale(f float32, in, sums []float32) {
	in = in[:len(sums)]
	for x := range sums {
		sums[x] = f * in[x]
	}
}

// addScaled adds f*(a+b) to sums.
func addScaled(f float32, a, b, sums []float32) {
	a, b = a[:len(sums)], b[:len(sums)]
	for x := range sums {
		sums[x] += f * (a[x] + b[x])
	}
}

// tileMatmul multiplies row-major matrices in the same tiles as the kernel.
func tileMatmul(m, n, k int, a, b, c []float32) {
	const tile = kernels.Tile
	rows := (m + tile - 1) / tile
	parallel(rows, func(lo, hi int) {
		var tileA, tileB, sums [tile][tile]float32
		for r := lo; r < hi; r++ {
			for column0 := 0; column0 < n; column0 += tile {
				row0 := r * tile
				sums = [tile][tile]float32{}
				for k0 := 0; k0 < k; k0 += tile {
					load(&tileA, a, row0, k0, m, k)
					load(&tileB, b, k0, column0, k, n)
					for y := range tile {
						for i := range tile {
							va := tileA[y][i]
							for x := range tile {
								sums[y][x] += va * tileB[i][x]
							}
						}
					}
				}
				for y := range min(tile, m-row0) {
					copy(c[(row0+y)*n+column0:(row0+y)*n+min(column0+tile, n)], sums[y][:])
				}
			}
		}
	})
}

// load fills a tile from position (row0, column0) of a rows x columns matrix, with zeros
// outside of the matrix.
func load(tile *[kernels.Tile][kernels.Tile]float32, matrix []float32, row0, column0, rows, columns int) {
	for y := range tile {
		for x := range tile[y] {
			var v float32
			if row0+y < rows && column0+x < columns {
				v = matrix[(row0+y)*columns+column0+x]
			}
			tile[y][x] = v
		}
	}
}
