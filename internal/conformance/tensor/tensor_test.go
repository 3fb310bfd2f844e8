package tensor

import (
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/internal/mma"
	"quern.dev/kernel"
)

// element describes a type of matrix elements for the tests.
type element[T kernel.MatrixElement] struct {
	format mma.Format
	random func(rng *rand.Rand) T
	value  func(T) float64
}

func float(rng *rand.Rand) float32 { return float32(rng.NormFloat64()) }

var (
	float16s = element[kernel.Float16]{mma.Float16,
		func(rng *rand.Rand) kernel.Float16 { return kernel.ToFloat16(float(rng)) },
		func(x kernel.Float16) float64 { return float64(x.Float32()) }}
	bfloat16s = element[kernel.BFloat16]{mma.BFloat16,
		func(rng *rand.Rand) kernel.BFloat16 { return kernel.ToBFloat16(float(rng)) },
		func(x kernel.BFloat16) float64 { return float64(x.Float32()) }}
	float32s = element[float32]{mma.TF32, float,
		func(x float32) float64 {
			return float64(math.Float32frombits(mma.RoundTF32(math.Float32bits(x))))
		}}
	float64s = element[float64]{mma.Float64,
		func(rng *rand.Rand) float64 { return rng.NormFloat64() }, func(x float64) float64 { return x }}
	e4m3s = element[kernel.Float8E4M3]{mma.E4M3,
		func(rng *rand.Rand) kernel.Float8E4M3 { return kernel.ToFloat8E4M3(float(rng)) }, kernel.Float8E4M3.Float64}
	e5m2s = element[kernel.Float8E5M2]{mma.E5M2,
		func(rng *rand.Rand) kernel.Float8E5M2 { return kernel.ToFloat8E5M2(float(rng)) }, kernel.Float8E5M2.Float64}
	int8s = element[int8]{mma.Int8,
		func(rng *rand.Rand) int8 { return int8(rng.Uint32()) }, func(x int8) float64 { return float64(x) }}
	uint8s = element[uint8]{mma.Uint8,
		func(rng *rand.Rand) uint8 { return uint8(rng.Uint32()) }, func(x uint8) float64 { return float64(x) }}
)

func randoms[T kernel.MatrixElement](e element[T], n int, rng *rand.Rand) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = e.random(rng)
	}
	return x
}

func TestProducts(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		t.Run("float16", func(t *testing.T) { checkProduct[kernel.Float16, kernel.Float16, float32](t, d, float16s, float16s) })
		t.Run("bfloat16", func(t *testing.T) {
			checkProduct[kernel.BFloat16, kernel.BFloat16, float32](t, d, bfloat16s, bfloat16s)
		})
		t.Run("float32", func(t *testing.T) { checkProduct[float32, float32, float32](t, d, float32s, float32s) })
		t.Run("float64", func(t *testing.T) { checkProduct[float64, float64, float64](t, d, float64s, float64s) })
		t.Run("e4m3 by e4m3", func(t *testing.T) { checkProduct[kernel.Float8E4M3, kernel.Float8E4M3, float32](t, d, e4m3s, e4m3s) })
		t.Run("e4m3 by e5m2", func(t *testing.T) { checkProduct[kernel.Float8E4M3, kernel.Float8E5M2, float32](t, d, e4m3s, e5m2s) })
		t.Run("e5m2 by e4m3", func(t *testing.T) { checkProduct[kernel.Float8E5M2, kernel.Float8E4M3, float32](t, d, e5m2s, e4m3s) })
		t.Run("e5m2 by e5m2", func(t *testing.T) { checkProduct[kernel.Float8E5M2, kernel.Float8E5M2, float32](t, d, e5m2s, e5m2s) })
		t.Run("int8", func(t *testing.T) { checkProduct[int8, int8, int32](t, d, int8s, int8s) })
		t.Run("int8 by uint8", func(t *testing.T) { checkProduct[int8, uint8, int32](t, d, int8s, uint8s) })
		t.Run("uint8 by int8", func(t *testing.T) { checkProduct[uint8, int8, int32](t, d, uint8s, int8s) })
		t.Run("uint8", func(t *testing.T) { checkProduct[uint8, uint8, int32](t, d, uint8s, uint8s) })
	})
}

