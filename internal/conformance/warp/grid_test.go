package warp

import (
	"context"
	"errors"
	"strings"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func ramp[T int32 | int64 | float32](n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(i*i%97 - 40)
	}
	return x
}

func TestGridBarrier(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		for _, blocks := range []int{1, 2, 13} {
			grid, block := gpu.Dim3{X: blocks}, gpu.Dim3{X: 48}
			x, y := ramp[float32](1000), make([]float32, 1000)
			dx, dy := gputest.Upload(t, d, x), gputest.Upload(t, d, y)
			kernel.Each(grid, block, func(th kernel.Thread) { relax(th, 7, x, y) })
			if err := LaunchRelax(s, gpu.Blocks(grid, block), 7, dx, dy); err != nil {
				t.Fatal(err)
			}
			compare(t, "x", gputest.Download(t, d, dx), x)

			block.X = 64
			in, partial, out := ramp[int64](5000), make([]int64, blocks), make([]int64, 64*blocks)
			dIn, dPartial, dOut := gputest.Upload(t, d, in), gputest.Upload(t, d, partial), gputest.Upload(t, d, out)
			kernel.Each(grid, block, func(th kernel.Thread) { sumTwice(th, in, partial, out) })
			if err := LaunchSumTwice(s, gpu.Blocks(grid, block), dIn, dPartial, dOut); err != nil {
				t.Fatal(err)
			}
			compare(t, "out", gputest.Download(t, d, dOut), out)
		}
	})
}

func TestGridTooLargeForBarrierDoesNotRun(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		x := gputest.Upload(t, d, ramp[float32](10))
		y := gputest.Upload(t, d, make([]float32, 10))
		err := LaunchRelax(d.DefaultStream(), gpu.Blocks(gpu.Dim3{X: 100000}, gpu.Dim3{X: 256}), 1, x, y)
		e, ok := errors.AsType[*gpu.CooperativeLaunchError](err)
		if !ok || e.Blocks != 100000 || e.Limit < 1 || e.Limit >= e.Blocks || !errors.Is(err, gpu.ErrInvalid) {
			t.Fatalf("error is %v (%+v)", err, e)
		}
		compare(t, "x", gputest.Download(t, d, x), ramp[float32](10))
		n := min(e.Limit, 300)
		if err := LaunchRelax(d.DefaultStream(), gpu.Blocks(gpu.Dim3{X: n}, gpu.Dim3{X: 256}), 1, x, y); err != nil {
			t.Errorf("with %d blocks, of at most %d: %v", n, e.Limit, err)
		}
	})
}

func TestFailureReleasesGrid(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		for _, at := range []int{0, 5, 64, 200} {
			x := gputest.Upload(t, d, make([]int32, 256))
			if err := LaunchFailsBefore(s, gpu.Blocks(gpu.Dim3{X: 4}, gpu.Dim3{X: 64}), at, x); err != nil {
				t.Fatal(err)
			}
			e, ok := errors.AsType[*gpu.KernelError](s.Synchronize(context.Background()))
			if !ok || e.Index != int64(256+at) || e.Block.X != at/64 || e.Thread.X != at%64 {
				t.Errorf("thread %d: error is %v", at, e)
			}
			if err := LaunchFailsBefore(s, gpu.Blocks(gpu.Dim3{X: 4}, gpu.Dim3{X: 64}), -1, x); err != nil {
				t.Fatal(err)
			}
			if err := s.Synchronize(context.Background()); err != nil {
				t.Errorf("the next launch: %v", err)
			}
		}
	})
}

// unlessOld skips the test on a device without clusters, after it has checked that the
// launch reports this.
func unlessOld(t *testing.T, d *gpu.Device, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if major, _ := d.ComputeCapability(); major > 0 && major < 9 {
		if _, ok := errors.AsType[*gpu.CapabilityError](err); ok {
			t.Skipf("%s has no clusters; they need compute capability 9.0", d.Name())
		}
	}
	t.Fatal(err)
}

func TestClustersShareMemory(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		grid, block := gpu.Dim3{X: 12}, gpu.Dim3{X: 64}
		in, out := ramp[int32](768), make([]int32, 768)
		dIn, dOut := gputest.Upload(t, d, in), gputest.Upload(t, d, out)
		kernel.EachCluster(grid, block, gpu.Dim3{X: 4}, 0, func(th kernel.Thread) { exchange(th, in, out) })
		unlessOld(t, d, LaunchExchange(s, gpu.Blocks(grid, block), dIn, dOut))
		compare(t, "out", gputest.Download(t, d, dOut), out)

		grid, block = gpu.Dim3{X: 4, Y: 6}, gpu.Dim3{X: 40}
		out = make([]int32, 24)
		dOut = gputest.Upload(t, d, out)
		kernel.EachCluster(grid, block, gpu.Dim3{X: 2, Y: 2}, 0, func(th kernel.Thread) { square(th, 5, out) })
		if err := LaunchSquare(s, gpu.Blocks(grid, block), 5, dOut); err != nil {
			t.Fatal(err)
		}
		compare(t, "out", gputest.Download(t, d, dOut), out)

		grid, block = gpu.Dim3{X: 8}, gpu.Dim3{X: 32}
		x, y := ramp[int32](256), make([]int32, 256)
		dx, dy := gputest.Upload(t, d, x), gputest.Upload(t, d, y)
		kernel.EachCluster(grid, block, gpu.Dim3{X: 2}, 0, func(th kernel.Thread) { both(th, x, y) })
		if err := LaunchBoth(s, gpu.Blocks(grid, block), dx, dy); err != nil {
			t.Fatal(err)
		}
		compare(t, "x", gputest.Download(t, d, dx), x)
	})
}

func TestGridOfPartialClustersIsRejected(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		x := gputest.Upload(t, d, ramp[int32](640))
		err := LaunchExchange(d.DefaultStream(), gpu.Blocks(gpu.Dim3{X: 10}, gpu.Dim3{X: 64}), x, x)
		if !errors.Is(err, gpu.ErrInvalid) || !strings.Contains(err.Error(), "clusters of 4x1x1") {
			if !errors.Is(err, errors.ErrUnsupported) {
				t.Errorf("error is %v", err)
			}
		}
	})
}
