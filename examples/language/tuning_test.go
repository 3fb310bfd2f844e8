package language

import (
	"context"
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

func TestTuning(t *testing.T) {
	dir := t.TempDir() // for the user's cache, on every platform
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("HOME", dir)
	t.Setenv("LocalAppData", dir)
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		const width = 64
		s := d.DefaultStream()
		matrix, sums := gputest.Upload(t, d, slices.Repeat([]float32{1}, 16*width)), gputest.Upload(t, d, make([]float32, width))
		for _, cached := range []bool{false, true} {
			best, err := tunedSums(context.Background(), s, width, matrix, sums)
			if err != nil {
				t.Fatal(err)
			}
			if best.Cached != cached || best.NotKept != nil || len(best.Trials) != 4 {
				t.Errorf("got %+v", best)
			}
			if err := best.Launch(s); err != nil {
				t.Fatal(err)
			}
		}
		if got := gputest.Download(t, d, sums); got[0] != 16 || got[width-1] != 16 {
			t.Errorf("sums are %v", got)
		}
	})
}
