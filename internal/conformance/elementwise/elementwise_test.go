package elementwise

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// coarse is the minimum number of threads for a launch to run a coarse variant.
const coarse = 1 << 17

// lengths returns lengths near multiples of vectors, of blocks, and of the threads of a
// coarse block.
func lengths() []int {
	var out []int
	for n := range 36 {
		out = append(out, n)
	}
	for _, n := range []int{100, 255, 256, 1024, 4096, coarse} {
		out = append(out, n-1, n, n+1, n+2, n+3, n+13)
	}
	return out
}

func sequence[T uint8 | int8 | uint16 | int32 | float32 | float64](n, factor int) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = T(i * factor % 101)
	}
	return out
}

// launched fails the test if the launch or its execution failed.
func launched(t *testing.T, d *gpu.Device, err error) {
	t.Helper()
	if err == nil {
		err = d.Synchronize(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// at returns a grid with at least n threads that is large enough for a coarse variant.
func at(n int) gpu.Grid { return gpu.Linear(max(n, coarse)) }

func TestLengths(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		const most = coarse + 64
		hostX, hostY := sequence[float32](most, 7), sequence[float32](most, 3)
		x, y := gputest.Upload(t, d, hostX), gputest.Upload(t, d, hostY)
		for _, n := range lengths() {
			part := y.Slice(0, n)
			launched(t, d, LaunchScaleAdd(s, at(n), 2, x, part))
			for i := range n {
				hostY[i] += 2 * hostX[i]
			}
			gputest.Equal(t, gputest.Download(t, d, y), hostY, gputest.Name(fmt.Sprintf("length %d", n)))
		}
	})
}

func TestOddAddresses(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		const n = coarse
		hostX, hostY := sequence[float32](n+8, 7), sequence[float32](n+8, 3)
		x, y := gputest.Upload(t, d, hostX), gputest.Upload(t, d, hostY)
		for offset := range 5 {
			partX := x.Slice(offset, offset+n)
			partY := y.Slice(4-offset, 4-offset+n)
			launched(t, d, LaunchScaleAdd(s, at(n), 2, partX, partY))
			for i := range n {
				hostY[4-offset+i] += 2 * hostX[offset+i]
			}
			gputest.Equal(t, gputest.Download(t, d, y), hostY, gputest.Name(fmt.Sprintf("offset %d", offset)))
		}
	})
}

func TestElementsOfEverySize(t *testing.T) {
	const n = coarse + 5
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		bytes, words := sequence[int8](n, 7), sequence[uint16](n, 661)
		outBytes, outWords := gputest.Upload(t, d, make([]int8, n)), gputest.Upload(t, d, make([]uint16, n))
		launched(t, d, LaunchNegate(s, at(n), n, gputest.Upload(t, d, bytes), outBytes))
		doubled := make([]uint16, n)
		for i := range words {
			words[i] *= 600
			doubled[i] = words[i] / 2
		}
		zero := gputest.Upload(t, d, make([]uint16, n))
		launched(t, d, LaunchAverage(s, at(n), gputest.Upload(t, d, words), zero, outWords))
		doubles := sequence[float64](n, 3)
		squares := gputest.Upload(t, d, doubles)
		launched(t, d, LaunchSquare(s, at(n), squares))
		pixels := sequence[uint8](n, 5)
		widened := gputest.Upload(t, d, make([]float32, n))
		launched(t, d, LaunchWiden(s, at(n), gputest.Upload(t, d, pixels), widened))

		wide := make([]float32, n)
		for i := range n {
			bytes[i] = -bytes[i]
			doubles[i] *= doubles[i]
			wide[i] = float32(pixels[i]) / 255
		}
		gputest.Equal(t, gputest.Download(t, d, outBytes), bytes, gputest.Name("negate"))
		gputest.Equal(t, gputest.Download(t, d, outWords), doubled, gputest.Name("average"))
		gputest.Equal(t, gputest.Download(t, d, squares), doubles, gputest.Name("square"))
		gputest.Equal(t, gputest.Download(t, d, widened), wide, gputest.Name("widen"))
	})
}

