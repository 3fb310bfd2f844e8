package conformance

import (
	"math"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func TestThreadsLeaveLoopsWithBarriers(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, b := range []bounds{{0, 99, 99}, {3, 99, 99}, {9, 6, 99}, {9, 99, 5}, {20, 99, 2}, {9, 99, 0}, {9, 0, 99}} {
			check(t, d, make([]uint32, 64), poison[uint32](64), launch[uint32, uint32]{
				grid: dim(2), block: dim(32),
				plain: func(t kernel.Thread, _, out []uint32) { leaveLoops(t, b.rounds, b.stop, b.skip, out) },
				device: func(s *gpu.Stream, g gpu.Grid, _, out *gpu.Buffer[uint32]) error {
					return LaunchLeaveLoops(s, g, b.rounds, b.stop, b.skip, out)
				},
			})
		}
	})
}

func TestStepsOfTheLaunch(t *testing.T) {
	in := make([]int64, 40)
	for i := range in {
		in[i] = int64(i*i + 1)
	}
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, c := range []struct{ first, end, step int }{
			{0, 40, 1}, {0, 40, 3}, {3, 40, 16}, {-50, 39, 7}, {5, 5, 1}, {6, 5, 1}, {0, 9, 0}, {0, 1, -1}, {0, 100, -3},
			{0, 40, math.MaxInt32}, {0, 40, 1 << 40}, {0, math.MaxInt, 1 << 60}, {math.MaxInt - 9, math.MaxInt, 4},
			{math.MinInt, math.MinInt + 9, 2}, {math.MinInt, math.MaxInt, 1 << 62}, {0, 9, math.MinInt}, {1, 40, math.MaxInt},
			{math.MaxInt32 - 9, math.MaxInt32, 4}, {math.MinInt32, math.MaxInt32, 1 << 30}, {0, 7, 1<<32 + 1}, {0, 7, -1 << 32},
		} {
			check(t, d, in, poison[int64](32), launch[int64, int64]{
				grid: dim(1), block: dim(32),
				plain: func(t kernel.Thread, in, out []int64) { stepLoops(t, c.first, c.end, c.step, 23, in, out) },
				device: func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[int64]) error {
					return LaunchStepLoops(s, g, c.first, c.end, c.step, 23, in, out)
				},
			})
		}
	})
}

func TestLoopsEndAtNegations(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		testNegatedEnds(t, d, LaunchNegatedEnds[int32])
		testNegatedEnds(t, d, LaunchNegatedEnds[int64])
	})
}

func testNegatedEnds[T int32 | int64](t *testing.T, d *gpu.Device, device func(*gpu.Stream, gpu.Grid, T, *gpu.Buffer[T], *gpu.Buffer[T]) error) {
	in := make([]T, 64)
	for i := range in {
		in[i] = T(i) - 20
	}
	for _, start := range []T{0, 1, 17} {
		check(t, d, in, poison[T](8*len(in)), launch[T, T]{
			grid: dim(2), block: dim(32),
			plain: func(t kernel.Thread, in, out []T) { negatedEnds(t, start, in, out) },
			device: func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[T]) error {
				return device(s, g, start, in, out)
			},
		})
	}
}
