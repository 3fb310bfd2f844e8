package blas

import (
	"quern.dev/blas/internal/kernels"
	"quern.dev/gpu"
)

// gemmKernel is one of the kernels that compute products of floats.
type gemmKernel uint8

const (
	onCPU      gemmKernel = iota // for the CPU device
	aligned128                   // for whole tiles of aligned matrices; a thread has 16x8 elements
	tile256                      // a thread has 16x8 elements
	tile128                      // a thread has 16x8 elements
	tile128x64                   // a thread has 8x8 elements
	tile64                       // a thread has 8x8 elements
	slices64                     // a thread has 8x8 elements of a fourth of k
	slices32                     // a thread has 4x8 elements of a fourth of k
	double64                     // for float64: a thread has 4x8 elements
	tensor64                     // for float64 on tensor cores: a warp has 32x32 elements
	tensor128                    // a warp has 64x32 elements
)

// gemmTiles describes the kernels. To add one, add a line here and a case to launch.
var gemmTiles = [...]struct {
	rows, cols int // of the tile of C that a block computes
	depth      int // elements of k that it reads at a time
	threads    int // of a block
	resident   int // blocks that a multiprocessor holds

	// The share of the device's peak that multiprocessors reach, by the number of blocks that
	// each computes: 1, 2, ..., and as many as the last one or more.
	speed []float64

	device gpu.Backend // that it is for; empty: all others
	tensor bool        // needs tensor cores
	packed bool        // writes parts as tiles, and can divide some of the tiles only

	// Needs matrices whose quads are aligned, and which the tiles fit; does not divide k.
	aligned bool

	// Elements of k that take as long as starting and ending a tile.
	overhead int

	float32, float64 bool // the types of elements that it is for
}{
	onCPU:      {rows: kernels.CPUTile, cols: kernels.CPUTile, depth: 1, threads: 1, resident: 1, speed: []float64{1}, device: gpu.CPU, float32: true, float64: true},
	aligned128: {rows: 128, cols: 128, depth: kernels.GemmDepth, threads: 128, resident: 2, speed: []float64{0.51, 0.66, 0.60, 0.66}, aligned: true, overhead: 32, float32: true},
	tile256:    {rows: 256, cols: 128, depth: 8, threads: 256, resident: 1, speed: []float64{0.61}, packed: true, overhead: 32, float32: true},
	tile128:    {rows: 128, cols: 128, depth: 8, threads: 128, resident: 2, speed: []float64{0.58, 0.62, 0.48, 0.62, 0.53, 0.62, 0.56, 0.62, 0.63}, packed: true, overhead: 32, float32: true},
	tile128x64: {rows: 128, cols: 64, depth: 8, threads: 128, resident: 3, speed: []float64{0.46, 0.50, 0.58, 0.46, 0.57, 0.59, 0.51, 0.58, 0.59}, packed: true, overhead: 32, float32: true},
	tile64:     {rows: 64, cols: 64, depth: 8, threads: 64, resident: 6, speed: []float64{0.24, 0.44, 0.43, 0.55, 0.50, 0.58, 0.42, 0.47, 0.52}, packed: true, overhead: 32, float32: true},
	slices64:   {rows: 64, cols: 64, depth: 32, threads: 256, resident: 2, speed: []float64{0.44, 0.53, 0.52, 0.55, 0.54, 0.56}, packed: true, overhead: 96, float32: true},
	slices32:   {rows: 32, cols: 64, depth: 32, threads: 256, resident: 3, speed: []float64{0.34, 0.41, 0.43, 0.43, 0.44, 0.45}, packed: true, overhead: 96, float32: true},
	double64:   {rows: 64, cols: 64, depth: kernels.GemmDepth, threads: 128, resident: 3, speed: []float64{0.3, 0.45, 0.45, 0.45}, overhead: 32, float64: true},
	tensor64:   {rows: 64, cols: 64, depth: kernels.GemmDepth, threads: 128, resident: 4, speed: []float64{0.5, 0.75, 0.75, 0.8}, tensor: true, overhead: 32, float64: true},
	tensor128:  {rows: 128, cols: 128, depth: kernels.GemmDepth, threads: 256, resident: 1, speed: []float64{0.85}, tensor: true, overhead: 32, float64: true},
}

// gemmPlan says how a product is computed: k is divided into parts for the tiles but the first
// whole ones.
type gemmPlan[T Float] struct {
	kernel gemmKernel
	tiles  int // of all matrices
	whole  int // of these, not divided
	parts  int
	part   int // elements of k in each
}

// newPlan returns the plan with a kernel and a number of parts, or fewer.
func newPlan[T Float](kernel gemmKernel, m, n, k, batch, whole, parts int) gemmPlan[T] {
	g := gemmTiles[kernel]
	p := gemmPlan[T]{kernel: kernel, tiles: divideUp(m, g.rows) * divideUp(n, g.cols) * batch, whole: whole}
	p.part = max(divideUp(divideUp(k, parts), g.depth)*g.depth, 1)
	p.parts = max(divideUp(k, p.part), 1)
	if p.parts == 1 || p.whole >= p.tiles {
		p.whole, p.parts, p.part = p.tiles, 1, max(k, 1)
	}
	return p
}

