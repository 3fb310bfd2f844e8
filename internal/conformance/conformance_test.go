package conformance

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// seeds is the number of random inputs per case and device.
const seeds = 3

// launch is one execution of a kernel, as plain Go and on a device.
type launch[I, O any] struct {
	grid, block kernel.Dim3
	plain       func(t kernel.Thread, in []I, out []O)
	device      func(s *gpu.Stream, g gpu.Grid, in *gpu.Buffer[I], out *gpu.Buffer[O]) error
	options     []gputest.Option // for the comparison
}

// check runs a kernel as plain Go and on the device with the same memory contents, and
// compares all of out.
func check[I, O any](t *testing.T, d *gpu.Device, in []I, out []O, l launch[I, O]) {
	t.Helper()
	want := append([]O(nil), out...)
	kernel.Each(l.grid, l.block, func(th kernel.Thread) { l.plain(th, in, want) })

	x, y := gputest.Upload(t, d, in), gputest.Upload(t, d, out)
	if err := l.device(d.DefaultStream(), gpu.Blocks(l.grid, l.block), x, y); err != nil {
		t.Fatal(err)
	}
	if !gputest.Equal(t, gputest.Download(t, d, y), want, l.options...) {
		t.FailNow()
	}
}

func dim(x int, more ...int) kernel.Dim3 {
	d := kernel.Dim3{X: x, Y: 1, Z: 1}
	if len(more) > 0 {
		d.Y = more[0]
	}
	if len(more) > 1 {
		d.Z = more[1]
	}
	return d
}

// integers returns random integers, many of them special values.
func integers[T ~int8 | ~uint8 | ~int16 | ~uint16 | ~int32 | ~uint32 | ~int64 | ~uint64](r *rand.Rand, n int) []T {
	special := []uint64{0, 1, 2, 3, 7, 8, 10, 127, 128, 255, 256, 1<<15 - 1, 1 << 15, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<63 - 1, 1 << 63, math.MaxUint64}
	out := make([]T, n)
	for i := range out {
		v := r.Uint64()
		switch r.IntN(4) {
		case 0:
			v = special[r.IntN(len(special))]
		case 1:
			v >>= r.UintN(64)
		case 2:
			v = -(v >> r.UintN(64))
		}
		out[i] = T(v)
	}
	return out
}

// floats returns random floats of moderate magnitude.
func floats[T float32 | float64](r *rand.Rand, n int, scale float64) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = T((r.Float64()*2 - 1) * scale * math.Exp2(float64(r.IntN(12)-8)))
	}
	return out
}

// poison returns an output array filled with a pattern that no result has by chance.
func poison[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64 | float32 | float64](n int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = T(i%100 + 1)
	}
	return out
}

// integerCase checks a kernel of the form (t, in, out) on integers.
func integerCase[I, O int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64](
	perElement int,
	plain func(t kernel.Thread, in []I, out []O),
	device func(s *gpu.Stream, g gpu.Grid, in *gpu.Buffer[I], out *gpu.Buffer[O]) error,
) func(t *testing.T, d *gpu.Device) {
	return func(t *testing.T, d *gpu.Device) {
		for seed := range uint64(seeds) {
			r := rand.New(rand.NewPCG(seed, 1))
			n := 100 + r.IntN(200)
			check(t, d, integers[I](r, n), poison[O](n*perElement), launch[I, O]{
				grid: dim((n + 63) / 64), block: dim(64), plain: plain, device: device,
			})
		}
	}
}

// floatCase checks a kernel of the form (t, in, out) on floats. Results must agree within
// ulps units in the last place or, where they cancel, within a relative error of 2^-20
// (float32) or 2^-48 (float64).
func floatCase[T float32 | float64](
	perElement int, ulps uint,
	plain func(t kernel.Thread, in, out []T),
	device func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[T]) error,
) func(t *testing.T, d *gpu.Device) {
	return func(t *testing.T, d *gpu.Device) {
		for seed := range uint64(seeds) {
			r := rand.New(rand.NewPCG(seed, 2))
			n := 100 + r.IntN(200)
			check(t, d, floats[T](r, n, 20), poison[T](n*perElement), launch[T, T]{
				grid: dim((n + 63) / 64), block: dim(64), plain: plain, device: device,
				options: []gputest.Option{gputest.ULP(ulps), gputest.NaNEqual},
			})
		}
	}
}

