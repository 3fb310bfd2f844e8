package blas

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/internal/mma"
	"quern.dev/kernel"
)

// tensorCase is a product on tensor cores to test.
type tensorCase struct {
	m, n, k, batch int
	tA, tB         Transpose
	skip           int // elements before the matrices
	post           bool
}

func tensorCases(d *gpu.Device) []tensorCase {
	cases := []tensorCase{{17, 9, 40, 1, NoTrans, Trans, 0, false}, {130, 20, 33, 1, Trans, NoTrans, 1, true}}
	if d.Backend() != gpu.Sim {
		cases = append(cases, tensorCase{129, 131, 64, 2, NoTrans, NoTrans, 0, true}, tensorCase{1, 1, 1, 3, Trans, Trans, 0, false},
			tensorCase{5, 300, 130, 1, NoTrans, Trans, 3, true}, tensorCase{3, 4, 0, 1, NoTrans, Trans, 0, true})
	}
	return cases
}

// tensorFactor returns a batch of random matrices with a gap after each row.
func tensorFactor[T any](t *testing.T, d *gpu.Device, x tensorCase, tr Transpose, rows, cols int, value func() T) (at func(matrix, i, j int) T, b Batch[T]) {
	if tr != NoTrans {
		rows, cols = cols, rows
	}
	stride := max(cols+x.skip, 1)
	data := make([]T, x.skip+rows*stride*x.batch)
	for i := range data {
		data[i] = value()
	}
	b = Batch[T]{General[T]{rows, cols, stride, nil}, rows * stride, x.batch}
	if rows*cols > 0 {
		b.Data = gputest.Upload(t, d, data).Slice(x.skip, len(data))
	}
	return func(matrix, i, j int) T {
		if tr != NoTrans {
			i, j = j, i
		}
		return data[x.skip+matrix*rows*stride+i*stride+j]
	}, b
}

func testGemmTensor[T TensorElement](t *testing.T, d *gpu.Device, value func(rng *rand.Rand) T, number func(T) float64) {
	testFactors(t, d, GemmTensor[T], 0x1p-23, value, value, number, number)
}

// testFactors compares a function for factors of two types with float64. unit is the unit of its bound.
func testFactors[A, B any](t *testing.T, d *gpu.Device, gemm func(s *gpu.Stream, tA, tB Transpose, alpha float32, a Batch[A], b Batch[B], beta float32, c Batch[float32], e Epilogue[float32], work ...*gpu.Workspace) error,
	unit float64, valueA func(rng *rand.Rand) A, valueB func(rng *rand.Rand) B, numberA func(A) float64, numberB func(B) float64) {
	for _, x := range tensorCases(d) {
		rng := rand.New(rand.NewPCG(3, uint64(x.m)))
		a, da := tensorFactor(t, d, x, x.tA, x.m, x.k, func() A { return valueA(rng) })
		b, db := tensorFactor(t, d, x, x.tB, x.k, x.n, func() B { return valueB(rng) })
		c := newMatrix[float32](rng, x.m*x.batch, x.n, x.skip)
		beta := float32(0.5)
		if !x.post {
			c.data, beta = poisoned[float32](len(c.data)), 0
		}
		dc := Batch[float32]{General[float32]{x.m, x.n, c.stride, c.upload(t, d, 0).Data}, x.m * c.stride, x.batch}
		bias := newMatrix[float32](rng, 1, x.n, 0)
		e := Epilogue[float32]{}
		if x.post {
			e = Epilogue[float32]{Bias: Vector[float32]{x.n, 1, bias.upload(t, d, 0).Data}, Activation: ReLU}
		}
		if err := gemm(d.DefaultStream(), x.tA, x.tB, 2, da, db, beta, dc, e); err != nil {
			t.Fatalf("%+v: %v", x, err)
		}
		checkMatrix(t, fmt.Sprintf("%T by %T %+v", *new(A), *new(B), x), gputest.Download(t, d, dc.Data), c, func(i, j int) (float64, float64) {
			var sum exact
			for p := range x.k {
				sum.add(numberA(a(i/x.m, i%x.m, p)), numberB(b(i/x.m, p, j)))
			}
			sum = sum.scale(2)
			if x.post {
				sum.add(0.5, float64(c.at(NoTrans, i, j)))
				sum.add(1, float64(bias.data[j]))
				return max(sum.value(), 0), float64(2*x.k+6) * unit * sum.magnitude
			}
			return sum.value(), float64(2*x.k+4) * unit * sum.magnitude
		})
	}
}

