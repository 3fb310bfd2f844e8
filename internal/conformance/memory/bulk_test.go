package memory

import (
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func TestBulkCopies(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		for _, tiles := range []int{0, 1, 2, 3, 7} {
			for _, threads := range []int{1, 50, 64, 256} {
				a := numbers[float32](2*tiles*256 + 1)
				want := make([]float32, 2*threads)
				each(2, threads, func(th kernel.Thread) { bulkPipeline(th, tiles, a, want) })
				out := gputest.Upload(t, d, make([]float32, 2*threads))
				launched(t, LaunchBulkPipeline(s, line(2, threads), tiles, gputest.Upload(t, d, a), out))
				gputest.Equal(t, gputest.Download(t, d, out), want)
			}
		}
		a, b := make([]int16, 100), make([]float64, 19)
		for i := range a {
			a[i] = int16(i*331 - 5000)
		}
		for i := range b {
			b[i] = float64(i) + 0.5
		}
		for _, from := range []int{0, 8, 1, 3, 90, 100} {
			block := kernel.Dim3{X: 8, Y: 3}
			want := make([]int64, 24)
			bytes := 2 * (100 - from) // all bytes are written
			kernel.EachDynamic(kernel.Dim3{X: 1}, block, bytes, func(th kernel.Thread) { anySize(th, from, a, b, want) })
			out := gputest.Upload(t, d, make([]int64, 24))
			launched(t, LaunchAnySize(s, gpu.Blocks(gpu.Dim3{X: 1}, block).Shared(bytes), from, gputest.Upload(t, d, a), gputest.Upload(t, d, b), out))
			gputest.Equal(t, gputest.Download(t, d, out), want)
		}
	})
}
