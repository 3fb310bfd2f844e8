package language

import (
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func TestLongest(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		vectors := make([]kernel.Vec2[float32], 10_000)
		for i := range vectors {
			vectors[i] = kernel.V2(float32(i%100), float32(-i%97))
		}
		want := vectors[7654]
		want.X, want.Y = 300, -400
		vectors[7654] = want
		result := gputest.Alloc[kernel.Vec2[float32]](t, d, 1)
		if err := longest(d.DefaultStream(), gputest.Upload(t, d, vectors), result); err != nil {
			t.Fatal(err)
		}
		gputest.Equal(t, gputest.Download(t, d, result), []kernel.Vec2[float32]{want})
	})
}