func TestGemmTensor(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		testGemmTensor(t, d, func(rng *rand.Rand) kernel.Float16 { return kernel.ToFloat16(rng.NormFloat64()) }, kernel.Float16.Float64)
		testGemmTensor(t, d, func(rng *rand.Rand) kernel.BFloat16 { return kernel.ToBFloat16(rng.NormFloat64()) }, kernel.BFloat16.Float64)
		testGemmTensor(t, d, func(rng *rand.Rand) float32 {
			return math.Float32frombits(math.Float32bits(float32(rng.NormFloat64())) &^ (1<<13 - 1)) // exact in TF32
		}, func(x float32) float64 { return float64(x) })
	})
}

func TestGemmFloat8(t *testing.T) {
	e4m3 := func(rng *rand.Rand) kernel.Float8E4M3 { return kernel.ToFloat8E4M3(rng.NormFloat64()) }
	e5m2 := func(rng *rand.Rand) kernel.Float8E5M2 { return kernel.ToFloat8E5M2(rng.NormFloat64()) }
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		testFactors(t, d, GemmFloat8, 0x1p-13, e4m3, e4m3, kernel.Float8E4M3.Float64, kernel.Float8E4M3.Float64)
		testFactors(t, d, GemmFloat8, 0x1p-13, e4m3, e5m2, kernel.Float8E4M3.Float64, kernel.Float8E5M2.Float64)
		testFactors(t, d, GemmFloat8, 0x1p-13, e5m2, e4m3, kernel.Float8E5M2.Float64, kernel.Float8E4M3.Float64)
		testFactors(t, d, GemmFloat8, 0x1p-13, e5m2, e5m2, kernel.Float8E5M2.Float64, kernel.Float8E5M2.Float64)
	})
}

func testGemmInteger[T int8 | uint8](t *testing.T, d *gpu.Device) {
	for _, x := range tensorCases(d) {
		rng := rand.New(rand.NewPCG(4, uint64(x.m)))
		a, da := tensorFactor(t, d, x, x.tA, x.m, x.k, func() T { return T(rng.Uint32()) })
		b, db := tensorFactor(t, d, x, x.tB, x.k, x.n, func() T { return T(rng.Uint32()) })
		old, dc := tensorFactor(t, d, x, NoTrans, x.m, x.n, func() int32 { return int32(rng.Uint32()) })
		if err := GemmInteger(d.DefaultStream(), x.tA, x.tB, 3, da, db, -2, dc); err != nil {
			t.Fatalf("%+v: %v", x, err)
		}
		got := gputest.Download(t, d, dc.Data)
		for i := range x.batch * x.m {
			for j := range x.n {
				want := -2 * old(i/x.m, i%x.m, j)
				for p := range x.k {
					want += 3 * int32(a(i/x.m, i%x.m, p)) * int32(b(i/x.m, p, j))
				}
				if v := got[i*dc.Stride+j]; v != want {
					t.Fatalf("%T %+v: element (%d, %d) is %d, want %d", *new(T), x, i, j, v, want)
				}
			}
		}
	}
}

func TestGemmInteger(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		testGemmInteger[int8](t, d)
		testGemmInteger[uint8](t, d)
	})
}

