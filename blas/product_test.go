package blas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/blas/internal/kernels"
	"quern.dev/gpu"
	"quern.dev/gputest"
)

// force returns a choice of a kernel and a number of parts of all but the first whole tiles.
func force[T Float](kernel gemmKernel, whole, parts int) func(d *gpu.Device, m, n, k, batch, flags, mostParts int) gemmPlan[T] {
	return func(_ *gpu.Device, m, n, k, batch, _, _ int) gemmPlan[T] {
		return newPlan[T](kernel, m, n, k, batch, whole, parts)
	}
}

// TestGemmKernels runs every kernel, also those that the device would not choose, with several
// parts, batches, epilogues and triangles.
func TestGemmKernels(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		if d.Backend() == gpu.CPU {
			testGemmKernels[float32](t, d, onCPU)
			testGemmKernels[float64](t, d, onCPU)
			return
		}
		testGemmKernels[float32](t, d, aligned128, tile256, tile128, tile128x64, tile64, slices64, slices32)
		testGemmKernels[float64](t, d, double64, tensor64, tensor128)
	})
}

func testGemmKernels[T Float](t *testing.T, d *gpu.Device, list ...gemmKernel) {
	shapes := [][3]int{{140, 132, 20}}
	if d.Backend() != gpu.Sim {
		shapes = append(shapes, [][3]int{{129, 100, 50}, {1, 128, 64}, {130, 3, 16}}...)
	}
	for _, kernel := range list {
		shapes, aligned := shapes, gemmTiles[kernel].aligned
		if aligned {
			shapes = nil
		}
		for i, shape := range shapes {
			for transposed := range 4 {
				if d.Backend() == gpu.Sim && transposed%3 == 0 {
					continue
				}
				parts := 1 + transposed%2
				if kernel == onCPU {
					parts = 1
				}
				testGemmKernel[T](t, d, kernel, parts, shape, transposed&1 != 0, transposed&2 != 0, i+transposed)
			}
		}
		// Parts of rows that are no quads, and of quads.
		if kernel != onCPU && !aligned {
			testGemmKernel[T](t, d, kernel, 3, [3]int{5, 7, 40}, false, true, 1)
			testGemmKernel[T](t, d, kernel, 2, [3]int{6, 8, 40}, true, false, 12)
		}
		// Whole tiles of aligned quads, with and without C.
		for transposed := range 4 {
			depth := 20
			if aligned {
				depth = 24
			}
			testGemmKernel[T](t, d, kernel, 1, [3]int{128, 128, depth}, transposed&1 != 0, transposed&2 != 0, 12+transposed%2*12)
		}
	}
}

// TestEveryProductHasAPlan plans products of many long sums, such as those of a signal with parts of
// itself, which no kernel computes in one part.
func TestEveryProductHasAPlan(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, k := range []int{1, mostPart, mostPart + 1, 3 * mostPart, 1<<40 - 1} {
			for _, m := range []int{1, 100, 100_000} {
				for _, batch := range []int{1, 20, 1000} {
					testPlan(t, plan[float32](d, m, 1, k, batch, 0, math.MaxInt), d, k)
					testPlan(t, plan[float64](d, m, 1, k, batch, 0, math.MaxInt), d, k)
				}
			}
		}
	})
}

func testPlan[T Float](t *testing.T, p gemmPlan[T], d *gpu.Device, k int) {
	t.Helper()
	if p.tiles < 1 || p.parts < 1 || p.part*p.parts < k || p.part > mostPart && d.Backend() != gpu.CPU {
		t.Errorf("the plan for %d elements of k is %+v", k, p)
	}
}

// TestGemmOfRandomShapes multiplies matrices of shapes that fit no tile, with gaps between rows, by
// each kernel.
func TestGemmOfRandomShapes(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		rng := rand.New(rand.NewPCG(3, 3))
		most, rounds := 300, 40
		if d.Backend() == gpu.Sim {
			most, rounds = 90, 3
		}
		for kernel, g := range gemmTiles {
			if (d.Backend() == gpu.CPU) != (g.device == gpu.CPU) {
				continue
			}
			for range rounds {
				shape := [3]int{1 + rng.IntN(most), 1 + rng.IntN(most), 1 + rng.IntN(most)}
				parts := 1 + rng.IntN(4)
				if d.Backend() == gpu.CPU {
					parts = 1
				}
				variant := rng.IntN(24)
				if g.aligned { // whole tiles of quads
					shape = [3]int{g.rows * (1 + rng.IntN(2)), g.cols * (1 + rng.IntN(2)), g.depth * (1 + rng.IntN(12))}
					variant = variant / 3 * 3
				}
				if g.float32 {
					testGemmKernel[float32](t, d, gemmKernel(kernel), parts, shape, rng.IntN(2) == 0, rng.IntN(2) == 0, variant)
				} else {
					testGemmKernel[float64](t, d, gemmKernel(kernel), parts, shape, rng.IntN(2) == 0, rng.IntN(2) == 0, variant)
				}
			}
		}
	})
}

