package gpu

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

func TestOccupancyOfAModelGPU(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		if d.Backend() == CUDA {
			t.Skip("a real GPU has limits of its own: the model is tested on cpu and sim")
		}
		for _, test := range []struct {
			block  Dim3
			shared int
			want   Occupancy
		}{
			{Dim3{X: 256}, 0, Occupancy{Blocks: 8, Threads: 2048, Most: 2048, Limit: "threads"}},
			{Dim3{X: 32}, 0, Occupancy{Blocks: 32, Threads: 1024, Most: 2048, Limit: "blocks"}},
			{Dim3{X: 33, Y: 3}, 0, Occupancy{Blocks: 16, Threads: 2048, Most: 2048, Limit: "threads"}},
			{Dim3{X: 256}, 100 << 10, Occupancy{Blocks: 2, Threads: 512, Most: 2048, Limit: "shared memory"}},
			{Dim3{X: 768}, 0, Occupancy{Blocks: 2, Threads: 1536, Most: 2048, Limit: "threads"}},
		} {
			got := must[Occupancy](t)(k.Occupancy(d, test.block, test.shared))
			if got != test.want {
				t.Errorf("blocks of %v with %d bytes: %+v, want %+v", test.block, test.shared, got, test.want)
			}
		}
		if r := must[Occupancy](t)(k.Occupancy(d, Dim3{X: 32}, 0)).Ratio(); r != 0.5 {
			t.Errorf("ratio %v, want 0.5", r)
		}
	})
}

func TestOccupancyIsWithinTheLimitsOfTheDevice(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		a := d.Attributes()
		for _, threads := range []int{1, 32, 64, 100, 256, 1024} {
			for _, shared := range []int{0, 1 << 10, 40 << 10, a.SharedPerBlock} {
				o := must[Occupancy](t)(k.Occupancy(d, Dim3{X: threads}, shared))
				warps := (threads + a.WarpSize - 1) / a.WarpSize
				if o.Blocks < 1 || o.Threads != o.Blocks*warps*a.WarpSize || o.Most != a.ThreadsPerMultiprocessor || o.Limit == "" ||
					o.Ratio() <= 0 || o.Ratio() > 1 {
					t.Errorf("%d threads, %d bytes: %+v", threads, shared, o)
				}
				v, err := k.baseOn(d)
				do(t, err)
				if n, limit := v.attributes.ResidentBlocks(v.registers(), threads, shared); n != o.Blocks {
					t.Errorf("%d threads, %d bytes: %+v, calculated %d (%s)", threads, shared, o, n, limit)
				}
			}
		}
	})
}

func TestLayoutIsWhatALaunchUses(t *testing.T) {
	line, declared := NewKernel(saxpyInfo), NewKernel(block64Info)
	everyDevice(t, func(t *testing.T, d *Device) {
		for _, test := range []struct {
			kernel *Kernel
			grid   Grid
			want   string
		}{
			{line, Linear(1000), "4x1x1 of 256x1x1"},
			{line, Linear(1000).Block(Dim3{X: 128}), "8x1x1 of 128x1x1"},
			{line, Plane(100, 10).Block(Dim3{X: 16, Y: 4}), "7x3x1 of 16x4x1"},
			{line, Blocks(Dim3{X: 3}, Dim3{X: 96}), "3x1x1 of 96x1x1"},
			{line, Blocks(Dim3{X: 3}, Dim3{X: 96}).Block(Dim3{X: 32}), "3x1x1 of 32x1x1"},
			{declared, Linear(100), "2x1x1 of 64x1x1"},
		} {
			blocks, block, err := test.kernel.Layout(d, test.grid)
			if got := fmt.Sprintf("%v of %v", blocks, block); err != nil || got != test.want {
				t.Errorf("%v: %s, error %v, want %s", test.grid, got, err, test.want)
			}
		}
		out := upload(t, d.DefaultStream(), make([]int32, 128)...)
		do(t, declared.Launch(d.DefaultStream(), Linear(100).Block(Dim3{X: 64}), out))
		if got := download(t, d.DefaultStream(), out)[127]; got != 2 {
			t.Errorf("a launch with a stated block ran %d blocks, want 2", got)
		}
		closeAll(t, out)
	})
}

