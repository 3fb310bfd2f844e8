package elementwise

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/internal/devicetest"
	"quern.dev/kernel"
)

// coarse is the number of threads that a launch needs to run a coarse variant.
const coarse = 1 << 17

// lengths are those around multiples of vectors, blocks and the threads of a
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

func check[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if slices.Equal(got, want) {
		return
	}
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("%s: element %d is %v, want %v", what, i, got[i], want[i])
		}
	}
}

// launched fails the test if the launch or what it ran failed.
func launched(t *testing.T, d *gpu.Device, err error) {
	t.Helper()
	if err == nil {
		err = d.Synchronize(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// at is the grid of at least n threads that is large enough.
func at(n int) gpu.Grid { return gpu.Linear(max(n, coarse)) }

func TestLengths(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		const most = coarse + 64
		hostX, hostY := sequence[float32](most, 7), sequence[float32](most, 3)
		x, y := devicetest.Upload(t, d, hostX), devicetest.Upload(t, d, hostY)
		for _, n := range lengths() {
			part := y.Slice(0, n)
			launched(t, d, LaunchScaleAdd(s, at(n), 2, x, part))
			for i := range n {
				hostY[i] += 2 * hostX[i]
			}
			check(t, fmt.Sprintf("length %d", n), devicetest.Download(t, d, y), hostY)
		}
	})
}

func TestOddAddresses(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		const n = coarse
		hostX, hostY := sequence[float32](n+8, 7), sequence[float32](n+8, 3)
		x, y := devicetest.Upload(t, d, hostX), devicetest.Upload(t, d, hostY)
		for offset := range 5 {
			partX := x.Slice(offset, offset+n)
			partY := y.Slice(4-offset, 4-offset+n)
			launched(t, d, LaunchScaleAdd(s, at(n), 2, partX, partY))
			for i := range n {
				hostY[4-offset+i] += 2 * hostX[offset+i]
			}
			check(t, fmt.Sprintf("offset %d", offset), devicetest.Download(t, d, y), hostY)
		}
	})
}

func TestElementsOfEverySize(t *testing.T) {
	const n = coarse + 5
	devicetest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		bytes, words := sequence[int8](n, 7), sequence[uint16](n, 661)
		outBytes, outWords := devicetest.Upload(t, d, make([]int8, n)), devicetest.Upload(t, d, make([]uint16, n))
		launched(t, d, LaunchNegate(s, at(n), n, devicetest.Upload(t, d, bytes), outBytes))
		doubled := make([]uint16, n)
		for i := range words {
			words[i] *= 600
			doubled[i] = words[i] / 2
		}
		zero := devicetest.Upload(t, d, make([]uint16, n))
		launched(t, d, LaunchAverage(s, at(n), devicetest.Upload(t, d, words), zero, outWords))
		doubles := sequence[float64](n, 3)
		squares := devicetest.Upload(t, d, doubles)
		launched(t, d, LaunchSquare(s, at(n), squares))
		pixels := sequence[uint8](n, 5)
		widened := devicetest.Upload(t, d, make([]float32, n))
		launched(t, d, LaunchWiden(s, at(n), devicetest.Upload(t, d, pixels), widened))

		wide := make([]float32, n)
		for i := range n {
			bytes[i] = -bytes[i]
			doubles[i] *= doubles[i]
			wide[i] = float32(pixels[i]) / 255
		}
		check(t, "negate", devicetest.Download(t, d, outBytes), bytes)
		check(t, "average", devicetest.Download(t, d, outWords), doubled)
		check(t, "square", devicetest.Download(t, d, squares), doubles)
		check(t, "widen", devicetest.Download(t, d, widened), wide)
	})
}

