package warp

import (
	"math"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// shapes are grids and blocks: whole warps, a last warp with missing lanes, warps that
// span several rows, and a single thread.
var shapes = []struct{ grid, block gpu.Dim3 }{
	{gpu.Dim3{X: 2}, gpu.Dim3{X: 64}},
	{gpu.Dim3{X: 2}, gpu.Dim3{X: 77}},
	{gpu.Dim3{X: 3}, gpu.Dim3{X: 17}},
	{gpu.Dim3{X: 2}, gpu.Dim3{X: 8, Y: 16}},
	{gpu.Dim3{X: 1, Y: 2}, gpu.Dim3{X: 5, Y: 7, Z: 3}},
	{gpu.Dim3{X: 1}, gpu.Dim3{X: 32, Y: 2, Z: 2}},
	{gpu.Dim3{X: 1}, gpu.Dim3{X: 48, Y: 3}},
	{gpu.Dim3{X: 2}, gpu.Dim3{X: 1}},
	{gpu.Dim3{X: 1}, gpu.Dim3{X: 256}},
}

// number returns a random value, often one of a few.
func number[T kernel.Number](r *rand.Rand) T {
	if T(1)/T(2) != 0 {
		if r.IntN(8) == 0 {
			x := [...]float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), 1e-40}[r.IntN(5)]
			return T(x)
		}
		return T(r.NormFloat64() * 100)
	}
	switch r.IntN(3) {
	case 0:
		return T(r.Uint64())
	case 1:
		return T(r.IntN(4))
	}
	return T(r.IntN(200)) - 100
}

func numbers[T kernel.Number](r *rand.Rand, n int) []T {
	x := make([]T, n)
	kind := r.IntN(4)
	for i := range x {
		x[i] = number[T](r)
		if kind == 0 {
			x[i] = 3 // all lanes agree
		}
	}
	return x
}

// lanes returns lane numbers, some of them invalid.
func lanes(r *rand.Rand, n int) []int32 {
	x := make([]int32, n)
	for i := range x {
		x[i] = int32(r.IntN(100) - 40)
	}
	return x
}

// compare compares results. All NaNs are equal.
func compare[T any](t *testing.T, what string, got, want []T) {
	t.Helper()
	gputest.Equal(t, got, want, gputest.NaNEqual, gputest.Name(what))
}

// onShapes runs f on every device with every shape.
func onShapes(t *testing.T, f func(t *testing.T, d *gpu.Device, r *rand.Rand, grid, block gpu.Dim3)) {
	t.Helper()
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, s := range shapes {
			t.Run(s.block.String(), func(t *testing.T) {
				f(t, d, rand.New(rand.NewPCG(1, uint64(s.block.Count()))), s.grid, s.block)
			})
		}
	})
}

type valueKernel[T kernel.Number] func(t kernel.Thread, in []T, lanes []int32, out []T, masks []uint32)
type valueLaunch[T kernel.Number] func(s *gpu.Stream, g gpu.Grid, in *gpu.Buffer[T], lanes *gpu.Buffer[int32], out *gpu.Buffer[T], masks *gpu.Buffer[uint32]) error

// valueTest compares a kernel that executes all operations with kernel.Each.
func valueTest[T kernel.Number](t *testing.T, d *gpu.Device, r *rand.Rand, grid, block gpu.Dim3, k valueKernel[T], launch valueLaunch[T]) {
	n := grid.Count() * block.Count()
	in, from := numbers[T](r, n), lanes(r, n)
	out, masks := make([]T, n*perThread), make([]uint32, 4*n)
	dIn, dFrom, dOut, dMasks := gputest.Upload(t, d, in), gputest.Upload(t, d, from), gputest.Upload(t, d, out), gputest.Upload(t, d, masks)
	kernel.Each(kernel.Dim3(grid), kernel.Dim3(block), func(th kernel.Thread) { k(th, in, from, out, masks) })
	if err := launch(d.DefaultStream(), gpu.Blocks(grid, block), dIn, dFrom, dOut, dMasks); err != nil {
		t.Fatal(err)
	}
	compare(t, "out", gputest.Download(t, d, dOut), out)
	compare(t, "masks", gputest.Download(t, d, dMasks), masks)
}

func valueCase[T kernel.Number](k valueKernel[T], launch valueLaunch[T]) func(t *testing.T) {
	return func(t *testing.T) {
		onShapes(t, func(t *testing.T, d *gpu.Device, r *rand.Rand, grid, block gpu.Dim3) {
			valueTest(t, d, r, grid, block, k, launch)
		})
	}
}

