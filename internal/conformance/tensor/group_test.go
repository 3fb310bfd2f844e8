package tensor

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/internal/mma"
	"quern.dev/kernel"
)

// cut is float32s for elements that are cut off to the TF32 format.
var cut = element[float32]{mma.TF32, float,
	func(x float32) float64 { return float64(math.Float32frombits(math.Float32bits(x) &^ (1<<13 - 1))) }}

func TestGroups(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		t.Run("float16", func(t *testing.T) {
			checkGroups(t, d, float16s, float16s, 64, lines8[kernel.Float16], lines8[kernel.Float16], groups64[[8]kernel.Float16, [8]kernel.Float16, float32], LaunchGroups64)
		})
		t.Run("bfloat16", func(t *testing.T) {
			checkGroups(t, d, bfloat16s, bfloat16s, 64, lines8[kernel.BFloat16], lines8[kernel.BFloat16], groups64[[8]kernel.BFloat16, [8]kernel.BFloat16, float32], LaunchGroups64)
		})
		t.Run("bfloat16, 256 columns", func(t *testing.T) {
			checkGroups(t, d, bfloat16s, bfloat16s, 256, lines8[kernel.BFloat16], lines8[kernel.BFloat16], groups256, LaunchGroups256)
		})
		t.Run("float32", func(t *testing.T) {
			checkGroups(t, d, cut, cut, 64, lines4, lines4, groups64[[4]float32, [4]float32, float32], LaunchGroups64)
		})
		t.Run("e4m3 by e4m3", func(t *testing.T) {
			checkGroups(t, d, e4m3s, e4m3s, 64, lines16[kernel.Float8E4M3], lines16[kernel.Float8E4M3], groups64[[16]kernel.Float8E4M3, [16]kernel.Float8E4M3, float32], LaunchGroups64)
		})
		t.Run("e4m3 by e5m2", func(t *testing.T) {
			checkGroups(t, d, e4m3s, e5m2s, 64, lines16[kernel.Float8E4M3], lines16[kernel.Float8E5M2], groups64[[16]kernel.Float8E4M3, [16]kernel.Float8E5M2, float32], LaunchGroups64)
		})
		t.Run("e5m2 by e4m3", func(t *testing.T) {
			checkGroups(t, d, e5m2s, e4m3s, 64, lines16[kernel.Float8E5M2], lines16[kernel.Float8E4M3], groups64[[16]kernel.Float8E5M2, [16]kernel.Float8E4M3, float32], LaunchGroups64)
		})
		t.Run("e5m2 by e5m2", func(t *testing.T) {
			checkGroups(t, d, e5m2s, e5m2s, 64, lines16[kernel.Float8E5M2], lines16[kernel.Float8E5M2], groups64[[16]kernel.Float8E5M2, [16]kernel.Float8E5M2, float32], LaunchGroups64)
		})
		t.Run("int8", func(t *testing.T) {
			checkGroups(t, d, int8s, int8s, 64, lines16[int8], lines16[int8], groups64[[16]int8, [16]int8, int32], LaunchGroups64)
		})
		t.Run("int8 by uint8", func(t *testing.T) {
			checkGroups(t, d, int8s, uint8s, 64, lines16[int8], lines16[uint8], groups64[[16]int8, [16]uint8, int32], LaunchGroups64)
		})
		t.Run("uint8 by int8", func(t *testing.T) {
			checkGroups(t, d, uint8s, int8s, 64, lines16[uint8], lines16[int8], groups64[[16]uint8, [16]int8, int32], LaunchGroups64)
		})
		t.Run("uint8", func(t *testing.T) {
			checkGroups(t, d, uint8s, uint8s, 64, lines16[uint8], lines16[uint8], groups64[[16]uint8, [16]uint8, int32], LaunchGroups64)
		})
	})
}

func lines4(x []float32) [][4]float32 {
	return slices.Collect(func(yield func([4]float32) bool) {
		for c := range slices.Chunk(x, 4) {
			yield([4]float32(c))
		}
	})
}

func lines8[T any](x []T) [][8]T {
	return slices.Collect(func(yield func([8]T) bool) {
		for c := range slices.Chunk(x, 8) {
			yield([8]T(c))
		}
	})
}

func lines16[T any](x []T) [][16]T {
	return slices.Collect(func(yield func([16]T) bool) {
		for c := range slices.Chunk(x, 16) {
			yield([16]T(c))
		}
	})
}

// checkGroups compares sums of products of tiles with float64 and with kernel.Each.
func checkGroups[A, B kernel.MatrixElement, LA, LB any, C float32 | int32](t *testing.T, d *gpu.Device, ea element[A], eb element[B], n int,
	linesA func([]A) []LA, linesB func([]B) []LB,
	run func(t kernel.Thread, steps int, a []LA, b []LB, c []C),
	launch func(s *gpu.Stream, g gpu.Grid, steps int, a *gpu.Buffer[LA], b *gpu.Buffer[LB], c *gpu.Buffer[C]) error) {
	const m, steps = 128, 3
	k := steps * 128 / ea.format.Size()
	rng := rand.New(rand.NewPCG(11, uint64(ea.format)))
	a, b := randoms(ea, m*k, rng), randoms(eb, n*k, rng)
	start := make([]C, m*n)
	for i := range start {
		start[i] = C(rng.IntN(200) - 100)
	}
	la, lb := linesA(a), linesB(b)
	each := slices.Clone(start)
	grid, block := gpu.Dim3{X: 1}, gpu.Dim3{X: 256}
	kernel.Each(grid, block, func(th kernel.Thread) { run(th, steps, la, lb, each) })
	dc := gputest.Upload(t, d, start)
	if err := launch(d.DefaultStream(), gpu.Blocks(grid, block), steps, gputest.Upload(t, d, la), gputest.Upload(t, d, lb), dc); err != nil {
		t.Fatal(err)
	}
	exact := ea.format >= mma.Int8
	for i, got := range gputest.Download(t, d, dc) {
		want, magnitude := float64(start[i]), math.Abs(float64(start[i]))
		for j := range k {
			p := ea.value(a[i/n*k+j]) * eb.value(b[i%n*k+j])
			want += p
			magnitude += math.Abs(p)
		}
		bound := float64(k+steps+1) * magnitude * 0x1p-23
		if ea.format.IsFloat8() {
			bound *= 0x1p10
		}
		if exact {
			bound = 0
		}
		if !(math.Abs(float64(got)-want) <= bound) || !(math.Abs(float64(each[i])-want) <= bound) {
			t.Fatalf("element %d is %v, with Each %v, want %v, at most %g off", i, got, each[i], want, bound)
		}
	}
}