// checkProduct compares a product with one computed in float64. Integer products, and all
// products on devices other than GPUs, must also equal those of kernel.Each.
func checkProduct[A, B kernel.MatrixElement, C float32 | float64 | int32](t *testing.T, d *gpu.Device, ea element[A], eb element[B]) {
	const m, n = 48, 24
	k := 3 * ea.format.K()
	rng := rand.New(rand.NewPCG(7, uint64(ea.format)))
	a, b := randoms(ea, m*k, rng), randoms(eb, k*n, rng)
	start := make([]C, m*n)
	for i := range start {
		start[i] = C(rng.IntN(200) - 100)
	}
	tiles := m / 16 * n / 8
	grid, block := gpu.Dim3{X: (tiles + 1) / 2}, gpu.Dim3{X: 64}
	da, db := gputest.Upload(t, d, a), gputest.Upload(t, d, b)
	for _, layout := range []struct {
		name        string
		row, column int
	}{{"contiguous rows of b", n, 1}, {"contiguous columns of b", 1, k}} {
		t.Run(layout.name, func(t *testing.T) {
			each := slices.Clone(start)
			kernel.Each(grid, block, func(th kernel.Thread) { product(th, n, k, layout.row, layout.column, a, b, each) })
			dc := gputest.Upload(t, d, start)
			if err := LaunchProduct(d.DefaultStream(), gpu.Blocks(grid, block), n, k, layout.row, layout.column, da, db, dc); err != nil {
				t.Fatal(err)
			}
			exact := ea.format >= mma.Int8 || d.Backend() != gpu.CUDA
			for i, got := range gputest.Download(t, d, dc) {
				if exact && got != each[i] {
					t.Fatalf("element %d is %v, with Each %v", i, got, each[i])
				}
				want, bound := float64(start[i]), 0.0
				for at := 0; at < k; at += ea.format.K() {
					magnitude := math.Abs(want)
					for j := at; j < at+ea.format.K(); j++ {
						p := ea.value(a[i/n*k+j]) * eb.value(b[j*layout.row+i%n*layout.column])
						want += p
						magnitude += math.Abs(p)
					}
					bound += mma.Bound(ea.format, magnitude)
				}
				if exact && ea.format >= mma.Int8 {
					bound = 0
				}
				if !(math.Abs(float64(got)-want) <= bound) {
					t.Fatalf("element %d is %v, want %v, at most %g off", i, got, want, bound)
				}
			}
		})
	}
}

func TestLoads(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		t.Run("float16", func(t *testing.T) {
			checkLoads[kernel.Float16, [8]kernel.Float16](t, d, load[kernel.Float16, [8]kernel.Float16])
		})
		t.Run("bfloat16", func(t *testing.T) {
			checkLoads[kernel.BFloat16, [8]kernel.BFloat16](t, d, load[kernel.BFloat16, [8]kernel.BFloat16])
		})
		t.Run("float32", func(t *testing.T) { checkLoads[float32, [4]float32](t, d, load[float32, [4]float32]) })
		t.Run("float8", func(t *testing.T) {
			checkLoads[kernel.Float8E4M3, [16]kernel.Float8E4M3](t, d, load[kernel.Float8E4M3, [16]kernel.Float8E4M3])
		})
		t.Run("int8", func(t *testing.T) { checkLoads[int8, [16]int8](t, d, load[int8, [16]int8]) })
		t.Run("uint8", func(t *testing.T) { checkLoads[uint8, [16]uint8](t, d, load[uint8, [16]uint8]) })
	})
}

// loaded and line are the sets of types that load is compiled for.
type loaded interface {
	kernel.Float16 | kernel.BFloat16 | kernel.Float8E4M3 | float32 | int8 | uint8
}

type line interface {
	[8]kernel.Float16 | [8]kernel.BFloat16 | [16]kernel.Float8E4M3 | [4]float32 | [16]int8 | [16]uint8
}

// bytesOf returns n lines of 16 bytes that all differ.
func bytesOf[R line](n int) []R {
	lines := make([]R, n)
	for i := range lines {
		for j := range 16 {
			setByte(&lines[i], j, byte(i*16+j+i/16))
		}
	}
	return lines
}

func setByte[R line](line *R, i int, v byte) {
	switch line := any(line).(type) {
	case *[8]kernel.Float16:
		line[i/2] = kernel.Float16FromBits(withByte(line[i/2].Bits(), i, v))
	case *[8]kernel.BFloat16:
		line[i/2] = kernel.BFloat16FromBits(withByte(line[i/2].Bits(), i, v))
	case *[4]float32:
		shift := i % 4 * 8
		line[i/4] = math.Float32frombits(math.Float32bits(line[i/4])&^(0xff<<shift) | uint32(v&0x3f)<<shift) // not NaN
	case *[16]int8:
		line[i] = int8(v)
	case *[16]uint8:
		line[i] = v
	}
}

func withByte(x uint16, i int, v byte) uint16 {
	shift := i % 2 * 8
	return x&^(0xff<<shift) | uint16(v)<<shift
}

// checkLoads compares the results of LoadMatrix and ReadMatrix.
func checkLoads[T loaded, R line](t *testing.T, d *gpu.Device, plain func(kernel.Thread, []R, []uint32)) {
	lines := bytesOf[R](64)
	each := make([]uint32, 64*8)
	kernel.Each(gpu.Dim3{X: 1}, gpu.Dim3{X: 64}, func(th kernel.Thread) { plain(th, lines, each) })
	words := gputest.Upload(t, d, make([]uint32, 64*8))
	if err := LaunchLoad[T](d.DefaultStream(), gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 64}), gputest.Upload(t, d, lines), words); err != nil {
		t.Fatal(err)
	}
	got := gputest.Download(t, d, words)
	if !slices.Equal(got, each) {
		t.Errorf("words are %x, with Each %x", got, each)
	}
	var flat []T
	for _, line := range lines {
		flat = append(flat, elements[T](line)...)
	}
	k := kernel.MatrixColumns[T]()
	kernel.Each(gpu.Dim3{X: 1}, gpu.Dim3{X: 64}, func(th kernel.Thread) {
		tile := flat[th.Warp()*16*k:]
		a := kernel.ReadMatrixA(th, tile, k, 1)
		left, right := kernel.ReadMatrixB(th, tile, 1, k), kernel.ReadMatrixB(th, tile[8*k:], 1, k)
		want := slices.Concat(a[:], left[:], right[:])
		if have := got[th.ThreadIdx.X*8:][:8]; !slices.Equal(have, want) {
			t.Errorf("thread %d loads %x; ReadMatrix reads %x", th.ThreadIdx.X, have, want)
		}
	})
}