func TestOperationsOnNumbers(t *testing.T) {
	for _, c := range []struct {
		name string
		test func(t *testing.T)
	}{
		{"int8", valueCase(valuesInt8, LaunchValuesInt8)},
		{"int16", valueCase(valuesInt16, LaunchValuesInt16)},
		{"int32", valueCase(valuesInt32, LaunchValuesInt32)},
		{"int64", valueCase(valuesInt64, LaunchValuesInt64)},
		{"int", valueCase(valuesInt, LaunchValuesInt)},
		{"uint8", valueCase(valuesUint8, LaunchValuesUint8)},
		{"uint16", valueCase(valuesUint16, LaunchValuesUint16)},
		{"uint32", valueCase(valuesUint32, LaunchValuesUint32)},
		{"uint64", valueCase(valuesUint64, LaunchValuesUint64)},
		{"uint", valueCase(valuesUint, LaunchValuesUint)},
		{"float32", valueCase(valuesFloat32, LaunchValuesFloat32)},
		{"float64", valueCase(valuesFloat64, LaunchValuesFloat64)},
	} {
		t.Run(c.name, c.test)
	}
}

func TestDeclaredBlocks(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		r := rand.New(rand.NewPCG(2, 2))
		valueTest(t, d, r, gpu.Dim3{X: 2}, gpu.Dim3{X: 64, Y: 2}, valuesDeclared, LaunchValuesDeclared)
		valueTest(t, d, r, gpu.Dim3{X: 2}, gpu.Dim3{X: 7, Y: 9}, valuesPartial, LaunchValuesPartial)
	})
}

// inOut compares a kernel with an input and an output with kernel.Each.
func inOut[T kernel.Number](t *testing.T, d *gpu.Device, in, out []T, grid, block gpu.Dim3,
	k func(t kernel.Thread, in, out []T), launch func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[T]) error,
) {
	t.Helper()
	dIn, dOut := gputest.Upload(t, d, in), gputest.Upload(t, d, out)
	kernel.Each(kernel.Dim3(grid), kernel.Dim3(block), func(th kernel.Thread) { k(th, in, out) })
	if err := launch(d.DefaultStream(), gpu.Blocks(grid, block), dIn, dOut); err != nil {
		t.Fatal(err)
	}
	compare(t, "out", gputest.Download(t, d, dOut), out)
}

func integerCase[T kernel.Integer](k func(t kernel.Thread, in, out []T), launch func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[T]) error) func(t *testing.T) {
	return func(t *testing.T) {
		onShapes(t, func(t *testing.T, d *gpu.Device, r *rand.Rand, grid, block gpu.Dim3) {
			n := grid.Count() * block.Count()
			inOut(t, d, numbers[T](r, n), make([]T, 3*n), grid, block, k, launch)
		})
	}
}

func TestBitwiseReductions(t *testing.T) {
	for _, c := range []struct {
		name string
		test func(t *testing.T)
	}{
		{"int8", integerCase(integersInt8, LaunchIntegersInt8)},
		{"int16", integerCase(integersInt16, LaunchIntegersInt16)},
		{"int32", integerCase(integersInt32, LaunchIntegersInt32)},
		{"int64", integerCase(integersInt64, LaunchIntegersInt64)},
		{"int", integerCase(integersInt, LaunchIntegersInt)},
		{"uint8", integerCase(integersUint8, LaunchIntegersUint8)},
		{"uint16", integerCase(integersUint16, LaunchIntegersUint16)},
		{"uint32", integerCase(integersUint32, LaunchIntegersUint32)},
		{"uint64", integerCase(integersUint64, LaunchIntegersUint64)},
		{"uint", integerCase(integersUint, LaunchIntegersUint)},
	} {
		t.Run(c.name, c.test)
	}
}

func TestVotes(t *testing.T) {
	onShapes(t, func(t *testing.T, d *gpu.Device, r *rand.Rand, grid, block gpu.Dim3) {
		n := grid.Count() * block.Count()
		for _, percent := range []int{0, 3, 50, 97, 100} {
			in := make([]bool, n)
			for i := range in {
				in[i] = r.IntN(100) < percent
			}
			from, out, masks := lanes(r, n), make([]bool, 10*n), make([]uint32, 4*n)
			dIn, dFrom, dOut, dMasks := gputest.Upload(t, d, in), gputest.Upload(t, d, from), gputest.Upload(t, d, out), gputest.Upload(t, d, masks)
			kernel.Each(kernel.Dim3(grid), kernel.Dim3(block), func(th kernel.Thread) { bools(th, in, from, out, masks) })
			if err := LaunchBools(d.DefaultStream(), gpu.Blocks(grid, block), dIn, dFrom, dOut, dMasks); err != nil {
				t.Fatal(err)
			}
			compare(t, "out", gputest.Download(t, d, dOut), out)
			compare(t, "masks", gputest.Download(t, d, dMasks), masks)
		}
	})
}