// TestGridsOfAnySize also relies on the end of the grid as a guard: no thread runs beyond
// the launched grid.
func TestGridsOfAnySize(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		for _, grid := range []gpu.Dim3{{X: 256, Y: 1, Z: 1}, {X: 257, Y: 1, Z: 1}, {X: 258, Y: 1, Z: 1}, {X: 259, Y: 1, Z: 1}} {
			for _, block := range []int{256, 320} {
				n := grid.X * block
				out, places := gputest.Upload(t, d, make([]int32, n+9)), gputest.Upload(t, d, make([]int32, n+9))
				g := gpu.Blocks(grid, gpu.Dim3{X: block, Y: 1, Z: 1})
				launched(t, d, LaunchNumber(s, g, out))
				launched(t, d, LaunchBlocks(s, g, places))
				want, wantPlaces := make([]int32, n+9), make([]int32, n+9)
				for i := range n {
					want[i], wantPlaces[i] = int32(i), int32(i/block*1000000+grid.X*1000+i%block)
				}
				gputest.Equal(t, gputest.Download(t, d, out), want, gputest.Name("number"))
				gputest.Equal(t, gputest.Download(t, d, places), wantPlaces, gputest.Name("blocks"))
			}
		}
	})
}

func TestHalves(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		const n = coarse + 11
		x, want := make([]kernel.Float16, n), make([]kernel.Float16, n)
		for i := range x {
			x[i] = kernel.ToFloat16(float32(i % 97))
			want[i] = kernel.ToFloat16(1.5 * float32(i%97))
		}
		halves := gputest.Upload(t, d, x)
		launched(t, d, LaunchScaleHalves(d.DefaultStream(), at(n), kernel.ToFloat16(float32(1.5)), halves))
		gputest.Equal(t, gputest.Download(t, d, halves), want, gputest.Name("halves"))
	})
}

func TestAdjacentElementsAndImages(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		const n = coarse + 100
		x := sequence[float32](n, 7)
		y := gputest.Upload(t, d, make([]float32, n))
		launched(t, d, LaunchDifference(s, at(n), gputest.Upload(t, d, x), y))
		want := make([]float32, n)
		for i := range n - 1 {
			want[i] = x[i+1] - x[i]
		}
		gputest.Equal(t, gputest.Download(t, d, y), want, gputest.Name("difference"))

		for _, w := range []int{777, 512, 33} {
			const h = 150
			in := sequence[uint8](w*h, 7)
			out := gputest.Upload(t, d, make([]uint8, w*h))
			launched(t, d, LaunchInvert(s, gpu.Plane(w, h), w, h, gputest.Upload(t, d, in), out))
			for i := range in {
				in[i] = 255 - in[i]
			}
			gputest.Equal(t, gputest.Download(t, d, out), in, gputest.Name(fmt.Sprintf("picture of width %d", w)))
		}
	})
}

func TestAtomicsAndLookups(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		const n = coarse + 7
		values := sequence[uint8](n, 7)
		bins := gputest.Upload(t, d, make([]uint32, 256))
		launched(t, d, LaunchCount(s, at(n), gputest.Upload(t, d, values), bins))
		want := make([]uint32, 256)
		for _, v := range values {
			want[v]++
		}
		gputest.Equal(t, gputest.Download(t, d, bins), want, gputest.Name("count"))

		table, places := sequence[float32](101, 3), sequence[int32](n, 11)
		out := gputest.Upload(t, d, make([]float32, n))
		launched(t, d, LaunchLookUp(s, at(n), gputest.Upload(t, d, table), gputest.Upload(t, d, places), out))
		found := make([]float32, n)
		for i, p := range places {
			found[i] = table[p]
		}
		gputest.Equal(t, gputest.Download(t, d, out), found, gputest.Name("look up"))
	})
}

// TestFaultsInTheMiddleOfAVector checks that a fault names the thread in the kernel's
// source, before coarsening.
func TestFaultsInTheMiddleOfAVector(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		const n, block = coarse + 300, 256
		g := gpu.Blocks(gpu.Dim3{X: (n + block - 1) / block, Y: 1, Z: 1}, gpu.Dim3{X: block, Y: 1, Z: 1})
		table := gputest.Upload(t, d, make([]float32, 10))
		for _, bad := range []int{0, 1, 6, 255, 256, 1023, 1030, 5003, coarse + 257, n - 1} {
			places := make([]int32, n)
			places[bad] = int32(-bad - 1)
			out := gputest.Upload(t, d, make([]float32, n))
			err := LaunchLookUp(s, g, table, gputest.Upload(t, d, places), out)
			if err == nil {
				err = d.Synchronize(context.Background())
			}
			var fault *gpu.KernelError
			if !errors.As(err, &fault) {
				t.Fatalf("element %d: error %v, want a KernelError", bad, err)
			}
			if fault.Kind != gpu.OutOfRange || fault.Index != int64(-bad-1) ||
				fault.Block != (gpu.Dim3{X: bad / block}) || fault.Thread != (gpu.Dim3{X: bad % block}) {
				t.Errorf("element %d: %v", bad, fault)
			}
		}
	})
}
