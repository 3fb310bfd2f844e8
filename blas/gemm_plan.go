package blas

import (
	"quern.dev/blas/internal/kernels"
	"quern.dev/gpu"
)

// gemmKernel is one of the kernels that compute products of floats.
type gemmKernel uint8

const (
	onCPU     gemmKernel = iota // for the CPU device
	small64                     // a thread has 8x8 elements
	large128                    // a thread has 16x8 elements
	double64                    // for float64: a thread has 4x8 elements
	tensor64                    // for float64 on tensor cores: a warp has 32x32 elements
	tensor128                   // a warp has 64x32 elements
)

// gemmTiles describes the kernels. To add one, add a line here and a case to launch.
var gemmTiles = [...]struct {
	side    int // rows and columns of the tile of C that a block computes
	depth   int // elements of k that it reads at a time
	threads int // of a block

	// The share of the device's peak that full multiprocessors reach, by the number of blocks
	// on each: 1, 2, 3, 4 and more.
	speed [4]float64

	device gpu.Backend // that it is for; empty: all others
	tensor bool        // needs tensor cores

	float32, float64 bool // the types of elements that it is for
}{
	onCPU:     {side: kernels.CPUTile, depth: 1, threads: 1, speed: [4]float64{1, 1, 1, 1}, device: gpu.CPU, float32: true, float64: true},
	small64:   {side: 64, depth: kernels.GemmDepth, threads: 64, speed: [4]float64{0.38, 0.65, 0.72, 0.8}, float32: true},
	large128:  {side: 128, depth: kernels.GemmDepth, threads: 128, speed: [4]float64{0.7, 0.92, 0.9, 0.92}, float32: true},
	double64:  {side: 64, depth: kernels.GemmDepth, threads: 128, speed: [4]float64{0.3, 0.45, 0.45, 0.45}, float64: true},
	tensor64:  {side: 64, depth: kernels.GemmDepth, threads: 128, speed: [4]float64{0.5, 0.75, 0.75, 0.8}, tensor: true, float64: true},
	tensor128: {side: 128, depth: kernels.GemmDepth, threads: 256, speed: [4]float64{0.85, 0.85, 0.85, 0.85}, tensor: true, float64: true},
}

// gemmPlan says how a product is computed.
type gemmPlan[T Float] struct {
	kernel gemmKernel
	tiles  int // of one matrix
	parts  int // into which the sum over k is divided
	part   int // elements of k in each
}

// plan chooses the kernel and the number of parts, at most mostParts, with the shortest
// estimated time.
func plan[T Float](d *gpu.Device, m, n, k, batch, mostParts int) (best gemmPlan[T]) {
	processors := max(d.Attributes().Multiprocessors, 1)
	major, _ := d.ComputeCapability()
	var zero T
	_, double := any(zero).(float64)
	shortest := 0.0
	for i, g := range gemmTiles {
		if (d.Backend() == gpu.CPU) != (g.device == gpu.CPU) || double && !g.float64 || !double && !g.float32 || g.tensor && major < 8 {
			continue
		}
		tiles := divideUp(m, g.side) * divideUp(n, g.side)
		for _, parts := range [...]int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64} {
			if parts > mostParts || parts > 1 && (g.device == gpu.CPU || tiles*batch*parts > 4*processors || k < parts*minPart) {
				break
			}
			part := max(divideUp(divideUp(k, parts), g.depth)*g.depth, 1)
			if part > mostPart && g.device != gpu.CPU {
				continue
			}
			p := gemmPlan[T]{gemmKernel(i), tiles, max(divideUp(k, part), 1), part}
			each := divideUp(tiles*batch*p.parts, processors)
			time := float64(each*g.side*g.side) * float64(part+partOverhead) / g.speed[min(each, len(g.speed))-1]
			if p.parts > 1 {
				time += sumOverhead + float64(m*n*batch*p.parts)*sumCost/float64(processors)
			}
			if shortest == 0 || time < shortest {
				best, shortest = p, time
			}
		}
	}
	return best
}

// Costs in products of one multiprocessor at its peak (128 per clock).
const (
	minPart      = 128     // elements of k that are worth a part of their own
	mostPart     = 1 << 30 // elements of k that the kernels can count
	partOverhead = 32      // elements of k that take as long as starting and ending a tile
	sumOverhead  = 500_000 // another launch: about 2 microseconds
	sumCost      = 100     // writing and reading an element of a part
)

func divideUp(n, by int) int { return (n + by - 1) / by }

// gemmArguments are the arguments that all kernels for products take.
type gemmArguments[T Float] struct {
	m, n, k, part, flags int
	batch                int
	offA, offB, offC     int
	lda, ldb, ldc        int
	stepA, stepB, stepC  int
	alpha, beta          T
	a, b, c              *gpu.Buffer[T]
	post, ldr, stepR     int
	bias, residual       *gpu.Buffer[T]
}

// launch adds the kernel of the plan to the stream.
func (p gemmPlan[T]) launch(s *gpu.Stream, x gemmArguments[T]) error {
	grid := gpu.Linear(p.tiles * p.parts * x.batch * gemmTiles[p.kernel].threads)
	if p.kernel == onCPU {
		return kernels.LaunchGemmCPU(s, grid, x.m, x.n, x.k, x.flags, x.offA, x.offB, x.offC, x.lda, x.ldb, x.ldc, x.stepA, x.stepB, x.stepC, x.alpha, x.beta, x.a, x.b, x.c, x.post, x.ldr, x.stepR, x.bias, x.residual)
	}
	switch x := any(&x).(type) {
	case *gemmArguments[float64]:
		launch := kernels.LaunchGemmDouble
		switch p.kernel {
		case tensor64:
			launch = kernels.LaunchDoubleSmall
		case tensor128:
			launch = kernels.LaunchDoubleLarge
		}
		return launch(s, grid, x.m, x.n, x.k, x.part, x.flags, x.offA, x.offB, x.offC, x.lda, x.ldb, x.ldc, x.stepA, x.stepB, x.stepC, x.alpha, x.beta, x.a, x.b, x.c, x.post, x.ldr, x.stepR, x.bias, x.residual)
	case *gemmArguments[float32]:
		launch := kernels.LaunchGemmSmall
		if p.kernel == large128 {
			launch = kernels.LaunchGemmLarge
		}
		return launch(s, grid, x.m, x.n, x.k, x.part, x.flags, x.offA, x.offB, x.offC, x.lda, x.ldb, x.ldc, x.stepA, x.stepB, x.stepC, x.alpha, x.beta, x.a, x.b, x.c, x.post, x.ldr, x.stepR, x.bias, x.residual)
	}
	panic("unreachable")
}