func testGemmKernel[T Float](t *testing.T, d *gpu.Device, kernel gemmKernel, parts int, shape [3]int, tA, tB bool, variant int) {
	m, n, k := shape[0], shape[1], shape[2]
	rng := rand.New(rand.NewPCG(2, uint64(variant)))
	batch := 1 + variant%2
	gap := variant % 3 // 0: quads if the size allows it
	trans := map[bool]Transpose{false: NoTrans, true: Trans}
	stored := func(transposed bool, rows, cols int) (matrix[T], Batch[T]) {
		if transposed {
			rows, cols = cols, rows
		}
		whole := newMatrix[T](rng, rows*batch, cols, gap)
		one := matrix[T]{rows, cols, whole.stride, whole.data}
		g := whole.upload(t, d, 0)
		return one, Batch[T]{General[T]{rows, cols, whole.stride, g.Data}, rows * whole.stride, batch}
	}
	a, da := stored(tA, m, k)
	b, db := stored(tB, k, n)
	c, dc := stored(false, m, n)
	r, dr := stored(false, m, n)
	bias := newMatrix[T](rng, 1, max(m, n), 0)
	e := Epilogue[T]{Bias: Vector[T]{n, 1, bias.upload(t, d, 0).Data}, BiasRows: variant%4 == 3, Residual: dr}
	switch variant % 4 {
	case 0:
		e.Bias.Data, e.Residual.Data = nil, nil
	case 1:
		e.Activation = ReLU
	case 2:
		e.Activation = GELU
	case 3:
		e.Bias.N = m
	}
	post, err := e.check("Gemm", dc)
	if err != nil {
		t.Fatal(err)
	}
	flags := flagsOf(trans[tA], trans[tB], da.quads(), db.quads(), dc.quads())
	triangle := variant % 3
	if triangle == 1 {
		flags |= kernels.Lower
	} else if triangle == 2 {
		flags |= kernels.Upper
	}
	whole := 0
	if gemmTiles[kernel].packed {
		whole = variant % 2
	}
	alpha, beta := T(0.5), T((variant+variant/4)%2)*0.25
	before := append([]T(nil), c.data...)
	x := gemmArguments[T]{
		m: m, n: n, k: k, batch: batch, flags: flags, lda: da.Stride, ldb: db.Stride, ldc: dc.Stride,
		stepA: da.Step, stepB: db.Step, stepC: dc.Step, alpha: alpha, beta: beta, a: da.Data, b: db.Data, c: dc.Data,
		post: post, ldr: dr.Stride, stepR: dr.Step, bias: e.Bias.Data, residual: e.Residual.Data,
	}
	if err := x.run(d.DefaultStream(), force[T](kernel, whole, parts), nil); err != nil {
		t.Fatal(err)
	}
	got := gputest.Download(t, d, dc.Data)
	for i := range batch {
		name := fmt.Sprintf("kernel %d parts %d %v%v %v variant %d matrix %d", kernel, parts, trans[tA], trans[tB], shape, variant, i)
		at := i * c.rows * c.stride
		sub := func(m matrix[T]) matrix[T] {
			m.data = m.data[i*m.rows*m.stride:]
			return m
		}
		a, b, r := sub(a), sub(b), sub(r)
		checkMatrix(t, name, got[at:], c, func(i, j int) (float64, float64) {
			old := float64(before[at+i*c.stride+j])
			if triangle == 1 && j > i || triangle == 2 && j < i {
				return old, 0
			}
			var sum exact
			for p := range k {
				sum.add(float64(a.at(trans[tA], i, p)), float64(b.at(trans[tB], p, j)))
			}
			sum = sum.scale(float64(alpha))
			if beta != 0 {
				sum.add(float64(beta), old)
			}
			bound := gemmBound[T](k+parts, sum.magnitude)
			v := sum.value()
			if variant%4 == 0 {
				return v, bound
			}
			if e.BiasRows {
				v += float64(bias.data[i])
			} else {
				v += float64(bias.data[j])
			}
			switch e.Activation {
			case ReLU:
				v = max(v, 0)
			case GELU:
				v = v / 2 * (1 + math.Tanh(0.7978845608028654*(v+0.044715*v*v*v)))
			}
			v += float64(r.at(NoTrans, i, j))
			return v, 2*bound + 64*unit[T]()*(1+math.Abs(v))
		})
	}
}
