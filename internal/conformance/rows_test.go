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

func TestRowsOfThreadsMatchPlainGo(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, size := range [][2]int{{48, 32}, {33, 19}, {16, 16}, {5, 40}, {50, 3}, {1, 1}} {
			w, h := size[0], size[1]
			r := rand.New(rand.NewPCG(uint64(w), uint64(h)))
			in := integers[int32](r, w*h)
			check(t, d, in, poison[int32](w*h), launch[int32, int32]{
				grid: dim((w+15)/16, (h+15)/16), block: dim(16, 4),
				plain: func(t kernel.Thread, in, out []int32) { columnTiles(t, w, h, in, out) },
				device: func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[int32]) error {
					return LaunchColumnTiles(s, g, w, h, in, out)
				},
			})
			check(t, d, in, poison[int32](w*h), launch[int32, int32]{
				grid: dim((w + 7) / 8), block: dim(8, 8),
				plain: func(t kernel.Thread, in, out []int32) { runningRows(t, w, h, in, out) },
				device: func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[int32]) error {
					return LaunchRunningRows(s, g, w, h, in, out)
				},
			})
			for _, shift := range []int{0, 3, 8} {
				check(t, d, in, poison[int32](w*h), launch[int32, int32]{
					grid: dim((w*h + 31) / 32), block: dim(32),
					plain: func(t kernel.Thread, in, out []int32) { rowTiles(t, shift, in, out) },
					device: func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[int32]) error {
						return LaunchRowTiles(s, g, shift, in, out)
					},
				})
			}
		}
	})
}

func TestStatementsAfterAReturnRunForTheOthersOnly(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		for _, size := range [][2]int{{48, 32}, {33, 3}, {1, 1}, {70, 2}} {
			w, h := size[0], size[1]
			in := integers[int32](rand.New(rand.NewPCG(uint64(w), uint64(h))), w*h)
			line := dim((w*h + 63) / 64)
			for _, on := range []bool{false, true} {
				check(t, d, in, poison[int32](w*h), launch[int32, int32]{
					grid: line, block: dim(64),
					plain: func(t kernel.Thread, in, out []int32) { returnsInSomeLaunches(t, on, in, out) },
					device: func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[int32]) error {
						return LaunchReturnsInSomeLaunches(s, g, on, in, out)
					},
				})
			}
			check(t, d, in, poison[int32](w*h), launch[int32, int32]{
				grid: line, block: dim(64),
				plain: returnsAtTheEdge,
				device: func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[int32]) error {
					return LaunchReturnsAtTheEdge(s, g, in, out)
				},
			})
			check(t, d, in, poison[int32](w*h), launch[int32, int32]{
				grid: dim((w+15)/16, (h+3)/4), block: dim(16, 4),
				plain: func(t kernel.Thread, in, out []int32) { returnsAtTheBorder(t, w, h, in, out) },
				device: func(s *gpu.Stream, g gpu.Grid, in, out *gpu.Buffer[int32]) error {
					return LaunchReturnsAtTheBorder(s, g, w, h, in, out)
				},
			})
		}
	})
}

func TestWindowOutsideSharedMemoryFaults(t *testing.T) {
	gputest.Each(t, func(t *testing.T, d *gpu.Device) {
		s := d.DefaultStream()
		in, err := gpu.Upload(s, make([]int32, 32))
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		out, err := gpu.Alloc[int32](d, 32)
		if err != nil {
			t.Fatal(err)
		}
		defer out.Close()
		for _, c := range []struct{ shift, thread, index int }{{39, 1, 40}, {-1, 0, -1}} {
			if err := LaunchRowTiles(s, gpu.Blocks(dim(1), dim(32)), c.shift, in, out); err != nil {
				t.Fatal(err)
			}
			err := s.Synchronize(context.Background())
			var ke *gpu.KernelError
			if !errors.As(err, &ke) {
				t.Fatalf("shift %d: got %v, want a KernelError", c.shift, err)
			}
			// On a GPU, any of several failing threads may be reported.
			if ke.Length != 40 || int(ke.Index)-ke.Thread.X != c.shift || d.Backend() != gpu.CUDA && (ke.Thread.X != c.thread || int(ke.Index) != c.index) {
				t.Errorf("shift %d: got thread %v, index %d, length %d", c.shift, ke.Thread, ke.Index, ke.Length)
			}
		}
	})
}
