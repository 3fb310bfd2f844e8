package filter

import (
	"runtime"
	"sync"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
)

// benchmark runs a filter on an image of 1920x1080 pixels on the CPU device.
func benchmark[T Pixel](b *testing.B, channels int, run func(s *gpu.Stream, dst, src Image[T]) error) {
	dev := gputest.Open(b, gpu.Config{Device: "cpu"})
	s := dev.DefaultStream()
	src, dst := upImage(b, dev, noise[T](1920, 1080, 1, channels), 0), poisoned[T](b, dev, 1920, 1080, 1, channels, 0).image()
	for b.Loop() {
		if err := run(s, dst, src); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(1920*1080), "ns/pixel")
}

func BenchmarkGaussian(b *testing.B) {
	b.Run("float32", func(b *testing.B) {
		benchmark(b, 1, func(s *gpu.Stream, dst, src Image[float32]) error { return Gaussian(s, dst, src, 2, 0, Boundary{}) })
	})
	b.Run("uint8", func(b *testing.B) {
		benchmark(b, 3, func(s *gpu.Stream, dst, src Image[uint8]) error { return Gaussian(s, dst, src, 2, 0, Boundary{}) })
	})
	// Plain Go on all cores, with the same two passes.
	b.Run("plain", func(b *testing.B) {
		const w, h = 1920, 1080
		src, mid, dst := noise[float32](w, h, 1, 1).at, make([]float32, w*h), make([]float32, w*h)
		weights := appendGaussian(nil, 2, 4)
		r := len(weights) / 2
		rows := func(f func(y int)) {
			var wait sync.WaitGroup
			n := runtime.GOMAXPROCS(0)
			for k := range n {
				wait.Go(func() {
					for y := k * h / n; y < (k+1)*h/n; y++ {
						f(y)
					}
				})
			}
			wait.Wait()
		}
		for b.Loop() {
			rows(func(y int) {
				in, out := src[y*w:][:w], mid[y*w:][:w]
				for x := range out {
					sum := float32(0)
					if x >= r && x+r < w {
						for k, v := range in[x-r:][:len(weights)] {
							sum += weights[k] * v
						}
					} else {
						for k, wt := range weights {
							sum += wt * in[walk(Reflect, x+k-r, w)]
						}
					}
					out[x] = sum
				}
			})
			rows(func(y int) {
				out := dst[y*w:][:w]
				clear(out)
				for k, wt := range weights {
					in := mid[walk(Reflect, y+k-r, h)*w:][:len(out)]
					for x := range out {
						out[x] += wt * in[x]
					}
				}
			})
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(1920*1080), "ns/pixel")
	})
}

func BenchmarkBox(b *testing.B) {
	b.Run("uint8", func(b *testing.B) {
		benchmark(b, 1, func(s *gpu.Stream, dst, src Image[uint8]) error { return Box(s, dst, src, 31, 31, Boundary{}) })
	})
	b.Run("float32", func(b *testing.B) {
		benchmark(b, 1, func(s *gpu.Stream, dst, src Image[float32]) error { return Box(s, dst, src, 31, 31, Boundary{}) })
	})
}

func BenchmarkMedian(b *testing.B) {
	for _, n := range []int{3, 5, 15} {
		b.Run("uint8/"+string(rune('0'+n/10))+string(rune('0'+n%10)), func(b *testing.B) {
			benchmark(b, 1, func(s *gpu.Stream, dst, src Image[uint8]) error { return Median(s, dst, src, n, n, Boundary{}) })
		})
	}
	b.Run("float32/05", func(b *testing.B) {
		benchmark(b, 1, func(s *gpu.Stream, dst, src Image[float32]) error { return Median(s, dst, src, 5, 5, Boundary{}) })
	})
}

func BenchmarkErode(b *testing.B) {
	benchmark(b, 1, func(s *gpu.Stream, dst, src Image[uint8]) error {
		return Erode(s, dst, src, Element{Width: 15, Height: 15}, Boundary{})
	})
}

func BenchmarkRotate(b *testing.B) {
	for _, i := range []Interpolation{Linear, Cubic} {
		b.Run(map[Interpolation]string{Linear: "linear", Cubic: "cubic"}[i], func(b *testing.B) {
			benchmark(b, 1, func(s *gpu.Stream, dst, src Image[float32]) error {
				return Rotate(s, dst, src, 10, i, Boundary{Mode: Constant})
			})
		})
	}
}

func BenchmarkColor(b *testing.B) {
	benchmark(b, 3, func(s *gpu.Stream, dst, src Image[uint8]) error { return ConvertColor(s, dst, src, YUV601, RGB) })
}

func BenchmarkCanny(b *testing.B) {
	benchmark(b, 1, func(s *gpu.Stream, dst, src Image[uint8]) error { return Canny(s, dst, src, 400, 900) })
}