var cases = map[string]func(t *testing.T, d *gpu.Device){
	"int8 arithmetic wraps":                   integerCase(12, int8Arithmetic, LaunchInt8Arithmetic),
	"uint16 arithmetic wraps":                 integerCase(12, uint16Arithmetic, LaunchUint16Arithmetic),
	"int32 arithmetic wraps":                  integerCase(16, int32Arithmetic, LaunchInt32Arithmetic),
	"uint32 arithmetic wraps":                 integerCase(16, uint32Arithmetic, LaunchUint32Arithmetic),
	"int64 arithmetic wraps":                  integerCase(16, int64Arithmetic, LaunchInt64Arithmetic),
	"uint64 arithmetic wraps":                 integerCase(16, uint64Arithmetic, LaunchUint64Arithmetic),
	"int has 64 bits":                         integerCase(8, intArithmetic, LaunchIntArithmetic),
	"conversions truncate and extend":         integerCase(16, conversions, LaunchConversions),
	"math/bits":                               integerCase(16, bitTricks, LaunchBitTricks),
	"comparisons of every signedness":         integerCase(1, comparisons, LaunchComparisons),
	"loops with a data-dependent length":      integerCase(1, collatz, LaunchCollatz),
	"labeled break and continue":              integerCase(1, labelledLoops, LaunchLabelledLoops),
	"switch with fallthrough and default":     integerCase(1, switches, LaunchSwitches),
	"early returns, also from inlined calls":  integerCase(1, earlyReturns, LaunchEarlyReturns),
	"multiple results":                        integerCase(2, divmod, LaunchDivmod),
	"tuple assignment and indexed swaps":      integerCase(1, swaps, LaunchSwaps),
	"local arrays in registers and in memory": integerCase(1, localArrays, LaunchLocalArrays),
	"pointers chosen at run time":             integerCase(1, pointers, LaunchPointers),
	"generic functions, types and methods":    integerCase(1, generics, LaunchGenerics),
	"float32 arithmetic is IEEE":              floatCase(16, 0, float32Arithmetic, LaunchFloat32Arithmetic),
	"float64 arithmetic is IEEE":              floatCase(16, 0, float64Arithmetic, LaunchFloat64Arithmetic),
	"package math is Go's own":                floatCase(16, 2, float64Math, LaunchFloat64Math),
	"package math with tables and gotos":      floatCase(8, 4, specialFunctions, LaunchSpecialFunctions),
	"forward goto":                            integerCase(1, forwardGotos, LaunchForwardGotos),
	"float32 mathematics is within 2 ulp":     floatCase(16, 2, float32Math, LaunchFloat32Math),
	"nested structs and arrays are values":    floatCase(1, 4, nested, LaunchNested),
	"package-level tables":                    floatCase(1, 64, tables, LaunchTables), // sums that cancel
	"each call has its own shared memory":     integerCaseBlock(32, 1, sharedInCall, LaunchSharedInCall),

	"reduction with barriers in a loop": func(t *testing.T, d *gpu.Device) {
		r := rand.New(rand.NewPCG(1, 3))
		in := integers[int32](r, 1000)
		check(t, d, in, poison[int32](16), launch[int32, int32]{
			grid: dim(16), block: dim(64), plain: blockSum, device: LaunchBlockSum,
		})
	},
	"transpose through padded shared memory": func(t *testing.T, d *gpu.Device) {
		r := rand.New(rand.NewPCG(1, 4))
		w, h := 37, 21
		check(t, d, floats[float32](r, w*h, 1), poison[float32](w*h), launch[float32, float32]{
			grid: dim(3, 2), block: dim(16, 16),
			plain: func(t kernel.Thread, in, out []float32) { transposeTile(t, w, h, in, out) },
			device: func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[float32]) error {
				return LaunchTransposeTile(s, g, w, h, in, out)
			},
		})
	},
	"tiled matrix product": func(t *testing.T, d *gpu.Device) {
		r := rand.New(rand.NewPCG(1, 5))
		n := 27
		a, b := floats[float32](r, n*n, 1), floats[float32](r, n*n, 1)
		dB, err := gpu.Upload(d.DefaultStream(), b)
		if err != nil {
			t.Fatal(err)
		}
		defer dB.Close()
		check(t, d, a, poison[float32](n*n), launch[float32, float32]{
			grid: dim(4, 4), block: dim(8, 8),
			plain: func(t kernel.Thread, in, out []float32) { matmulTile(t, n, in, b, out) },
			device: func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[float32]) error {
				return LaunchMatmulTile(s, g, n, in, dB, out)
			},
			options: []gputest.Option{gputest.Abs(1e-4)},
		})
	},
	"barriers in calls, in loops and under uniform conditions": func(t *testing.T, d *gpu.Device) {
		r := rand.New(rand.NewPCG(1, 6))
		in := integers[int32](r, 150)
		check(t, d, in, poison[int32](150), launch[int32, int32]{
			grid: dim(5), block: dim(32),
			plain: func(t kernel.Thread, in, out []int32) { barrierInCall(t, 5, in, out) },
			device: func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[int32]) error {
				return LaunchBarrierInCall(s, g, 5, in, out)
			},
		})
	},
	"histogram with atomics on shared and global memory": func(t *testing.T, d *gpu.Device) {
		r := rand.New(rand.NewPCG(1, 7))
		check(t, d, integers[uint8](r, 3000), make([]uint32, 256), launch[uint8, uint32]{
			grid: dim(4), block: dim(96), plain: histogram, device: LaunchHistogram,
		})
	},
	"three-dimensional launch": func(t *testing.T, d *gpu.Device) {
		w, h, depth := 9, 7, 5
		check(t, d, []int32{0}, poison[int32](w*h*depth), launch[int32, int32]{
			grid: dim(3, 4, 3), block: dim(4, 2, 2),
			plain: func(t kernel.Thread, _, out []int32) { volume(t, w, h, depth, out) },
			device: func(s *gpu.Stream, g gpu.Grid, _, out *gpu.Buffer[int32]) error {
				return LaunchVolume(s, g, w, h, depth, out)
			},
		})
	},
	"two-dimensional stencil with clamped indices": func(t *testing.T, d *gpu.Device) {
		r := rand.New(rand.NewPCG(1, 8))
		w, h := 33, 17
		check(t, d, integers[int32](r, w*h), poison[int32](w*h), launch[int32, int32]{
			grid: dim(5, 5), block: dim(8, 4),
			plain: func(t kernel.Thread, in, out []int32) { plane(t, w, h, in, out) },
			device: func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[int32]) error {
				return LaunchPlane(s, g, w, h, in, out)
			},
		})
	},
	"dot products fuse or not, within rounding": func(t *testing.T, d *gpu.Device) {
		r := rand.New(rand.NewPCG(1, 9))
		check(t, d, floats[float32](r, 50, 1), poison[float32](60), launch[float32, float32]{
			grid: dim(2), block: dim(32),
			plain: func(t kernel.Thread, in, out []float32) { dot(t, 40, in, out) },
			device: func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[float32]) error {
				return LaunchDot(s, g, 40, in, out)
			},
			options: []gputest.Option{gputest.Abs(1e-4)},
		})
	},
	"comparisons with NaN and infinities": func(t *testing.T, d *gpu.Device) {
		r := rand.New(rand.NewPCG(1, 10))
		check(t, d, floats[float64](r, 200, 1), poison[int64](200), launch[float64, int64]{
			grid: dim(4), block: dim(64), plain: nanComparisons, device: LaunchNanComparisons,
		})
	},
	"structs have Go's layout on both sides": func(t *testing.T, d *gpu.Device) {
		r := rand.New(rand.NewPCG(1, 11))
		in := make([]Pixel, 130)
		for i := range in {
			in[i] = Pixel{float32(r.IntN(8)) / 8, float32(r.IntN(8)) / 8, float32(r.IntN(8)) / 8, uint8(r.Uint32()), r.Int64(), r.IntN(2) == 0}
		}
		check(t, d, in, make([]Pixel, len(in)), launch[Pixel, Pixel]{
			grid: dim(3), block: dim(50),
			plain: func(t kernel.Thread, in, out []Pixel) { structs(t, 1.5, in, out) },
			device: func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[Pixel]) error {
				return LaunchStructs(s, g, 1.5, in, out)
			},
		})
	},
	"struct and array arguments": func(t *testing.T, d *gpu.Device) {
		r := rand.New(rand.NewPCG(1, 12))
		grid, offset := Grid2{13, 9}, [3]int32{5, -7, 1 << 30}
		check(t, d, integers[int32](r, 13*9), poison[int32](13*9), launch[int32, int32]{
			grid: dim(2), block: dim(64),
			plain: func(t kernel.Thread, in, out []int32) { structArgument(t, grid, offset, in, out) },
			device: func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[int32]) error {
				return LaunchStructArgument(s, g, grid, offset, in, out)
			},
		})
	},
	"slice expressions of parameters and of local arrays": func(t *testing.T, d *gpu.Device) {
		r := rand.New(rand.NewPCG(1, 13))
		check(t, d, integers[int32](r, 100), poison[int32](100), launch[int32, int32]{
			grid: dim(4), block: dim(32),
			plain: func(t kernel.Thread, in, out []int32) { slices(t, 20, 55, in, out) },
			device: func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[int32]) error {
				return LaunchSlices(s, g, 20, 55, in, out)
			},
		})
	},
	"atomics of every type lose nothing": atomicsCase,
}