// plan chooses the kernel and the number of parts, at most mostParts, with the shortest
// estimated time.
func plan[T Float](d *gpu.Device, m, n, k, batch, flags, mostParts int) (best gemmPlan[T]) {
	processors := max(d.Attributes().Multiprocessors, 1)
	major, _ := d.ComputeCapability()
	var zero T
	_, double := any(zero).(float64)
	const quads = kernels.QuadsA | kernels.QuadsB | kernels.QuadsC
	shortest := 0.0
	for i, g := range gemmTiles {
		if (d.Backend() == gpu.CPU) != (g.device == gpu.CPU) || double && !g.float64 || !double && !g.float32 || g.tensor && major < 8 {
			continue
		}
		if g.aligned && (m%g.rows != 0 || n%g.cols != 0 || k%g.depth != 0 || flags&quads != quads) {
			continue
		}
		// The time of tiles with a number of elements of k.
		took := func(tiles, depth int) float64 {
			each := divideUp(tiles, processors)
			return float64(each*g.rows*g.cols) * float64(divideUp(depth, g.depth)*g.depth+g.overhead) / g.speed[max(min(each, len(g.speed)), 1)-1]
		}
		try := func(whole, parts int) {
			p := newPlan[T](gemmKernel(i), m, n, k, batch, whole, parts)
			rest := p.tiles - p.whole
			time := took(p.whole, k) + took(rest*p.parts, p.part)
			if p.parts > 1 {
				time += sumOverhead + float64(rest*g.rows*g.cols*p.parts)*sumCost/float64(processors)
			}
			if p.part <= mostPart && (shortest == 0 || time < shortest) || g.device == gpu.CPU {
				best, shortest = p, time
			}
		}
		try(0, 1)
		if k > mostPart && !g.aligned { // as few parts as possible, also of many tiles
			try(0, min(divideUp(k, mostPart), mostParts))
		}
		tiles := divideUp(m, g.rows) * divideUp(n, g.cols) * batch
		slots := processors * g.resident
		for _, parts := range [...]int{2, 3, 4, 5, 6, 7, 8, 10, 12, 16, 20, 24, 32, 48, 64, 96, 128} {
			if parts > mostParts || g.aligned || g.device == gpu.CPU || k < parts*minPart {
				break
			}
			if tiles*parts <= 2*slots {
				try(0, parts)
			}
			if whole := tiles / slots * slots; g.packed && whole > 0 && (tiles-whole)*parts <= slots {
				try(whole, parts)
			}
		}
	}
	return best
}

// Costs in products of one multiprocessor at its peak (128 per clock).
const (
	minPart     = 64        // elements of k that are worth a part of their own
	mostPart    = 1 << 30   // elements of k that the kernels can count
	sumOverhead = 1_300_000 // another launch: about 5 microseconds
	sumCost     = 50        // writing and reading an element of a part
)

func divideUp(n, by int) int { return (n + by - 1) / by }

// gemmArguments are the arguments that all kernels for products take.
type gemmArguments[T Float] struct {
	m, n, k, flags      int
	batch               int
	offA, offB, offC    int
	lda, ldb, ldc       int
	stepA, stepB, stepC int
	alpha, beta         T
	a, b, c             *gpu.Buffer[T]
	post, ldr, stepR    int
	bias, residual      *gpu.Buffer[T]
}

// launch adds the kernel of the plan to the stream. Partial is for the parts of a packed kernel.
func (p gemmPlan[T]) launch(s *gpu.Stream, x gemmArguments[T], partial *gpu.Buffer[T]) error {
	grid := gpu.Linear((p.whole + (p.tiles-p.whole)*p.parts) * gemmTiles[p.kernel].threads)
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
		return launch(s, grid, x.m, x.n, x.k, p.part, x.flags, x.offA, x.offB, x.offC, x.lda, x.ldb, x.ldc, x.stepA, x.stepB, x.stepC, x.alpha, x.beta, x.a, x.b, x.c, x.post, x.ldr, x.stepR, x.bias, x.residual)
	case *gemmArguments[float32]:
		launch := kernels.LaunchProduct128
		switch p.kernel {
		case aligned128:
			return kernels.LaunchGemmLarge(s, grid, x.m, x.n, x.k, p.part, x.flags, x.offA, x.offB, x.offC, x.lda, x.ldb, x.ldc, x.stepA, x.stepB, x.stepC, x.alpha, x.beta, x.a, x.b, x.c, x.post, x.ldr, x.stepR, x.bias, x.residual)
		case tile256:
			launch = kernels.LaunchProduct256
		case tile128x64:
			launch = kernels.LaunchProduct128x64
		case tile64:
			launch = kernels.LaunchProduct64
		case slices64:
			launch = kernels.LaunchProduct64x4
		case slices32:
			launch = kernels.LaunchProduct32x4
		}
		return launch(s, grid, x.m, x.n, x.k, p.whole, p.parts, p.part, x.flags, x.offA, x.offB, x.offC, x.lda, x.ldb, x.ldc, x.stepA, x.stepB, x.stepC, x.alpha, x.beta, x.a, x.b, x.c, x.post, x.ldr, x.stepR, x.bias, x.residual, any(partial).(*gpu.Buffer[float32]))
	}
	panic("unreachable")
}
