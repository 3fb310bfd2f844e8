package language

import (
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func TestScale(t *testing.T) {
	grid, block := gpu.Dim3{X: 4}, gpu.Dim3{X: 256}
	x := gputest.Slice("x", small[float32](1000))
	gputest.Compare(t,
		func(s *gpu.Stream) error {
			return LaunchScale(s, gpu.Blocks(grid, block), 2, x.Device())
		},
		func() {
			kernel.Each(grid, block, func(th kernel.Thread) { scale(th, 2, x.Host()) })
		},
		x)
}

func TestScaleThreeElements(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		x := gputest.Upload(t, dev, []float32{1, 2, 3})
		if err := LaunchScale(dev.DefaultStream(), gpu.Linear(3), 0.1, x); err != nil {
			t.Fatal(err)
		}
		gputest.Equal(t, gputest.Download(t, dev, x), []float32{0.1, 0.2, 0.3}, gputest.ULP(1))
	})
}
