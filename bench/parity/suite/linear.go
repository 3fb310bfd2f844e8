package suite

import (
	"math/rand/v2"

	"quern.dev/bench/parity/byhand"
	"quern.dev/bench/parity/kernels"
	"quern.dev/gpu"
)

// Linear algebra.

// matrixVector returns the case of a product of a matrix of rows x cols elements, or of its
// transpose, with a vector. Each thread computes one of the results.
func matrixVector(c *Case, rows, cols, results int, byHand func(cols int, a, x, y []float32)) *Case {
	a, x := in(random(rows*cols, between(-1, 1))), in(random(rows*cols/results, between(-1, 1)))
	y := out[float32](results, Agreement{Tolerance: 1e-4})
	c.Grid = gpu.Blocks(gpu.Dim3{X: ceilDiv(results, 256)}, gpu.Dim3{X: 256})
	c.Args = []any{rows, cols, a, x, y}
	c.Unit, c.Work = Bytes, 4*(float64(rows)*float64(cols)+float64(rows)+float64(cols))
	c.ByHand = func() { byHand(cols, a.Host, x.Host, y.Hand) }
	return c
}

func atax1(z Size) *Case {
	rows, cols := z.of(300, 16384, 65536), z.of(37, 1024, 1024)
	return matrixVector(&Case{Name: "atax1", Kernel: kernels.ATAX1}, rows, cols, rows, byhand.ATAX1)
}

func atax2(z Size) *Case {
	rows, cols := z.of(37, 1024, 1024), z.of(300, 32768, 65536)
	return matrixVector(&Case{Name: "atax2", Kernel: kernels.ATAX2}, rows, cols, cols, byhand.ATAX2)
}

func gemm64(z Size) *Case {
	const alpha, beta = 0.5, 0.25
	n := z.of(64, 384, 2048)
	matrix := func() []float32 { return random(n*n, between(-1, 1)) }
	a, b, c := in(matrix()), in(matrix()), inOut(matrix(), Agreement{Tolerance: 1e-6 * float64(n)})
	return &Case{
		Name: "gemm64", Kernel: kernels.GEMM64,
		Grid: gpu.Blocks(gpu.Dim3{X: n / kernels.GemmTile, Y: n / kernels.GemmTile}, gpu.Dim3{X: 16, Y: 16}),
		Args: []any{n, float32(alpha), float32(beta), a, b, c},
		Unit: Flops, Work: 2 * float64(n) * float64(n) * float64(n),
		ByHand: func() { byhand.GEMM(n, alpha, beta, a.Host, b.Host, c.Hand) },
	}
}

// double returns a random number in [-1, 1).
func double(r *rand.Rand) float64 { return 2*r.Float64() - 1 }

func dgemm(z Size) *Case {
	n := z.of(40, 384, 1024)
	a, b := in(random(n*n, double)), in(random(n*n, double))
	c := out[float64](n*n, Agreement{Tolerance: 1e-11})
	return &Case{
		Name: "dgemm", Kernel: kernels.DGEMM,
		Grid: gpu.Blocks(gpu.Dim3{X: ceilDiv(n, 16), Y: ceilDiv(n, 16)}, gpu.Dim3{X: 16, Y: 16}),
		Args: []any{n, a, b, c},
		Unit: Flops, Work: 2 * float64(n) * float64(n) * float64(n),
		ByHand: func() { byhand.Matmul(n, n, n, a.Host, b.Host, c.Hand) },
	}
}

func lud(z Size) *Case {
	n, offset := z.of(80, 2048, 4096), z.of(16, 0, 0)
	m := inOut(random(n*n, between(-1, 1)), rounding)
	rest := n - offset - kernels.LUDTile
	return &Case{
		Name: "lud", Kernel: kernels.LUD,
		Grid: gpu.Blocks(
			gpu.Dim3{X: rest / kernels.LUDTile, Y: rest / kernels.LUDTile},
			gpu.Dim3{X: kernels.LUDTile, Y: kernels.LUDTile}),
		Args: []any{n, offset, m},
		Unit: Bytes, Work: 8*float64(rest)*float64(rest) + 8*kernels.LUDTile*float64(rest),
		ByHand: func() { byhand.LUD(n, offset, m.Hand) },
	}
}

func inv8(z Size) *Case {
	const size = kernels.InverseSize
	n := z.of(300, 40_000, 1<<20)
	elements := random(size*size*n, between(-1, 1))
	for e := 0; e < size*size; e += size + 1 {
		for i := range n {
			elements[e*n+i] += 10 // the diagonal dominates, so that no pivot is small
		}
	}
	src, dst := in(elements), out[float32](size*size*n, rounding)
	return &Case{
		Name: "inv8", Kernel: kernels.Inv8,
		Grid: gpu.Blocks(gpu.Dim3{X: ceilDiv(n, 128)}, gpu.Dim3{X: 128}),
		Args: []any{n, src, dst},
		Unit: Bytes, Work: 8 * size * size * float64(n),
		ByHand: func() { byhand.Inv8(n, src.Host, dst.Hand) },
	}
}

func lu4(z Size) *Case {
	n := z.of(300, 1<<17, 1<<21)
	matrix := func(r *rand.Rand) (m [16]float64) {
		for i := range m {
			m[i] = double(r)
		}
		for i := range 4 {
			m[i*4+i] = 0 // well conditioned, but not without pivoting
			m[i*4+(i+1)%4] += 4
		}
		return m
	}
	vector := func(r *rand.Rand) [4]float64 { return [4]float64{double(r), double(r), double(r), double(r)} }
	a, b := in(random(n, matrix)), in(random(n, vector))
	x := out[[4]float64](n, Agreement{Tolerance: 1e-10})
	return &Case{
		Name: "lu4", Kernel: kernels.LU4,
		Grid: gpu.Blocks(gpu.Dim3{X: ceilDiv(n, 128)}, gpu.Dim3{X: 128}),
		Args: []any{a, b, x},
		Unit: Bytes, Work: 8 * (16 + 4 + 4) * float64(n),
		ByHand: func() { byhand.LU4(a.Host, b.Host, x.Hand) },
	}
}

// spmvWarp multiplies a matrix with up to 63 elements per row, in random columns.
func spmvWarp(z Size) *Case {
	rows := z.of(301, 1<<18, 1<<20)
	starts := make([]int32, rows+1)
	for i := range rows {
		starts[i+1] = starts[i] + rand.Int32N(64)
	}
	elements := int(starts[rows])
	s, c := in(starts), in(random(elements, upTo(int32(rows))))
	v, x := in(random(elements, between(-1, 1))), in(random(rows, between(-1, 1)))
	y := out[float32](rows, rounding)
	return &Case{
		Name: "spmv_warp", Kernel: kernels.SpMVWarp,
		Grid: gpu.Blocks(gpu.Dim3{X: ceilDiv(rows, 4)}, gpu.Dim3{X: 128}),
		Args: []any{rows, s, c, v, x, y},
		Unit: Bytes, Work: 8*float64(elements) + 12*float64(rows),
		ByHand: func() { byhand.SpMV(s.Host, c.Host, v.Host, x.Host, y.Hand) },
	}
}
