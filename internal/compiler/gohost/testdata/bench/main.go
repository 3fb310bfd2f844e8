// The program times compiled kernels and the same work written by hand, and
// prints a line for each: its name and the nanoseconds that both take.
package main

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"time"
	"unsafe"

	"quern.dev/kernel"
	"quern.dev/kernel/host"
)

// parallel runs body on contiguous parts of 0..n-1, one for each core.
func parallel(n int, body func(lo, hi int)) {
	workers := runtime.GOMAXPROCS(0)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { body(n*w/workers, n*(w+1)/workers) })
	}
	wg.Wait()
}

func saxpyByHand(a float32, x, y []float32) {
	parallel(len(y), func(lo, hi int) {
		y, x := y[lo:hi], x[lo:hi]
		for i := range y {
			y[i] += a * x[i]
		}
	})
}

func blurRowsByHand(w, h int, weights, in, out []float32) {
	radius := len(weights) / 2
	parallel(h, func(lo, hi int) {
		for y := lo; y < hi; y++ {
			from, to := in[y*w:][:w], out[y*w:][:w]
			for x := range to {
				var sum float32
				for k, weight := range weights {
					sum += weight * from[min(max(x+k-radius, 0), w-1)]
				}
				to[x] = sum
			}
		}
	})
}

func blurColumnsByHand(w, h int, weights, in, out []float32) {
	radius := len(weights) / 2
	parallel(h, func(lo, hi int) {
		for y := lo; y < hi; y++ {
			to := out[y*w:][:w]
			for x := range to {
				var sum float32
				for k, weight := range weights {
					sum += weight * in[min(max(y+k-radius, 0), h-1)*w+x]
				}
				to[x] = sum
			}
		}
	})
}

// matmulByHand has the tiles of the kernel.
func matmulByHand(n int, a, b, c []float32) {
	const tile = 16
	tiles := (n + tile - 1) / tile
	parallel(tiles*tiles, func(lo, hi int) {
		var as, bs, acc [tile][tile]float32
		for t := lo; t < hi; t++ {
			top, left := t/tiles*tile, t%tiles*tile
			acc = [tile][tile]float32{}
			for k0 := 0; k0 < n; k0 += tile {
				for y := range tile {
					for x := range tile {
						as[y][x], bs[y][x] = 0, 0
						if top+y < n && k0+x < n {
							as[y][x] = a[(top+y)*n+k0+x]
						}
						if left+x < n && k0+y < n {
							bs[y][x] = b[(k0+y)*n+left+x]
						}
					}
				}
				for y := range tile {
					for x := range tile {
						sum := acc[y][x]
						for k := range tile {
							sum += as[y][k] * bs[k][x]
						}
						acc[y][x] = sum
					}
				}
			}
			for y := range tile {
				for x := range tile {
					if top+y < n && left+x < n {
						c[(top+y)*n+left+x] = acc[y][x]
					}
				}
			}
		}
	})
}

func value[T any](a *host.Args, i int, v T) { a.SetValue(i, unsafe.Pointer(&v), unsafe.Sizeof(v)) }

func slice[T any](a *host.Args, i int, s []T) {
	a.SetSlice(i, unsafe.Pointer(unsafe.SliceData(s)), len(s))
}

func floats(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(i%7) - 3
	}
	return x
}

// compare times f and the equivalent function written by hand, alternately, and
// prints the shortest time of each.
func compare(name string, f host.Func, grid, block kernel.Dim3, args *host.Args, byHand func()) {
	l := &host.Launch{Grid: grid, Block: block, Args: args}
	var shortest [2]time.Duration
	for start, n := time.Now(), 0; n < 3 || time.Since(start) < 1500*time.Millisecond; n++ {
		for i, run := range []func(){
			func() {
				if failure := host.Execute(f, l); failure != nil {
					fmt.Printf("%+v\n", failure)
					os.Exit(1)
				}
			},
			byHand,
		} {
			s := time.Now()
			run()
			if t := time.Since(s); n == 0 || t < shortest[i] {
				shortest[i] = t
			}
		}
	}
	fmt.Println(name, shortest[0].Nanoseconds(), shortest[1].Nanoseconds())
}

func main() {
	d := func(x, y int) kernel.Dim3 { return kernel.Dim3{X: x, Y: y, Z: 1} }
	for _, n := range []int{1 << 16, 1 << 23} {
		var a host.Args
		x, y := floats(n), floats(n)
		value(&a, 0, float32(1e-9))
		slice(&a, 1, x)
		slice(&a, 2, y)
		compare(fmt.Sprintf("saxpy-%d", n), quernHostSaxpy, d(n/256, 1), d(256, 1), &a, func() { saxpyByHand(1e-9, x, y) })
	}
	{
		const w, h = 1024, 512
		var a host.Args
		weights, in, out := floats(17), floats(w*h), floats(w*h)
		value(&a, 0, w)
		value(&a, 1, h)
		slice(&a, 2, weights)
		slice(&a, 3, in)
		slice(&a, 4, out)
		compare("blur-rows", quernHostBlurRows, d(w/32, h/8), d(32, 8), &a, func() { blurRowsByHand(w, h, weights, in, out) })
		compare("blur-columns", quernHostBlurColumns, d(w/32, h/8), d(32, 8), &a, func() { blurColumnsByHand(w, h, weights, in, out) })
	}
	{
		const n = 320
		var a host.Args
		x, y, z := floats(n*n), floats(n*n), floats(n*n)
		value(&a, 0, n)
		slice(&a, 1, x)
		slice(&a, 2, y)
		slice(&a, 3, z)
		compare("matmul", quernHostMatmul, d(n/16, n/16), d(16, 16), &a, func() { matmulByHand(n, x, y, z) })
	}
}
