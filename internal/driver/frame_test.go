package driver

import (
	"testing"

	"quern.dev/kernel"
)

// Every thread that a launch states is run by one thread of its PTX, and First
// finds it again.
func TestBlocksCoverTheGrid(t *testing.T) {
	for _, threads := range []int{0, 1, 2, 4, 16} {
		for _, adjacent := range []bool{false, true} {
			for blocks := 1; blocks < 40; blocks++ {
				f := &Frame{Grid: kernel.Dim3{X: blocks, Y: 3, Z: 2}, Block: kernel.Dim3{X: 6, Y: 2, Z: 1}, Threads: threads, Adjacent: adjacent}
				n := max(threads, 1)
				run := f.Blocks()
				if run.Y != 3 || run.Z != 2 || run.X*n < blocks || (run.X-1)*n >= blocks {
					t.Fatalf("%d blocks, %d threads a thread: %v", blocks, threads, run)
				}
				seen := map[[2]int]bool{}
				for b := range run.X {
					for i := range f.Block.X {
						block, thread := f.First(kernel.Dim3{X: b, Y: 1}, kernel.Dim3{X: i, Y: 1})
						at := [2]int{block.X, thread.X}
						if seen[at] || thread.X >= f.Block.X || block.Y != 1 || thread.Y != 1 {
							t.Fatalf("%d blocks, %d threads a thread: block %d, thread %d begin at %v", blocks, threads, b, i, at)
						}
						seen[at] = true
					}
				}
			}
		}
	}
}
