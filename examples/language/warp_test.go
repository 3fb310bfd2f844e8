package language

import (
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/internal/devicetest"
	"quern.dev/kernel"
)

// launched fails the test if a launch did.
func launched(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t *testing.T, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s is\n%v, want\n%v", what, got, want)
	}
}

// small returns n small numbers.
func small[T int32 | uint32 | float32 | uint8](n int) []T {
	x := make([]T, n)
	for i := range x {
		x[i] = T(i*i%13 + i%3)
	}
	return x
}

func TestWarpReductionsAndScans(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		x, all, upTo := small[float32](100), make([]float32, 100), make([]float32, 100)
		dx, dAll, dUpTo := devicetest.Upload(t, d, x), devicetest.Upload(t, d, all), devicetest.Upload(t, d, upTo)
		launched(t, LaunchWarpSums(s, gpu.Blocks(gpu.Dim3{X: 2}, gpu.Dim3{X: 64}), dx, dAll, dUpTo))
		kernel.Each(gpu.Dim3{X: 2}, gpu.Dim3{X: 64}, func(th kernel.Thread) { warpSums(th, x, all, upTo) })
		equal(t, "all", devicetest.Download(t, d, dAll), all)
		equal(t, "upTo", devicetest.Download(t, d, dUpTo), upTo)

		many := small[float32](10000)
		var want float32
		for _, v := range many {
			want += v
		}
		dMany, dSum := devicetest.Upload(t, d, many), devicetest.Upload(t, d, make([]float32, 1))
		launched(t, LaunchBlockSum(s, gpu.Blocks(gpu.Dim3{X: 5}, gpu.Dim3{X: 256}), dMany, dSum))
		equal(t, "sum", devicetest.Download(t, d, dSum), []float32{want})

		words, out := small[uint32](32), make([]uint32, 6)
		dWords, dOut := devicetest.Upload(t, d, words), devicetest.Upload(t, d, out)
		launched(t, LaunchBounds(s, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 32}), dWords, dOut))
		kernel.Each(gpu.Dim3{X: 1}, gpu.Dim3{X: 32}, func(th kernel.Thread) { bounds(th, words, out) })
		equal(t, "bounds", devicetest.Download(t, d, dOut), out)
	})
}

func TestWarpShufflesAndVotes(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		x, out := small[int32](32), make([]int32, 160)
		dx, dOut := devicetest.Upload(t, d, x), devicetest.Upload(t, d, out)
		launched(t, LaunchShuffles(s, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 32}), dx, dOut))
		kernel.Each(gpu.Dim3{X: 1}, gpu.Dim3{X: 32}, func(th kernel.Thread) { shuffles(th, x, out) })
		equal(t, "shuffles", devicetest.Download(t, d, dOut), out)

		signed := small[int32](300)
		for i := range signed {
			signed[i] -= 6
		}
		var kept []int32
		for _, v := range signed {
			if v >= 0 {
				kept = append(kept, v)
			}
		}
		dSigned, dKept, dCount := devicetest.Upload(t, d, signed), devicetest.Upload(t, d, make([]int32, 300)), devicetest.Upload(t, d, make([]int32, 1))
		launched(t, LaunchCompact(s, gpu.Linear(300), dSigned, dKept, dCount))
		equal(t, "count", devicetest.Download(t, d, dCount), []int32{int32(len(kept))})
		got := devicetest.Download(t, d, dKept)[:len(kept)]
		slices.Sort(got)
		slices.Sort(kept)
		equal(t, "kept", got, kept)

		keys := append(small[uint32](32), make([]uint32, 32)...)
		count, single, zero := make([]int32, 64), make([]bool, 64), make([]bool, 64)
		dKeys, dTimes, dSingle, dZero := devicetest.Upload(t, d, keys), devicetest.Upload(t, d, count), devicetest.Upload(t, d, single), devicetest.Upload(t, d, zero)
		launched(t, LaunchAgreements(s, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 64}), dKeys, dTimes, dSingle, dZero))
		kernel.Each(gpu.Dim3{X: 1}, gpu.Dim3{X: 64}, func(th kernel.Thread) { agreements(th, keys, count, single, zero) })
		equal(t, "count", devicetest.Download(t, d, dTimes), count)
		equal(t, "single", devicetest.Download(t, d, dSingle), single)
		equal(t, "zero", devicetest.Download(t, d, dZero), zero)

		turned := small[int32](128)
		dTurned := devicetest.Upload(t, d, turned)
		launched(t, LaunchReversed(s, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 128}), dTurned))
		for w := 0; w < 128; w += 32 {
			slices.Reverse(turned[w : w+32])
		}
		equal(t, "reversed", devicetest.Download(t, d, dTurned), turned)
	})
}
