package kernels

import (
	"testing"

	"quern.dev/gentest"
	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func TestGenerated(t *testing.T) { gentest.UpToDate(t) }

func TestKernelsRunOnEveryDevice(t *testing.T) {
	grid, block := gpu.Dim3{X: 2}, gpu.Dim3{X: 32}
	out32, out64 := gputest.Slice("out32", make([]float32, 1)), gputest.Slice("out64", make([]float64, 1))
	gputest.Compare(t, func(s *gpu.Stream) error {
		if err := LaunchSpin(s, gpu.Blocks(grid, block), 100); err != nil {
			return err
		}
		if err := LaunchFma32(s, gpu.Blocks(grid, block), 5, 0.5, out32.Device()); err != nil {
			return err
		}
		return LaunchFma64(s, gpu.Blocks(grid, block), 5, 0.5, out64.Device())
	}, func() {
		kernel.Each(grid, block, func(t kernel.Thread) {
			spin(t, 100)
			fma32(t, 5, 0.5, out32.Host())
			fma64(t, 5, 0.5, out64.Host())
		})
	}, out32, out64)
}