// The grid's end is a guard too: no thread runs that the launch did not state.
func TestGridsThatAreNoMultiple(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		for _, grid := range []gpu.Dim3{{X: 256, Y: 1, Z: 1}, {X: 257, Y: 1, Z: 1}, {X: 258, Y: 1, Z: 1}, {X: 259, Y: 1, Z: 1}} {
			for _, block := range []int{256, 320} {
				n := grid.X * block
				out, places := devicetest.Upload(t, d, make([]int32, n+9)), devicetest.Upload(t, d, make([]int32, n+9))
				g := gpu.Blocks(grid, gpu.Dim3{X: block, Y: 1, Z: 1})
				launched(t, d, LaunchNumber(s, g, out))
				launched(t, d, LaunchBlocks(s, g, places))
				want, wantPlaces := make([]int32, n+9), make([]int32, n+9)
				for i := range n {
					want[i], wantPlaces[i] = int32(i), int32(i/block*1000000+grid.X*1000+i%block)
				}
				check(t, "number", devicetest.Download(t, d, out), want)
				check(t, "blocks", devicetest.Download(t, d, places), wantPlaces)
			}
		}
	})
}

func TestHalves(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d *gpu.Device) {
		const n = coarse + 11
		x, want := make([]kernel.Float16, n), make([]kernel.Float16, n)
		for i := range x {
			x[i] = kernel.ToFloat16(float32(i % 97))
			want[i] = kernel.ToFloat16(1.5 * float32(i%97))
		}
		halves := devicetest.Upload(t, d, x)
		launched(t, d, LaunchScaleHalves(d.DefaultStream(), at(n), kernel.ToFloat16(float32(1.5)), halves))
		check(t, "halves", devicetest.Download(t, d, halves), want)
	})
}

func TestNeighboursAndPictures(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		const n = coarse + 100
		x := sequence[float32](n, 7)
		y := devicetest.Upload(t, d, make([]float32, n))
		launched(t, d, LaunchDifference(s, at(n), devicetest.Upload(t, d, x), y))
		want := make([]float32, n)
		for i := range n - 1 {
			want[i] = x[i+1] - x[i]
		}
		check(t, "difference", devicetest.Download(t, d, y), want)

		for _, w := range []int{777, 512, 33} {
			const h = 150
			in := sequence[uint8](w*h, 7)
			out := devicetest.Upload(t, d, make([]uint8, w*h))
			launched(t, d, LaunchInvert(s, gpu.Plane(w, h), w, h, devicetest.Upload(t, d, in), out))
			for i := range in {
				in[i] = 255 - in[i]
			}
			check(t, fmt.Sprintf("picture of width %d", w), devicetest.Download(t, d, out), in)
		}
	})
}

func TestAtomicsAndLookups(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		const n = coarse + 7
		values := sequence[uint8](n, 7)
		bins := devicetest.Upload(t, d, make([]uint32, 256))
		launched(t, d, LaunchCount(s, at(n), devicetest.Upload(t, d, values), bins))
		want := make([]uint32, 256)
		for _, v := range values {
			want[v]++
		}
		check(t, "count", devicetest.Download(t, d, bins), want)

		table, places := sequence[float32](101, 3), sequence[int32](n, 11)
		out := devicetest.Upload(t, d, make([]float32, n))
		launched(t, d, LaunchLookUp(s, at(n), devicetest.Upload(t, d, table), devicetest.Upload(t, d, places), out))
		found := make([]float32, n)
		for i, p := range places {
			found[i] = table[p]
		}
		check(t, "look up", devicetest.Download(t, d, out), found)
	})
}

// A fault names the thread that the kernel's author wrote.
func TestFaultsInTheMiddleOfAVector(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		const n, block = coarse + 300, 256
		g := gpu.Blocks(gpu.Dim3{X: (n + block - 1) / block, Y: 1, Z: 1}, gpu.Dim3{X: block, Y: 1, Z: 1})
		table := devicetest.Upload(t, d, make([]float32, 10))
		for _, bad := range []int{0, 1, 6, 255, 256, 1023, 1030, 5003, coarse + 257, n - 1} {
			places := make([]int32, n)
			places[bad] = int32(-bad - 1)
			out := devicetest.Upload(t, d, make([]float32, n))
			err := LaunchLookUp(s, g, table, devicetest.Upload(t, d, places), out)
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
