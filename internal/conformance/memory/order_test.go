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

func TestBlocksWaitForEarlierBlocks(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, n := range []int{1, 64, 65, 10000} {
			x := numbers[int32](n)
			want := make([]int32, n)
			sum := int32(0)
			for i, v := range x {
				sum += v
				want[i] = sum
			}
			blocks := (n + 63) / 64
			b := gputest.Upload(t, d, x)
			launched(t, LaunchScan(d.DefaultStream(), line(blocks, 64), b, gputest.Upload(t, d, make([]uint32, 1)), gputest.Upload(t, d, make([]uint64, blocks))))
			gputest.Equal(t, gputest.Download(t, d, b), want)

			each(blocks, 64, func() func(kernel.Thread) {
				ticket, descriptors := make([]uint32, 1), make([]uint64, blocks)
				return func(th kernel.Thread) { scan(th, x, ticket, descriptors) }
			}())
			gputest.Equal(t, x, want)
		}
	})
}

func TestLastBlockSeesAllWrites(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		const blocks = 100
		out := gputest.Upload(t, d, make([]int64, 1))
		partial, counter := gputest.Upload(t, d, make([]int64, blocks*32)), gputest.Upload(t, d, make([]uint32, 1))
		launched(t, LaunchLastBlock(d.DefaultStream(), line(blocks, 32), partial, counter, out))
		const n = blocks * 32
		gputest.Equal(t, gputest.Download(t, d, out), []int64{3 * n * (n - 1) / 2})
	})
}

func passes[T kernel.AtomicNumber](t *testing.T, d *gpu.Device, step T, launch func(s *gpu.Stream, g gpu.Grid, step T, chain *gpu.Buffer[T], ticket, ready *gpu.Buffer[uint32]) error) {
	const blocks = 50
	chain := gputest.Upload(t, d, make([]T, blocks))
	launched(t, launch(d.DefaultStream(), line(blocks, 32), step, chain, gputest.Upload(t, d, make([]uint32, 1)), gputest.Upload(t, d, make([]uint32, blocks))))
	want := make([]T, blocks)
	for i := range want {
		want[i] = step * T(i+1)
	}
	gputest.Equal(t, gputest.Download(t, d, chain), want)
}

func TestOrderedAccesses(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		passes(t, d, -3, LaunchPassAlong[int32])
		passes(t, d, 1<<40, LaunchPassAlong[uint64])
		passes(t, d, 0.5, LaunchPassAlong[float32])
		passes(t, d, -0.25, LaunchPassAlong[float64])
	})
}

func TestSimulatorDetectsUnorderedFlag(t *testing.T) {
	d := gputest.Open(t, gpu.Config{Device: "sim"})
	zeros := func() *gpu.Buffer[int32] { return gputest.Upload(t, d, make([]int32, 1)) }
	launched(t, LaunchUnordered(d.DefaultStream(), line(2, 32), zeros(), zeros(), zeros()))
	err := d.DefaultStream().Synchronize(context.Background())
	if fault, ok := errors.AsType[*gpu.KernelError](err); !ok || fault.Kind != gpu.DataRace || !strings.Contains(err.Error(), "data race in global memory") {
		t.Errorf("got %v, want a data race", err)
	}
}

func TestFailedLaunchDoesNotWaitForStores(t *testing.T) {
	d, err := gpu.Open(gpu.Config{Device: "cpu"})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	zeros := func() *gpu.Buffer[uint32] { return gputest.Upload(t, d, make([]uint32, 1)) }
	launched(t, LaunchWaitsForPanic(d.DefaultStream(), line(64, 32), zeros(), zeros()))
	err = d.DefaultStream().Synchronize(context.Background())
	if fault, ok := errors.AsType[*gpu.KernelError](err); !ok || fault.Kind != gpu.Panic || !strings.Contains(err.Error(), "no store") {
		t.Errorf("got %v, want the panic", err)
	}
}

func TestClocksAdvance(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		const n = 64
		elapsed := func(work int) (clock, timer int64) {
			clocks := gputest.Upload(t, d, make([]int64, 2*n))
			launched(t, LaunchTimes(d.DefaultStream(), line(1, n), work, gputest.Upload(t, d, numbers[float32](n)), clocks))
			for i, v := range gputest.Download(t, d, clocks) {
				if v < 0 {
					t.Errorf("a clock ran backwards by %d", -v)
				}
				if i%2 == 0 {
					clock += v
				} else {
					timer += v
				}
			}
			return clock, timer
		}
		short, _ := elapsed(1)
		long, timer := elapsed(200000)
		if long <= short || timer <= 0 {
			t.Errorf("%d cycles for more work than %d cycles were, %d ns", long, short, timer)
		}
	})
}