// TestTensorKernels runs the wide kernels and sums in parts, which the device would not choose.
func TestTensorKernels(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		if d.Backend() == gpu.CPU {
			t.Skip("the kernels are for GPUs")
		}
		const m, n, k = 70, 270, 200
		rng := rand.New(rand.NewPCG(5, 5))
		value := func() kernel.BFloat16 { return kernel.ToBFloat16(rng.NormFloat64()) }
		x := tensorCase{m: m, n: n, k: k, batch: 1, tA: NoTrans, tB: Trans}
		a, da := tensorFactor(t, d, x, NoTrans, m, k, value)
		b, db := tensorFactor(t, d, x, Trans, k, n, value)
		c := matrix[float32]{m, n, n, poisoned[float32](m * n)}
		dc := c.upload(t, d, 0)
		for _, p := range []tensorChoice{{wide: true, tiles: 2, parts: 1, part: k}, {tiles: 3, parts: 2, part: 128}} {
			y := tensorArguments[kernel.BFloat16, kernel.BFloat16, float32]{m: m, n: n, k: k, batch: 1, tA: NoTrans, tB: Trans, alpha: 1, a: da, b: db, c: dc.Batch(), bias: dc.Data, residual: dc.Data}
			if err := y.run(d.DefaultStream(), func(*gpu.Device, int, int, int, int, int) tensorChoice { return p }, nil); err != nil {
				t.Fatal(err)
			}
			checkMatrix(t, fmt.Sprintf("%+v", p), gputest.Download(t, d, dc.Data), c, func(i, j int) (float64, float64) {
				var sum exact
				for q := range k {
					sum.add(a(0, i, q).Float64(), b(0, q, j).Float64())
				}
				return sum.value(), float64(2*k+4) * 0x1p-23 * sum.magnitude
			})
		}
	})
}

// TestGroupKernels runs the kernels for groups of threads.
func TestGroupKernels(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		if d.Backend() == gpu.CPU {
			t.Skip("the kernels are for GPUs")
		}
		testGroups(t, d, func(rng *rand.Rand) kernel.BFloat16 { return kernel.ToBFloat16(rng.NormFloat64()) }, kernel.BFloat16.Float64, float32(1))
		testGroups(t, d, func(rng *rand.Rand) kernel.Float16 { return kernel.ToFloat16(rng.NormFloat64()) }, kernel.Float16.Float64, float32(1))
		testGroups(t, d, func(rng *rand.Rand) float32 { return float32(rng.NormFloat64()) },
			func(x float32) float64 { return float64(math.Float32frombits(mma.RoundTF32(math.Float32bits(x)))) }, float32(1))
		e4m3 := func(rng *rand.Rand) kernel.Float8E4M3 { return kernel.ToFloat8E4M3(rng.NormFloat64()) }
		e5m2 := func(rng *rand.Rand) kernel.Float8E5M2 { return kernel.ToFloat8E5M2(rng.NormFloat64()) }
		testGroups(t, d, e4m3, kernel.Float8E4M3.Float64, float32(1))
		testGroups(t, d, e5m2, kernel.Float8E5M2.Float64, float32(1))
		testGroupsOf(t, d, e4m3, e5m2, kernel.Float8E4M3.Float64, kernel.Float8E5M2.Float64, float32(1))
		testGroupsOf(t, d, e5m2, e4m3, kernel.Float8E5M2.Float64, kernel.Float8E4M3.Float64, float32(1))
		testGroups(t, d, func(rng *rand.Rand) int8 { return int8(rng.Uint32()) }, func(x int8) float64 { return float64(x) }, int32(1))
		testGroups(t, d, func(rng *rand.Rand) uint8 { return uint8(rng.Uint32()) }, func(x uint8) float64 { return float64(x) }, int32(1))
	})
}

func testGroups[T any, C float32 | int32](t *testing.T, d *gpu.Device, value func(rng *rand.Rand) T, number func(T) float64, one C) {
	testGroupsOf(t, d, value, value, number, number, one)
}

