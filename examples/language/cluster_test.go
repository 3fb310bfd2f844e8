package language

import (
	"errors"
	"testing"

	"quern.dev/gpu"
	"quern.dev/internal/devicetest"
	"quern.dev/kernel"
)

func TestGridWideBarriers(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d *gpu.Device) {
		x, y := small[float32](500), make([]float32, 500)
		dx, dy := devicetest.Upload(t, d, x), devicetest.Upload(t, d, y)
		launched(t, LaunchDiffuse(d.DefaultStream(), gpu.Blocks(gpu.Dim3{X: 3}, gpu.Dim3{X: 64}), 6, dx, dy))
		kernel.Each(gpu.Dim3{X: 3}, gpu.Dim3{X: 64}, func(th kernel.Thread) { diffuse(th, 6, x, y) })
		equal(t, "x", devicetest.Download(t, d, dx), x)
	})
}

func TestClusters(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d *gpu.Device) {
		data, want := small[uint8](5000), make([]int32, 256)
		for i := range data {
			data[i] *= 15
			want[data[i]]++
		}
		dData, dCounts := devicetest.Upload(t, d, data), devicetest.Upload(t, d, make([]int32, 256))
		err := LaunchClusterHistogram(d.DefaultStream(), gpu.Blocks(gpu.Dim3{X: 4}, gpu.Dim3{X: 128}), dData, dCounts)
		if old, ok := errors.AsType[*gpu.CapabilityError](err); ok {
			t.Skipf("%s has no clusters: %v", d.Name(), old)
		}
		launched(t, err)
		equal(t, "counts", devicetest.Download(t, d, dCounts), want)
	})
}
