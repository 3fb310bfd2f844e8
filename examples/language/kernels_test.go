package language

import (
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestScale(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		x := gputest.Upload(t, d, []float32{1, 2, 3})
		if err := LaunchScale(d.DefaultStream(), gpu.Linear(3), 2, x); err != nil {
			t.Fatal(err)
		}
		if got := gputest.Download(t, d, x); !slices.Equal(got, []float32{2, 4, 6}) {
			t.Errorf("scale(2, [1 2 3]) = %v, want [2 4 6]", got)
		}
	})
}
