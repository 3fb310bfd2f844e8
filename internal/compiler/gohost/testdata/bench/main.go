// The program times compiled kernels and the same work written by hand, and
// prints a line for each: its name and the nanoseconds that both take.
package main

import (
	"fmt"
	"math"
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

func orbitsByHand(dt float32, x, y, vx, vy []float32) {
	parallel(len(x), func(lo, hi int) {
		x, y, vx, vy := x[lo:hi], y[lo:hi], vx[lo:hi], vy[lo:hi]
		for i, px := range x {
			py := y[i]
			r := float32(math.Sqrt(float64(px*px + py*py + 0.1)))
			pull := -dt / (r * r * r)
			vx[i] += pull * px
			vy[i] += pull * py
			x[i] += dt * vx[i]
			y[i] += dt * vy[i]
		}
	})
}

func editDistanceByHand(a, b []uint8, distances []int32) {
	parallel(len(distances), func(lo, hi int) {
		var cost [65]int32
		for word := lo; word < hi; word++ {
			for x := range cost {
				cost[x] = int32(x)
			}
			letters := (*[64]uint8)(a[word*64:])
			for y, other := range b[word*64:][:64] {
				diagonal := cost[0]
				cost[0] = int32(y + 1)
				for x, letter := range letters {
					change := diagonal
					if other != letter {
						change++
					}
					diagonal = cost[x+1]
					cost[x+1] = min(change, cost[x]+1, diagonal+1)
				}
			}
			distances[word] = cost[64]
		}
	})
}

func weightedByHand(columns int, matrix, sums []float32) {
	parallel(len(sums)/128, func(lo, hi int) {
		for row := lo; row < hi; row++ {
			to := (*[128]float32)(sums[row*128:])
			*to = [128]float32{}
			for left := 0; left < columns; left += 128 {
				tile := (*[128]float32)(matrix[row*columns+left:])
				for x := range to {
					to[x] += float32(left+x) * tile[(x+1)%128]
				}
			}
		}
	})
}

func ringsByHand(n int, in, out []float32) {
	parallel(len(out)/n, func(lo, hi int) {
		for ring := lo; ring < hi; ring++ {
			from, to := in[ring*n:][:n], out[ring*n:][:n]
			copy(to, from[1:])
			to[n-1] = from[0]
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
	{
		const n = 1 << 20
		var a host.Args
		x, y, vx, vy := floats(n), floats(n), floats(n), floats(n)
		value(&a, 0, float32(1e-3))
		for i, s := range [][]float32{x, y, vx, vy} {
			slice(&a, 1+i, s)
		}
		compare("orbits", quernHostOrbits, d(n/256, 1), d(256, 1), &a, func() { orbitsByHand(1e-3, x, y, vx, vy) })
	}
	{
		const n = 1 << 11
		var a host.Args
		one, two, distances := make([]uint8, 64*n), make([]uint8, 64*n), make([]int32, n)
		for i := range one {
			one[i], two[i] = uint8(i*i%5), uint8(i*i%7%5)
		}
		slice(&a, 0, one)
		slice(&a, 1, two)
		slice(&a, 2, distances)
		compare("edit-distance", quernHostEditDistance, d(n, 1), d(64, 1), &a, func() { editDistanceByHand(one, two, distances) })
	}
	{
		const rows, columns = 1 << 9, 1 << 12
		var a host.Args
		matrix, sums := floats(rows*columns), floats(rows*128)
		value(&a, 0, columns)
		slice(&a, 1, matrix)
		slice(&a, 2, sums)
		compare("weighted", quernHostWeighted, d(rows, 1), d(128, 1), &a, func() { weightedByHand(columns, matrix, sums) })
	}
	{
		const n, ring = 1 << 20, 1 << 10
		var a host.Args
		in, out := floats(n), floats(n)
		value(&a, 0, ring)
		slice(&a, 1, in)
		slice(&a, 2, out)
		compare("rings", quernHostRings, d(n/256, 1), d(256, 1), &a, func() { ringsByHand(ring, in, out) })
	}
}
