package generic

import (
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func TestSizesOfTypeParameters(t *testing.T) {
	sizesOf(t, LaunchSizes[uint8], 16+4)
	sizesOf(t, LaunchSizes[float32], 4+16)
	sizesOf(t, LaunchSizes[complex128], 1+64)
	sizesOf(t, LaunchSizes[aligned], 1+64)
}

func sizesOf[T any](t *testing.T, launch func(s *gpu.Stream, g gpu.Grid, x *gpu.Buffer[T], out *gpu.Buffer[int32]) error, want int32) {
	t.Helper()
	plain := make([]int32, 3)
	kernel.Each(dim(1), dim(3), func(th kernel.Thread) { sizes(th, make([]T, 3), plain) })
	gputest.Equal(t, plain, []int32{want, want, want})
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		x, out := gputest.Upload(t, d, make([]T, 3)), gputest.Alloc[int32](t, d, 3)
		if err := launch(d.DefaultStream(), gpu.Linear(3), x, out); err != nil {
			t.Fatal(err)
		}
		gputest.Equal(t, gputest.Download(t, d, out), []int32{want, want, want})
	})
}
