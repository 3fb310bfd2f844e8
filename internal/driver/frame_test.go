package driver

import (
	"testing"

	"quern.dev/kernel"
)

// Each of the launch's threads is run by exactly one PTX thread, and First returns it.
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

func TestACloneKeepsItsArguments(t *testing.T) {
	f := NewFrame([]Param{{Size: 4}, {Slice: true}, {Size: 12}, {Size: 0}})
	f.Grid, f.Block, f.Shared, f.Threads, f.Adjacent, f.ID = kernel.Dim3{X: 5}, kernel.Dim3{X: 64}, 16, 4, true, 9
	*(*float32)(f.Args[0].Value) = 1.5
	f.Args[1].Addr, f.Args[1].Length = 0x1000, 77
	*(*[3]uint32)(f.Args[2].Value) = [3]uint32{1, 2, 3}
	c := f.Clone()
	*(*float32)(f.Args[0].Value) = 0
	f.Args[1].Addr, f.Args[1].Length = 0, 0
	*(*[3]uint32)(f.Args[2].Value) = [3]uint32{}
	if c.Grid.X != 5 || c.Block.X != 64 || c.Shared != 16 || c.Threads != 4 || !c.Adjacent || c.ID != 9 {
		t.Errorf("the clone is launched otherwise: %+v", c)
	}
	if len(c.Params) != len(f.Params) || len(c.Bytes) != len(f.Bytes) {
		t.Fatalf("%d PTX parameters, want %d", len(c.Params), len(f.Params))
	}
	if a, b := *(*float32)(c.Params[0]), *(*[3]uint32)(c.Params[3]); a != 1.5 || b != [3]uint32{1, 2, 3} {
		t.Errorf("values %v and %v", a, b)
	}
	if addr, n := *(*uint64)(c.Params[1]), *(*int64)(c.Params[2]); addr != 0x1000 || n != 77 {
		t.Errorf("a slice of %d elements at %#x", n, addr)
	}
}
