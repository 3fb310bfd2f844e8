package memory

import (
	"context"
	"errors"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func numbers[T int32 | float32 | uint32](n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(i*7%101 + 1)
	}
	return x
}

func launched(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestDynamicSharedMemory(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		grid := func(blocks, threads, bytes int) gpu.Grid {
			return gpu.Blocks(gpu.Dim3{X: blocks}, gpu.Dim3{X: threads}).Shared(bytes)
		}
		each := func(blocks, threads, bytes int, body func(kernel.Thread)) {
			kernel.EachDynamic(kernel.Dim3{X: blocks}, kernel.Dim3{X: threads}, bytes, body)
		}

		want := numbers[int32](192)
		each(3, 64, 256, func(th kernel.Thread) { reverse(th, want) })
		x := gputest.Upload(t, d, numbers[int32](192))
		launched(t, LaunchReverse(s, grid(3, 64, 256), x))
		gputest.Equal(t, gputest.Download(t, d, x), want)

		words := numbers[uint32](16)
		wantBytes, wantLengths := make([]uint8, 64), make([]int, 4)
		each(1, 32, 64, func(th kernel.Thread) { views(th, words, wantBytes, wantLengths) })
		w, b, l := gputest.Upload(t, d, words), gputest.Upload(t, d, make([]uint8, 64)), gputest.Upload(t, d, make([]int, 4))
		launched(t, LaunchViews(s, grid(1, 32, 64), w, b, l))
		gputest.Equal(t, gputest.Download(t, d, b), wantBytes)
		gputest.Equal(t, gputest.Download(t, d, l), wantLengths)

		wantFloats := numbers[float32](128)
		each(2, 64, 256, func(th kernel.Thread) { beside(th, wantFloats) })
		f := gputest.Upload(t, d, numbers[float32](128))
		launched(t, LaunchBeside(s, grid(2, 64, 256), f))
		gputest.Equal(t, gputest.Download(t, d, f), wantFloats)

		wantSquares := make([]int32, 25)
		each(1, 32, 200, func(th kernel.Thread) { throughFunction(th, wantSquares) })
		q := gputest.Upload(t, d, make([]int32, 25))
		launched(t, LaunchThroughFunction(s, grid(1, 32, 200), q))
		gputest.Equal(t, gputest.Download(t, d, q), wantSquares)
	})
}

func TestIndexPastDynamicSharedMemoryFaults(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, test := range []struct {
			name          string
			bytes         int
			index, length int64
		}{
			{"one element too few", 31 * 4, 31, 31},
			{"not one whole element", 3, 0, 0},
			{"nothing", 0, 0, 0},
		} {
			out := gputest.Upload(t, d, make([]int32, 32))
			launched(t, LaunchOutside(d.DefaultStream(), gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 32}).Shared(test.bytes), out))
			err := d.DefaultStream().Synchronize(context.Background())
			fault, ok := errors.AsType[*gpu.KernelError](err)
			if !ok || fault.Kind != gpu.OutOfRange || fault.Length != test.length || test.length > 0 && fault.Index != test.index {
				t.Errorf("%s: got %v, want index %d of length %d", test.name, err, test.index, test.length)
			}
			if hints := strings.Contains(err.Error(), "Grid.Shared"); hints != (test.length == 0) {
				t.Errorf("%s: got %v, want Grid.Shared if there are no elements", test.name, err)
			}
		}
	})
}

func TestStaticSharedMemoryAbove48KiB(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		want := numbers[float32](512)
		kernel.EachDynamic(kernel.Dim3{X: 2}, kernel.Dim3{X: 256}, 4096, func(th kernel.Thread) { large(th, want) })
		x := gputest.Upload(t, d, numbers[float32](512))
		grid := gpu.Blocks(gpu.Dim3{X: 2}, gpu.Dim3{X: 256})
		launched(t, LaunchLarge(d.DefaultStream(), grid.Shared(4096), x))
		gputest.Equal(t, gputest.Download(t, d, x), want)

		err := LaunchLarge(d.DefaultStream(), grid.Shared(200<<10), x)
		if !errors.Is(err, gpu.ErrInvalid) || !strings.Contains(err.Error(), "204800 bytes of dynamic and 65552 bytes of static shared memory") {
			t.Errorf("too much beside the static memory: %v", err)
		}
	})
}
