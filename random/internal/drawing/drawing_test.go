package drawing

import (
	"testing"

	"quern.dev/gentest"
	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/random"
)

func TestGenerated(t *testing.T) { gentest.UpToDate(t) }

var source = random.Source{Seed: 0x1234567890abcdef, Stream: 0xfedcba0987654321}

func compare[T comparable](t *testing.T, name string, got []T, want func(i int) T) {
	t.Helper()
	for i, x := range got {
		if w := want(i); x != w {
			t.Errorf("%s: element %d is %v, want %v", name, i, x, w)
		}
	}
}

func TestKernelsOfOtherPackagesDrawTheSameNumbers(t *testing.T) {
	gputest.Each(t, func(t *testing.T, dev *gpu.Device) {
		const n = 60
		src, b := source.At(3), source.Bijection(100)
		floats, integers := gputest.Alloc[float64](t, dev, 8*n), gputest.Alloc[uint64](t, dev, 8*n)
		if err := LaunchDraw(dev.DefaultStream(), gpu.Linear(n), src, b, floats, integers); err != nil {
			t.Fatal(err)
		}
		compare(t, "floats", gputest.Download(t, dev, floats), func(at int) float64 {
			k := uint64(at / 8)
			return [8]float64{
				float64(src.Float32(k)), src.Float64(k), float64(src.Normal32(k)), src.Normal64(k),
				float64(src.Exponential32(k)), src.Exponential64(k), src.Gamma(k, 0.3), src.Beta(k, 2, 3),
			}[at%8]
		})
		compare(t, "integers", gputest.Download(t, dev, integers), func(at int) uint64 {
			k := uint64(at / 8)
			first := uint64(src.Uint32(k))
			if src.Bernoulli(k, 0.25) {
				first = 1
			}
			return [8]uint64{
				first, src.Uint64(k), uint64(src.Uint32N(k, 10)), src.Uint64N(k, 1<<63+1),
				uint64(src.Poisson(k, 3)), uint64(src.Poisson(k, 300)), b.At(k), src.Bijection(77).At(k),
			}[at%8]
		})
	})
}