func TestDynamicSharedMemoryCountsInTheChoiceOfABlock(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		if d.Backend() == CUDA {
			t.Skip("a real GPU has limits of its own: the model is tested on cpu and sim")
		}
		for range 2 {
			for shared, want := range map[int]int{0: 256, 1 << 10: 256, 40 << 10: 512, 100 << 10: 1024, -1: 256} {
				v, err := k.baseOn(d)
				do(t, err)
				_, block, err := v.resolve(Linear(1 << 20).Shared(shared))
				if err != nil || block.X != want {
					t.Errorf("%d bytes: blocks of %v, error %v, want %d", shared, block, err, want)
				}
			}
		}
	})
}

func TestBadLaunchConfigurationsNameTheMistake(t *testing.T) {
	k, declared := NewKernel(saxpyInfo), NewKernel(block64Info)
	everyDevice(t, func(t *testing.T, d *Device) {
		x := upload(t, d.DefaultStream(), ramp(64)...)
		closed := must[*Device](t)(Open(Config{Device: "cpu"}))
		do(t, closed.Close())
		layout := func(k *Kernel, d *Device, g Grid) error {
			_, _, err := k.Layout(d, g)
			return err
		}
		for _, test := range []struct {
			name string
			err  error
			is   error
			want string
		}{
			{"an empty block", second(k.Occupancy(d, Dim3{}, 0)), ErrInvalid, "gpu: occupancy of saxpy: grid Blocks(1x1x1, 0x1x1) is empty"},
			{"a block of too many threads", second(k.Occupancy(d, Dim3{X: 64, Y: 64}, 0)), ErrInvalid, "has 4096 threads, the device allows 1024"},
			{"too much shared memory", second(k.Occupancy(d, Dim3{X: 64}, 1<<40)), ErrInvalid, "bytes of dynamic and 0 bytes of static shared memory"},
			{"negative shared memory", second(k.Occupancy(d, Dim3{X: 64}, -1)), ErrInvalid, "negative size of dynamic shared memory"},
			{"another block than the declared one", second(declared.Occupancy(d, Dim3{X: 32}, 0)), ErrInvalid, "block 32x1x1, but the kernel declares block 64x1x1"},
			{"no kernel", second((*Kernel)(nil).Occupancy(d, Dim3{X: 32}, 0)), ErrInvalid, "kernel is nil"},
			{"no device", second(k.Occupancy(nil, Dim3{X: 32}, 0)), ErrInvalid, "device is nil"},
			{"a closed device", second(k.Occupancy(closed, Dim3{X: 32}, 0)), ErrClosed, "device cpu is closed"},
			{"the layout of an empty grid", layout(k, d, Linear(0)), ErrInvalid, "gpu: layout of saxpy: grid Linear(0) is empty"},
			{"the layout on no device", layout(k, nil, Linear(1)), ErrInvalid, "device is nil"},
			{"a negative block", layout(k, d, Linear(1).Block(Dim3{X: -1})), ErrInvalid, "grid Linear(1).Block(-1x1x1) has a negative extent"},
			{"a block of more dimensions", layout(k, d, Linear(1).Block(Dim3{X: 8, Y: 8})), ErrInvalid, "grid Linear(1).Block(8x8x1) has fewer dimensions"},
			{"a stated block that is not the declared one", layout(declared, d, Linear(1).Block(Dim3{X: 32})), ErrInvalid, "declares block 64x1x1"},
			{"a launch with a block of too many threads", launchSaxpy(k, d.DefaultStream(), Linear(64).Block(Dim3{X: 4096}), 1, 64, x, x), ErrInvalid, "block 4096x1x1 is too large"},
		} {
			if !errors.Is(test.err, test.is) || !strings.Contains(test.err.Error(), test.want) {
				t.Errorf("%s: %v, want %s", test.name, test.err, test.want)
			}
		}
		do(t, d.Synchronize(context.Background()))
		closeAll(t, x)
	})
}
