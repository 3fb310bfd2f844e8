package conformance

import (
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