func TestTransposedLoads(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		t.Run("float16", func(t *testing.T) {
			checkTransposed[kernel.Float16, [8]kernel.Float16](t, d, loadTransposed[kernel.Float16, [8]kernel.Float16])
		})
		t.Run("bfloat16", func(t *testing.T) {
			checkTransposed[kernel.BFloat16, [8]kernel.BFloat16](t, d, loadTransposed[kernel.BFloat16, [8]kernel.BFloat16])
		})
	})
}

func checkTransposed[T kernel.Float16 | kernel.BFloat16, R [8]kernel.Float16 | [8]kernel.BFloat16](t *testing.T, d *gpu.Device, plain func(kernel.Thread, []R, []uint32)) {
	lines := bytesOf[R](64)
	each := make([]uint32, 64*8)
	kernel.EachDynamic(gpu.Dim3{X: 1}, gpu.Dim3{X: 64}, 1024, func(th kernel.Thread) { plain(th, lines, each) })
	words := gputest.Upload(t, d, make([]uint32, 64*8))
	grid := gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 64}).Shared(1024)
	if err := LaunchLoadTransposed[T](d.DefaultStream(), grid, gputest.Upload(t, d, lines), words); err != nil {
		t.Fatal(err)
	}
	got := gputest.Download(t, d, words)
	if !slices.Equal(got, each) {
		t.Errorf("words are %x, with Each %x", got, each)
	}
	var flat []T
	for _, line := range lines {
		flat = append(flat, elements[T](line)...)
	}
	kernel.Each(gpu.Dim3{X: 1}, gpu.Dim3{X: 64}, func(th kernel.Thread) {
		tile := flat[th.Warp()*16*16:]
		a := kernel.ReadMatrixA(th, tile, 1, 16)
		left, right := kernel.ReadMatrixB(th, tile, 16, 1), kernel.ReadMatrixB(th, tile[8:], 16, 1)
		want := slices.Concat(a[:], left[:], right[:])
		if have := got[th.ThreadIdx.X*8:][:8]; !slices.Equal(have, want) {
			t.Errorf("thread %d loads %x; ReadMatrix reads %x", th.ThreadIdx.X, have, want)
		}
	})
}

// elements returns the elements of a line.
func elements[T kernel.MatrixElement, R line](line R) []T {
	switch line := any(line).(type) {
	case [8]kernel.Float16:
		return any(line[:]).([]T)
	case [8]kernel.BFloat16:
		return any(line[:]).([]T)
	case [4]float32:
		return any(line[:]).([]T)
	case [16]kernel.Float8E4M3:
		return any(line[:]).([]T)
	case [16]int8:
		return any(line[:]).([]T)
	}
	bytes := any(line).([16]uint8)
	return any(bytes[:]).([]T)
}

func TestLineOutsideTileFaults(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		words := gputest.Upload(t, d, make([]uint32, 32))
		grid := gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 32})
		if err := LaunchOutside(d.DefaultStream(), grid, 15, words); err != nil {
			t.Fatal(err)
		}
		if err := d.Synchronize(t.Context()); err != nil {
			t.Fatalf("the last line gives %v", err)
		}
		err := LaunchOutside(d.DefaultStream(), grid, 16, words)
		if err == nil {
			err = d.Synchronize(t.Context())
		}
		e, ok := errors.AsType[*gpu.KernelError](err)
		if !ok || e.Index != 16 || e.Length != 16 {
			t.Errorf("error is %v (%+v), want index 16 of length 16", err, e)
		}
	})
}

func TestMissingElementFaultsAtTheRead(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		a := gputest.Upload(t, d, make([]float32, 100)) // of 128
		b := gputest.Upload(t, d, make([]float32, 64))
		c := gputest.Upload(t, d, make([]float32, 128))
		err := LaunchProduct(d.DefaultStream(), gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 64}), 8, 8, 8, 1, a, b, c)
		if err == nil {
			err = d.Synchronize(t.Context())
		}
		e, ok := errors.AsType[*gpu.KernelError](err)
		if !ok || filepath.Base(e.File) != "kernels.go" || e.Line != 22 || e.Length != 100 {
			t.Errorf("error is %v (%+v), want one of 100 elements at kernels.go:22", err, e)
		}
	})
}