func testGroupsOf[A, B any, C float32 | int32](t *testing.T, d *gpu.Device, valueA func(rng *rand.Rand) A, valueB func(rng *rand.Rand) B, numberA func(A) float64, numberB func(B) float64, one C) {
	size, unit := sizeOf[A](), 0x1p-23
	if any(one) == any(float32(1)) && size == 1 {
		unit = 0x1p-13
	} else if size == 1 {
		unit = 0
	}
	// Types of one size run the same code: the simulator, which is slow, multiplies large matrices of
	// one of them only.
	few := false
	for _, v := range []any{*new(A), *new(B)} {
		switch v.(type) {
		case kernel.Float16, kernel.Float8E5M2, uint8:
			few = d.Backend() == gpu.Sim
		}
	}
	for _, c := range []struct {
		m, n, k, parts, batch, skip int
		most                        int  // of blocks
		turned                      bool // A and B are stored with adjacent elements of a column of A and a row of B
	}{
		{1, 1, 1, 1, 1, 0, 0, false},
		{129, 300, 200, 1, 2, 0, 0, false},
		{193, 257, 128 / size, 1, 1, 0, 0, false},
		{130, 40, 5*128/size + 3, 1, 1, 1, 0, false}, // a part of a buffer, not aligned
		{150, 250, 9 * 128 / size, 2, 1, 0, 0, false},
		{191, 256, 6*128/size + 16, 1, 1, 0, 0, false},
		{40, 70, 100, 1, 2, 0, 0, true},
		{260, 600, 3*128/size + 2, 1, 1, 0, 2, false}, // a block computes several tiles
		{390, 300, 64 / size, 1, 1, 0, 3, false},
		{897, 1, 1, 1, 1, 0, 3, false}, // after the last tile, no row of tiles is left
	} {
		if unit == 0 && c.parts > 1 || size != 2 && c.m > 512 || few && c.m*c.n > 6000 {
			continue // integers are not divided; one size is enough for many tiles
		}
		rng := rand.New(rand.NewPCG(6, uint64(c.k)))
		chunk := 16 / size
		stride := divideUp(c.k, chunk)*chunk + chunk
		tA, tB := NoTrans, Trans
		if c.turned {
			tA, tB = Trans, NoTrans
		}
		a, da := groupFactor(t, d, func() A { return valueA(rng) }, c.m, c.k, stride, c.batch, c.skip, c.turned)
		b, db := groupFactor(t, d, func() B { return valueB(rng) }, c.n, c.k, stride, c.batch, c.skip, c.turned)
		old := make([]C, c.m*c.n*c.batch)
		for i := range old {
			old[i] = C(rng.IntN(100) - 50)
		}
		dc := Batch[C]{General[C]{c.m, c.n, c.n, gputest.Upload(t, d, old)}, c.m * c.n, c.batch}
		part := divideUp(divideUp(c.k, c.parts), 128/size) * 128 / size
		p := tensorChoice{groups: true, tiles: divideUp(c.m, 128) * divideUp(c.n, 256), parts: c.parts, part: part, most: c.most}
		y := tensorArguments[A, B, C]{m: c.m, n: c.n, k: c.k, batch: c.batch, tA: tA, tB: tB, alpha: 2 * one, beta: 3 * one, a: da, b: db, c: dc}
		if f, ok := any(dc.Data).(*gpu.Buffer[float32]); ok {
			y.bias, y.residual = f, f
		}
		if err := y.run(d.DefaultStream(), func(*gpu.Device, int, int, int, int, int) tensorChoice { return p }, nil); err != nil {
			t.Fatal(err)
		}
		for at, got := range gputest.Download(t, d, dc.Data) {
			batch, i, j := at/(c.m*c.n), at/c.n%c.m, at%c.n
			var sum exact
			for q := range c.k {
				sum.add(2*numberA(a[(batch*c.m+i)*stride+q]), numberB(b[(batch*c.n+j)*stride+q]))
			}
			sum.add(3, float64(old[at]))
			if !(math.Abs(float64(got)-sum.value()) <= float64(2*c.k+6)*unit*sum.magnitude) {
				t.Fatalf("%T by %T %+v: element (%d, %d) of matrix %d is %v, want %v", *new(A), *new(B), c, i, j, batch, got, sum.value())
			}
		}
	}
}

// groupFactor returns a batch of random matrices, and their elements in rows of stride elements.
// If turned is set, the batch holds their transposes.
func groupFactor[T any](t *testing.T, d *gpu.Device, value func() T, rows, k, stride, batch, skip int, turned bool) ([]T, Batch[T]) {
	data := make([]T, skip+rows*stride*batch)
	for i := range data {
		data[i] = value()
	}
	if turned {
		turned := make([]T, k*rows*batch)
		for i := range turned {
			turned[i] = data[(i/(k*rows)*rows+i%rows)*stride+i/rows%k]
		}
		return data, Batch[T]{General[T]{k, rows, rows, gputest.Upload(t, d, turned)}, k * rows, batch}
	}
	return data[skip:], Batch[T]{General[T]{rows, k, stride, gputest.Upload(t, d, data).Slice(skip, len(data))}, rows * stride, batch}
}