func TestStructsAndNamedTypes(t *testing.T) {
	onShapes(t, func(t *testing.T, d *gpu.Device, r *rand.Rand, grid, block gpu.Dim3) {
		n := grid.Count() * block.Count()
		in, from, out, codes := make([]pair, n), lanes(r, n), make([]pair, n), make([]code, n)
		for i := range in {
			in[i] = pair{int16(i), i%3 == 0, [2]float64{float64(i) / 3, 2}}
			codes[i] = code(r.Uint32())
		}
		dIn, dFrom, dOut, dCodes := gputest.Upload(t, d, in), gputest.Upload(t, d, from), gputest.Upload(t, d, out), gputest.Upload(t, d, codes)
		kernel.Each(kernel.Dim3(grid), kernel.Dim3(block), func(th kernel.Thread) { structs(th, in, from, out, codes) })
		if err := LaunchStructs(d.DefaultStream(), gpu.Blocks(grid, block), dIn, dFrom, dOut, dCodes); err != nil {
			t.Fatal(err)
		}
		compare(t, "out", gputest.Download(t, d, dOut), out)
		compare(t, "codes", gputest.Download(t, d, dCodes), codes)
	})
}

func TestControlFlow(t *testing.T) {
	for _, c := range []struct {
		name   string
		plain  func(t kernel.Thread, in, out []int32)
		launch func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[int32]) error
	}{
		{"a loop of shuffles reduces", tree, LaunchTree},
		{"warps take different paths and rounds", rounds, LaunchRounds},
		{"warps return, then threads", leave, LaunchLeave},
		{"threads leave constructs one by one", inside, LaunchInside},
		{"a warp works for each of its lanes in turn", distribute, LaunchDistribute},
		{"lanes pass values on through shared memory", neighbours, LaunchNeighbours},
		{"a method is called by whole warps", methods, LaunchMethods},
		{"operations in nested loops and calls", func(t kernel.Thread, in, out []int32) { tangled(t, 9, in, out) },
			func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[int32]) error {
				return LaunchTangled(s, g, 9, in, out)
			}},
		{"phases between barriers", func(t kernel.Thread, in, out []int32) { phases(t, 5, in, out) },
			func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[int32]) error {
				return LaunchPhases(s, g, 5, in, out)
			}},
	} {
		t.Run(c.name, func(t *testing.T) {
			onShapes(t, func(t *testing.T, d *gpu.Device, r *rand.Rand, grid, block gpu.Dim3) {
				n := grid.Count() * block.Count()
				inOut(t, d, numbers[int32](r, n), make([]int32, n), grid, block, c.plain, c.launch)
			})
		})
	}
}

func TestBlockReductionsAndScans(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		r := rand.New(rand.NewPCG(3, 3))
		for _, block := range []gpu.Dim3{{X: 256}, {X: 100}, {X: 1024}, {X: 16, Y: 16}, {X: 9, Y: 5, Z: 3}, {X: 31}} {
			grid := gpu.Dim3{X: 3}
			n := grid.Count() * block.Count()
			x := make([]float32, n)
			for i := range x {
				x[i] = float32(r.NormFloat64())
			}
			inOut(t, d, x, make([]float32, 3), grid, block, reduceFloat32, LaunchReduceFloat32)
		}
		inOut(t, d, numbers[int64](r, 5000), make([]int64, 4), gpu.Dim3{X: 4}, gpu.Dim3{X: 256}, reduceInt64, LaunchReduceInt64)
		inOut(t, d, numbers[uint32](r, 2048), make([]uint32, 2048), gpu.Dim3{X: 2}, gpu.Dim3{X: 1024}, scanBlock, LaunchScanBlock)
	})
}

func TestOneAtomicOperationPerWarp(t *testing.T) {
	onShapes(t, func(t *testing.T, d *gpu.Device, r *rand.Rand, grid, block gpu.Dim3) {
		n := grid.Count() * block.Count()
		in, count, out := numbers[int32](r, n), make([]int32, 1), make([]int32, n)
		dIn, dCount, dOut := gputest.Upload(t, d, in), gputest.Upload(t, d, count), gputest.Upload(t, d, out)
		kernel.Each(kernel.Dim3(grid), kernel.Dim3(block), func(th kernel.Thread) { aggregate(th, in, count, out) })
		if err := LaunchAggregate(d.DefaultStream(), gpu.Blocks(grid, block), dIn, dCount, dOut); err != nil {
			t.Fatal(err)
		}
		compare(t, "count", gputest.Download(t, d, dCount), count)
		compare(t, "out", gputest.Download(t, d, dOut), out)
	})
}
