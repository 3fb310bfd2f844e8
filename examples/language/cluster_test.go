package language

import (
	"errors"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func TestGridWideBarriers(t *testing.T) {
	grid, block := gpu.Dim3{X: 3}, gpu.Dim3{X: 64}
	x, y := gputest.Slice("x", small[float32](500)), gputest.Slice("y", make([]float32, 500))
	gputest.Compare(t,
		func(s *gpu.Stream) error {
			return LaunchDiffuse(s, gpu.Blocks(grid, block), 6, x.Device(), y.Device())
		},
		func() {
			kernel.Each(grid, block, func(th kernel.Thread) { diffuse(th, 6, x.Host(), y.Host()) })
		},
		x, y)
}

func TestClusters(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		data, want := small[uint8](5000), make([]int32, 256)
		for i := range data {
			data[i] *= 15
			want[data[i]]++
		}
		dData, dCounts := gputest.Upload(t, d, data), gputest.Upload(t, d, make([]int32, 256))
		err := LaunchClusterHistogram(d.DefaultStream(), gpu.Blocks(gpu.Dim3{X: 4}, gpu.Dim3{X: 128}), dData, dCounts)
		if old, ok := errors.AsType[*gpu.CapabilityError](err); ok {
			t.Skipf("%s has no clusters: %v", d.Name(), old)
		}
		launched(t, err)
		gputest.Equal(t, gputest.Download(t, d, dCounts), want, gputest.Name("counts"))
	})
}