// integerCaseBlock is integerCase with the block size of the kernel.
func integerCaseBlock[I, O int32 | int64](
	block, perElement int,
	plain func(t kernel.Thread, in []I, out []O),
	device func(s *gpu.Stream, g gpu.Grid, in *gpu.Buffer[I], out *gpu.Buffer[O]) error,
) func(t *testing.T, d *gpu.Device) {
	return func(t *testing.T, d *gpu.Device) {
		r := rand.New(rand.NewPCG(uint64(block), 1))
		n := 100 + r.IntN(200)
		check(t, d, integers[I](r, n), poison[O](n*perElement), launch[I, O]{
			grid: dim((n + block - 1) / block), block: dim(block), plain: plain, device: device,
		})
	}
}

// atomicsCase computes in plain Go what the atomics must leave in memory, in any order of
// the threads.
func atomicsCase(t *testing.T, d *gpu.Device) {
	r := rand.New(rand.NewPCG(1, 14))
	in := integers[int32](r, 700)
	i32, u32 := []int32{0, math.MaxInt32, math.MinInt32, 0, -1, 0, 0, -1}, []uint32{0, math.MaxUint32, 0, 0}
	i64, u64 := []int64{0, math.MaxInt64, math.MinInt64, 0}, []uint64{0, math.MaxUint64, 0}
	f32, f64 := []float32{0}, []float64{0}

	dIn, dI32, dU32 := gputest.Upload(t, d, in), gputest.Upload(t, d, i32), gputest.Upload(t, d, u32)
	dI64, dU64 := gputest.Upload(t, d, i64), gputest.Upload(t, d, u64)
	dF32, dF64 := gputest.Upload(t, d, f32), gputest.Upload(t, d, f64)
	if err := LaunchAtomics(d.DefaultStream(), gpu.Blocks(dim(6), dim(128)), dIn, dI32, dU32, dI64, dU64, dF32, dF64); err != nil {
		t.Fatal(err)
	}
	kernel.Each(dim(6), dim(128), func(th kernel.Thread) { atomics(th, in, i32, u32, i64, u64, f32, f64) })

	gotI32, gotI64 := gputest.Download(t, d, dI32), gputest.Download(t, d, dI64)
	// The exchange leaves the value of an arbitrary thread. Added to the values that the
	// threads read, it gives the sum of all values.
	exchanged := func(i32 []int32, i64 []int64) int64 {
		sum := i64[3] + int64(i32[7])
		i64[3], i32[7] = 0, 0
		return sum
	}
	if want, have := exchanged(i32, i64), exchanged(gotI32, gotI64); want != have {
		t.Errorf("exchanged values add up to %d, want %d", have, want)
	}
	gputest.Equal(t, gotI32, i32)
	gputest.Equal(t, gotI64, i64)
	gputest.Equal(t, gputest.Download(t, d, dU32), u32)
	gputest.Equal(t, gputest.Download(t, d, dU64), u64)
	gputest.Equal(t, gputest.Download(t, d, dF32), f32)
	gputest.Equal(t, gputest.Download(t, d, dF64), f64)
}

func TestKernelsMatchPlainGo(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for name, f := range cases {
			t.Run(name, func(t *testing.T) { f(t, d) })
		}
	})
}

func ExampleLaunchBlockSum() {
	d, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	s := d.DefaultStream()
	in := make([]int32, 128)
	for i := range in {
		in[i] = int32(i)
	}
	x, _ := gpu.Upload(s, in)
	defer x.Close()
	y, _ := gpu.Alloc[int32](d, 2)
	defer y.Close()
	if err := LaunchBlockSum(s, gpu.Linear(128), x, y); err != nil {
		fmt.Println(err)
		return
	}
	sums := make([]int32, 2)
	if err := gpu.Download(context.Background(), s, sums, y); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(sums)
	// Output: [2016 6112]
}
