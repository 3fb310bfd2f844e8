package sparse

import (
	"quern.dev/gpu"
	"quern.dev/kernel"
)

// Sums of products are accumulated in float64 and in a fixed order: each block, or each
// part on CPUs, has a partial sum, and one warp adds them up.

const (
	dotThreads = 256
	dotBlocks  = 256
)

// dotTiles computes the partial sums of x*y. With several vectors of n elements in x,
// block (b, v) computes those of vector v.
//
//quern:kernel block=dotThreads instantiate=float32,float64
func dotTiles[T Float](t kernel.Thread, n int, x, y []T, partial []float64) {
	warps := kernel.Shared[[dotThreads / 32]float64](t)
	sum := 0.0
	from := t.BlockIdx.Y * n
	for i := t.Global(); i < n; i += t.Stride() {
		sum += float64(x[from+i]) * float64(y[i])
	}
	sum = kernel.WarpReduceAdd(t, sum)
	if t.Lane() == 0 {
		warps[t.Warp()] = sum
	}
	t.Sync()
	if t.ThreadIdx.X == 0 {
		sum = 0
		for _, w := range warps {
			sum += w
		}
		partial[t.BlockIdx.Y*t.GridDim.X+t.BlockIdx.X] = sum
	}
}

// dotParts is dotTiles for CPUs: thread (p, v) computes part p of vector v.
//
//quern:kernel instantiate=float32,float64
func dotParts[T Float](t kernel.Thread, n, part int, x, y []T, partial []float64) {
	p, v := t.BlockIdx.X, t.BlockIdx.Y
	end := min((p+1)*part, n)
	var a, b, c, d float64
	i := p * part
	for ; i+3 < end; i += 4 {
		a += float64(x[v*n+i]) * float64(y[i])
		b += float64(x[v*n+i+1]) * float64(y[i+1])
		c += float64(x[v*n+i+2]) * float64(y[i+2])
		d += float64(x[v*n+i+3]) * float64(y[i+3])
	}
	for ; i < end; i++ {
		a += float64(x[v*n+i]) * float64(y[i])
	}
	partial[v*t.GridDim.X+p] = (a + b) + (c + d)
}

// total adds up n partial sums with the threads of a warp. All threads return it.
func total(t kernel.Thread, n int, partial []float64) float64 {
	sum := 0.0
	for i := t.Lane(); i < n && i < len(partial); i += 32 {
		sum += partial[i]
	}
	return kernel.WarpReduceAdd(t, sum)
}

// dots is the computation of sums of products.
type dots struct {
	n, blocks, part int
	cpu             bool
	partial         *gpu.Buffer[float64] // blocks for each vector
}

func takeDots(scratch *gpu.Scratch, backend gpu.Backend, n, vectors int) dots {
	d := dots{n: n, cpu: backend == gpu.CPU, part: 1 << 14}
	d.blocks = min((n+4*dotThreads-1)/(4*dotThreads), dotBlocks)
	if d.cpu {
		d.part = max(d.part, (n+63)/64)
		d.blocks = (n + d.part - 1) / d.part
	}
	d.partial = gpu.Take[float64](scratch, d.blocks*vectors)
	return d
}

// run leaves the partial sums of the products of vectors in x with y in d.partial.
func runDots[T Float](s *gpu.Stream, d *dots, vectors int, x, y *gpu.Buffer[T]) error {
	grid := gpu.Dim3{X: d.blocks, Y: vectors}
	if d.cpu {
		return LaunchDotParts(s, gpu.Blocks(grid, gpu.Dim3{X: 1}), d.n, d.part, x, y, d.partial)
	}
	return LaunchDotTiles(s, gpu.Blocks(grid, gpu.Dim3{X: dotThreads}), d.n, x, y, d.partial)
}
