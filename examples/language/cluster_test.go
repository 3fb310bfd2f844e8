package language

import (
	"errors"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func TestGridWideBarriers(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		x, y := small[float32](500), make([]float32, 500)
		dx, dy := gputest.Upload(t, d, x), gputest.Upload(t, d, y)
		launched(t, LaunchDiffuse(d.DefaultStream(), gpu.Blocks(gpu.Dim3{X: 3}, gpu.Dim3{X: 64}), 6, dx, dy))
		kernel.Each(gpu.Dim3{X: 3}, gpu.Dim3{X: 64}, func(th kernel.Thread) { diffuse(th, 6, x, y) })
		gputest.Equal(t, gputest.Download(t, d, dx), x, gputest.Name("x"))
	})
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
