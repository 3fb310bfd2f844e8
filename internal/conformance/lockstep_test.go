package conformance

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"quern.dev/gpu"
	"quern.dev/gputest"
	"quern.dev/kernel"
)

func TestRowsInLockstepMatchPlainGo(t *testing.T) {
	type buffer = *gpu.Buffer[int32]
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, size := range [][2]int{{1, 1}, {2, 3}, {5, 40}, {31, 9}, {64, 4}, {100, 7}, {1500, 2}} {
			w, h := size[0], size[1]
			r := rand.New(rand.NewPCG(uint64(w), uint64(h)))
			in := integers[int32](r, w*(h+8))
			grid, block := dim((w+31)/32, (h+3)/4), dim(32, 4)
			run := func(grid, block kernel.Dim3, out int, plain func(t kernel.Thread, in, out []int32), device func(s *gpu.Stream, g gpu.Grid, in, out buffer) error) {
				t.Helper()
				check(t, d, in, poison[int32](out), launch[int32, int32]{grid: grid, block: block, plain: plain, device: device})
			}
			for _, c := range [][2]int{{0, w}, {3, w - 2}, {7, 7}, {9, 2}, {w, 2 * w}} {
				run(grid, block, w*h,
					func(t kernel.Thread, in, out []int32) { inside(t, w, h, c[0], c[1], in, out) },
					func(s *gpu.Stream, g gpu.Grid, in, out buffer) error {
						return LaunchInside(s, g, w, h, c[0], c[1], in, out)
					})
			}
			for from := range 9 {
				run(grid, block, w*h,
					func(t kernel.Thread, in, out []int32) { columnSums(t, w, h, from, in, out) },
					func(s *gpu.Stream, g gpu.Grid, in, out buffer) error {
						return LaunchColumnSums(s, g, w, h, from, in, out)
					})
			}
			for _, features := range []int{0, 1, h, h + 5} {
				centres := min(3, w)
				run(dim((w+31)/32), dim(32), w,
					func(t kernel.Thread, in, out []int32) { nearest(t, w, centres, features, in, out) },
					func(s *gpu.Stream, g gpu.Grid, in, out buffer) error {
						return LaunchNearest(s, g, w, centres, features, in, out)
					})
			}
			for _, reach := range []int{0, 1, 3, w - 1} {
				run(grid, block, w*h,
					func(t kernel.Thread, in, out []int32) { clamped(t, w, h, min(reach, w-1), in, out) },
					func(s *gpu.Stream, g gpu.Grid, in, out buffer) error {
						return LaunchClamped(s, g, w, h, min(reach, w-1), in, out)
					})
			}
			for _, steps := range []int{0, 1, 5} {
				n := w * h
				run(dim(n/(64-2*steps)+1), dim(64), n,
					func(t kernel.Thread, in, out []int32) { relaxed(t, n, steps, in, out) },
					func(s *gpu.Stream, g gpu.Grid, in, out buffer) error { return LaunchRelaxed(s, g, n, steps, in, out) })
			}
			for _, step := range []int{2, 3, 4} {
				run(dim(3), dim(8, 16), 24,
					func(t kernel.Thread, in, out []int32) { halves(t, step, in, out) },
					func(s *gpu.Stream, g gpu.Grid, in, out buffer) error { return LaunchHalves(s, g, step, in, out) })
			}
			for _, step := range []int{64, 65, 1 << 41} {
				n := len(in)
				run(dim(2), dim(32), 64,
					func(t kernel.Thread, in, out []int32) { strided(t, n, step, in, out) },
					func(s *gpu.Stream, g gpu.Grid, in, out buffer) error { return LaunchStrided(s, g, n, step, in, out) })
			}
		}
	})
}

func TestFaultInARowOfSeveralBlocks(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		const w, h = 200, 4
		const at = 2*w + 70 // block 2, 1 and thread 6, 0 in blocks of 32x2 threads
		s := d.DefaultStream()
		in, out := gputest.Upload(t, d, make([]int32, w*h)), gputest.Upload(t, d, make([]int32, w*h))
		if err := LaunchBeyond(s, gpu.Blocks(dim(7, 2), dim(32, 2)), w, at, in, out); err != nil {
			t.Fatal(err)
		}
		err := s.Synchronize(context.Background())
		var ke *gpu.KernelError
		if !errors.As(err, &ke) {
			t.Fatalf("got %v, want a KernelError", err)
		}
		if ke.Block != dim3(2, 1, 0) || ke.Thread != dim3(6, 0, 0) || ke.Index != at+w*h || ke.Length != w*h {
			t.Errorf("got block %v, thread %v, index %d, length %d", ke.Block, ke.Thread, ke.Index, ke.Length)
		}
	})
}

func TestDivisionThatARowHasInCommonFaults(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		in, out := gputest.Upload(t, d, make([]int32, 128)), gputest.Upload(t, d, make([]int32, 8))
		if err := LaunchHalves(s, gpu.Blocks(dim(1), dim(8, 16)), 0, in, out); err != nil {
			t.Fatal(err)
		}
		err := s.Synchronize(context.Background())
		var ke *gpu.KernelError
		if !errors.As(err, &ke) || ke.Line == 0 {
			t.Fatalf("got %v, want a KernelError with a line", err)
		}
		if d.Backend() != gpu.CUDA && ke.Thread != dim3(0, 0, 0) {
			t.Errorf("got thread %v, want the first", ke.Thread)
		}
	})
}
