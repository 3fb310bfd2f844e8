package language

import (
	"slices"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

// launched fails the test if a launch did.
func launched(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
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
	grid, block := gpu.Dim3{X: 2}, gpu.Dim3{X: 64}
	x := gputest.Slice("x", small[float32](100))
	all, upTo := gputest.Output[float32]("all", 100), gputest.Output[float32]("upTo", 100)
	gputest.Compare(t,
		func(s *gpu.Stream) error {
			return LaunchWarpSums(s, gpu.Blocks(grid, block), x.Device(), all.Device(), upTo.Device())
		},
		func() {
			kernel.Each(grid, block, func(th kernel.Thread) { warpSums(th, x.Host(), all.Host(), upTo.Host()) })
		},
		x, all, upTo)
}

func TestWarpsOfABlockAddUp(t *testing.T) {
	many := small[float32](10000)
	var want float32
	for _, v := range many {
		want += v
	}
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		sum := gputest.Upload(t, d, make([]float32, 1))
		launched(t, LaunchBlockSum(d.DefaultStream(), gpu.Blocks(gpu.Dim3{X: 5}, gpu.Dim3{X: 256}), gputest.Upload(t, d, many), sum))
		gputest.Equal(t, gputest.Download(t, d, sum), []float32{want})
	})
}

func TestWarpBounds(t *testing.T) {
	words, out := gputest.Slice("words", small[uint32](32)), gputest.Output[uint32]("out", 6)
	gputest.Compare(t,
		func(s *gpu.Stream) error {
			return LaunchBounds(s, gpu.Linear(32).Block(gpu.Dim3{X: 32}), words.Device(), out.Device())
		},
		func() {
			kernel.Each(gpu.Dim3{X: 1}, gpu.Dim3{X: 32}, func(th kernel.Thread) { bounds(th, words.Host(), out.Host()) })
		},
		words, out)
}

func TestWarpShuffles(t *testing.T) {
	x, out := gputest.Slice("x", small[int32](32)), gputest.Output[int32]("out", 160)
	gputest.Compare(t,
		func(s *gpu.Stream) error {
			return LaunchShuffles(s, gpu.Linear(32).Block(gpu.Dim3{X: 32}), x.Device(), out.Device())
		},
		func() {
			kernel.Each(gpu.Dim3{X: 1}, gpu.Dim3{X: 32}, func(th kernel.Thread) { shuffles(th, x.Host(), out.Host()) })
		},
		x, out)
}

func TestWarpVotes(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
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
		dSigned, dKept, dCount := gputest.Upload(t, d, signed), gputest.Upload(t, d, make([]int32, 300)), gputest.Upload(t, d, make([]int32, 1))
		launched(t, LaunchCompact(s, gpu.Linear(300), dSigned, dKept, dCount))
		gputest.Equal(t, gputest.Download(t, d, dCount), []int32{int32(len(kept))}, gputest.Name("count"))
		got := gputest.Download(t, d, dKept)[:len(kept)]
		slices.Sort(got)
		slices.Sort(kept)
		gputest.Equal(t, got, kept, gputest.Name("kept"))

		keys := append(small[uint32](32), make([]uint32, 32)...)
		count, single, zero := make([]int32, 64), make([]bool, 64), make([]bool, 64)
		dKeys, dTimes, dSingle, dZero := gputest.Upload(t, d, keys), gputest.Upload(t, d, count), gputest.Upload(t, d, single), gputest.Upload(t, d, zero)
		launched(t, LaunchAgreements(s, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 64}), dKeys, dTimes, dSingle, dZero))
		kernel.Each(gpu.Dim3{X: 1}, gpu.Dim3{X: 64}, func(th kernel.Thread) { agreements(th, keys, count, single, zero) })
		gputest.Equal(t, gputest.Download(t, d, dTimes), count, gputest.Name("count"))
		gputest.Equal(t, gputest.Download(t, d, dSingle), single, gputest.Name("single"))
		gputest.Equal(t, gputest.Download(t, d, dZero), zero, gputest.Name("zero"))

		turned := small[int32](128)
		dTurned := gputest.Upload(t, d, turned)
		launched(t, LaunchReversed(s, gpu.Blocks(gpu.Dim3{X: 1}, gpu.Dim3{X: 128}), dTurned))
		for w := 0; w < 128; w += 32 {
			slices.Reverse(turned[w : w+32])
		}
		gputest.Equal(t, gputest.Download(t, d, dTurned), turned, gputest.Name("reversed"))
	})
}
