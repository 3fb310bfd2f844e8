package host_test

import (
	"errors"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"quern.dev/kernel"
	"quern.dev/kernel/host"
)

// scale is the compiled form of a kernel without barriers.
func scale(r *host.Run) {
	a, x := host.Value[float32](r, 0), host.Slice[float32](r, 1)
	for r.Next() {
		for r.ThreadIdx.X = 0; r.ThreadIdx.X < r.BlockDim.X; r.ThreadIdx.X++ {
			if i := r.BlockIdx.X*r.BlockDim.X + r.ThreadIdx.X; i < len(x) {
				x[i] *= a
			}
		}
	}
}

func scaleArgs(a float32, x []float32) *host.Args {
	args := new(host.Args)
	args.SetValue(0, unsafe.Pointer(&a), unsafe.Sizeof(a))
	args.SetSlice(1, unsafe.Pointer(unsafe.SliceData(x)), len(x))
	return args
}

func TestExecuteRunsEveryBlockOnce(t *testing.T) {
	for _, c := range []struct {
		name    string
		grid    kernel.Dim3
		block   kernel.Dim3
		workers int
	}{
		{"one block", kernel.Dim3{X: 1}, kernel.Dim3{X: 1}, 0},
		{"a tiny grid", kernel.Dim3{X: 5}, kernel.Dim3{X: 32}, 0},
		{"one worker", kernel.Dim3{X: 300}, kernel.Dim3{X: 256}, 1},
		{"all workers", kernel.Dim3{X: 3000}, kernel.Dim3{X: 256}, 0},
		{"more workers than cores", kernel.Dim3{X: 501}, kernel.Dim3{X: 256}, 9},
		{"more workers than blocks", kernel.Dim3{X: 2}, kernel.Dim3{X: 1024, Y: 16}, 9},
		{"three dimensions", kernel.Dim3{X: 7, Y: 11, Z: 13}, kernel.Dim3{X: 8, Y: 8, Z: 4}, 4},
		{"an empty grid", kernel.Dim3{}, kernel.Dim3{X: 8}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			var mu sync.Mutex
			seen := map[kernel.Dim3]int{}
			failure := host.Execute(func(r *host.Run) {
				for r.Next() {
					mu.Lock()
					seen[r.BlockIdx]++
					mu.Unlock()
				}
			}, &host.Launch{Grid: c.grid, Block: c.block, Workers: c.workers})
			if failure != nil {
				t.Fatalf("failed: %+v", failure)
			}
			if len(seen) != c.grid.Count() {
				t.Errorf("%d blocks ran, want %d", len(seen), c.grid.Count())
			}
			for at, n := range seen {
				if n != 1 {
					t.Errorf("block %v ran %d times", at, n)
				}
				if at.X >= max(c.grid.X, 1) || at.Y >= max(c.grid.Y, 1) || at.Z >= max(c.grid.Z, 1) {
					t.Errorf("block %v is outside of the grid %v", at, c.grid)
				}
			}
		})
	}
}

func TestRowsOfBlocks(t *testing.T) {
	for _, c := range []struct {
		name          string
		grid, block   kernel.Dim3
		workers       int
		limit, longer int // the row's maximum length, and the length of the longest one if it is known
	}{
		{"one block", kernel.Dim3{X: 1}, kernel.Dim3{X: 32}, 1, 1024, 32},
		{"a block longer than the limit", kernel.Dim3{X: 5}, kernel.Dim3{X: 64}, 1, 32, 64},
		{"several blocks", kernel.Dim3{X: 1000}, kernel.Dim3{X: 8}, 2, 100, 96},
		{"rows that end with the grid's", kernel.Dim3{X: 7, Y: 90, Z: 3}, kernel.Dim3{X: 16, Y: 2}, 3, 1024, 7 * 16},
	} {
		t.Run(c.name, func(t *testing.T) {
			var mu sync.Mutex
			seen := map[kernel.Dim3]int{}
			longest := 0
			failure := host.Execute(func(r *host.Run) {
				for n := r.NextRow(c.limit); n > 0; n = r.NextRow(c.limit) {
					mu.Lock()
					longest = max(longest, n)
					for at := range n / c.block.X {
						seen[kernel.Dim3{X: r.BlockIdx.X + at, Y: r.BlockIdx.Y, Z: r.BlockIdx.Z}]++
					}
					mu.Unlock()
				}
			}, &host.Launch{Grid: c.grid, Block: c.block, Workers: c.workers})
			if failure != nil {
				t.Fatalf("failed: %+v", failure)
			}
			if len(seen) != c.grid.Count() || longest != c.longer {
				t.Errorf("%d blocks ran in rows of up to %d threads, want %d and %d", len(seen), longest, c.grid.Count(), c.longer)
			}
			for at, n := range seen {
				if n != 1 || at.X >= c.grid.X {
					t.Errorf("block %v ran %d times", at, n)
				}
			}
		})
	}
}

func TestRowsOfABlock(t *testing.T) {
	for _, block := range []kernel.Dim3{{X: 32}, {X: 1, Y: 3}, {X: 8, Y: 1, Z: 2}, {X: 4, Y: 3, Z: 2}} {
		var got, want []kernel.Dim3
		failure := host.Execute(func(r *host.Run) {
			for r.Next() {
				for range 2 { // a block has several loops
					for row := 0; r.Row(row); row++ {
						got = append(got, r.ThreadIdx)
					}
					if r.ThreadIdx != (kernel.Dim3{}) {
						t.Errorf("thread %v after the rows", r.ThreadIdx)
					}
				}
			}
		}, &host.Launch{Grid: kernel.Dim3{X: 2}, Block: block, Workers: 1})
		if failure != nil {
			t.Fatalf("failed: %+v", failure)
		}
		for range 4 {
			for z := range max(block.Z, 1) {
				for y := range max(block.Y, 1) {
					want = append(want, kernel.Dim3{Y: y, Z: z})
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("rows of %v: %v, want %v", block, got, want)
		}
	}
}

func TestFailureInARowOfBlocks(t *testing.T) {
	got := host.Execute(func(r *host.Run) {
		for n := r.NextRow(1024); n > 0; n = r.NextRow(1024) {
			for x := range n {
				if r.ThreadIdx.X = x; r.BlockIdx.X*32+x == 1000 {
					host.Fail(r, "here")
				}
			}
		}
	}, &host.Launch{Grid: kernel.Dim3{X: 2000}, Block: kernel.Dim3{X: 32}})
	if got == nil || got.Block.X != 31 || got.Thread.X != 8 {
		t.Errorf("got %+v, want thread 8 of block 31", got)
	}
}

func TestArguments(t *testing.T) {
	type point struct {
		Name int8
		X, Y float64
	}
	p, b, x := point{3, 1, 2}, true, []uint16{5, 6, 7, 8}
	args := new(host.Args)
	for range 2 {
		args.Reset()
		args.SetSlice(2, unsafe.Pointer(&x[0]), 3)
		args.SetSlice(3, nil, 0)
		args.SetValue(0, unsafe.Pointer(&p), unsafe.Sizeof(p))
		args.SetValue(1, unsafe.Pointer(&b), unsafe.Sizeof(b))
		failure := host.Execute(func(r *host.Run) {
			if got := host.Value[point](r, 0); got != p {
				t.Errorf("the struct is %v, want %v", got, p)
			}
			if !host.Value[bool](r, 1) {
				t.Error("the bool is false")
			}
			if got := host.Slice[uint16](r, 2); len(got) != 3 || cap(got) != 3 || &got[0] != &x[0] {
				t.Errorf("the slice is %v of capacity %d", got, cap(got))
			}
			if got := host.Slice[uint16](r, 3); len(got) != 0 {
				t.Errorf("the empty slice is %v", got)
			}
		}, &host.Launch{Grid: kernel.Dim3{X: 1}, Block: kernel.Dim3{X: 1}, Args: args})
		if failure != nil {
			t.Fatalf("failed: %+v", failure)
		}
	}
	for _, c := range []struct {
		name string
		read func(r *host.Run)
	}{
		{"a value of another size", func(r *host.Run) { host.Value[int32](r, 0) }},
		{"a slice read as a value", func(r *host.Run) { host.Value[int32](r, 2) }},
		{"a value read as a slice", func(r *host.Run) { host.Slice[int32](r, 0) }},
		{"an argument that was not set", func(r *host.Run) { host.Slice[int32](r, 9) }},
	} {
		if failure := host.Execute(c.read, &host.Launch{Grid: kernel.Dim3{X: 1}, Block: kernel.Dim3{X: 1}, Args: args}); failure == nil {
			t.Errorf("%s was accepted", c.name)
		}
	}
}

func TestRunGivesTheThread(t *testing.T) {
	grid, block := kernel.Dim3{X: 2, Y: 1, Z: 1}, kernel.Dim3{X: 4, Y: 1, Z: 1}
	failure := host.Execute(func(r *host.Run) {
		for r.Next() {
			r.ThreadIdx.X = 3
			want := kernel.Thread{ThreadIdx: kernel.Dim3{X: 3}, BlockIdx: r.BlockIdx, BlockDim: block, GridDim: grid}
			if got := r.Thread(); got != want {
				t.Errorf("the thread is %+v, want %+v", got, want)
			}
		}
	}, &host.Launch{Grid: kernel.Dim3{X: 2}, Block: kernel.Dim3{X: 4}})
	if failure != nil {
		t.Fatalf("failed: %+v", failure)
	}
}

func TestWorkerMemory(t *testing.T) {
	const dynamic = 100
	var workers atomic.Int32
	failure := host.Execute(func(r *host.Run) {
		workers.Add(1)
		tile := host.Shared[[16]float32](r, 0)
		count := host.Shared[int64](r, 1)
		for r.Next() {
			n := r.BlockDim.Count()
			kept := host.Scratch[int32](r, 0, n)
			views := host.Scratch[[]float32](r, 1, n)
			words, bytes := host.Dynamic[uint32](r, 0), host.Dynamic[byte](r, 1)
			if len(kept) != n || len(views) != n || len(words) != dynamic/4 || len(bytes) != dynamic {
				t.Errorf("lengths %d, %d, %d, %d", len(kept), len(views), len(words), len(bytes))
			}
			if tile != host.Shared[[16]float32](r, 0) || count != host.Shared[int64](r, 1) {
				t.Error("shared memory has moved")
			}
			*count = 0
			for i := range n {
				kept[i], views[i], words[i], tile[i] = int32(i), tile[i:], 0x01010101, float32(i)
				*count++
			}
			for i := range n {
				if kept[i] != int32(i) || views[i][0] != float32(i) || bytes[4*i] != 1 {
					t.Errorf("thread %d has %d, %v, %d", i, kept[i], views[i][0], bytes[4*i])
				}
			}
			if *count != int64(n) {
				t.Errorf("counted %d", *count)
			}
		}
	}, &host.Launch{Grid: kernel.Dim3{X: 2000}, Block: kernel.Dim3{X: 16}, DynamicShared: dynamic, Workers: 4})
	if failure != nil {
		t.Fatalf("failed: %+v", failure)
	}
	t.Logf("%d workers took part", workers.Load())
}

func TestFailures(t *testing.T) {
	x, zero, minus, at := make([]int, 3), 0, -1, 5
	var huge uint64 = 1 << 60
	var none *int
	for _, c := range []struct {
		name string
		do   func(r *host.Run)
		want host.Failure
	}{
		{"an index out of range", func(r *host.Run) { x[at] = 1 },
			host.Failure{Reason: "index out of range", HasIndex: true, Index: 5, Length: 3}},
		{"a negative index", func(r *host.Run) { x[minus] = 1 },
			host.Failure{Reason: "index out of range", HasIndex: true, Index: -1, Length: 3}},
		{"a huge index", func(r *host.Run) { x[huge] = 1 },
			host.Failure{Reason: "index out of range", HasIndex: true, Index: 1 << 60, Length: 3}},
		{"slicing beyond the capacity", func(r *host.Run) { x = x[:at] },
			host.Failure{Reason: "slice bounds out of range", HasIndex: true, Index: 5, Length: 3}},
		{"slicing backwards", func(r *host.Run) { x = x[2-minus : 2+minus] },
			host.Failure{Reason: "slice bounds out of range", HasIndex: true, Index: 3, Length: 1}},
		{"division by zero", func(r *host.Run) { at = 1 / zero },
			host.Failure{Reason: "integer divide by zero"}},
		{"a nil pointer", func(r *host.Run) { *none = 1 },
			host.Failure{Reason: "invalid memory address or nil pointer dereference"}},
		{"a nil pointer in an atomic operation", func(r *host.Run) { kernel.AtomicAdd(none, 1) },
			host.Failure{Reason: "invalid memory address or nil pointer dereference"}},
		{"a negative shift", func(r *host.Run) { at = 1 << minus },
			host.Failure{Reason: "negative shift amount"}},
		{"a panic", func(r *host.Run) { panic("weights do not add up") },
			host.Failure{Reason: "weights do not add up"}},
		{"a panic with an error", func(r *host.Run) { panic(errors.New("broken")) },
			host.Failure{Reason: "broken"}},
		{"a panic with a number", func(r *host.Run) { panic(42) },
			host.Failure{Reason: "42"}},
		{"a call of Fail", func(r *host.Run) { host.Fail(r, "gave up") },
			host.Failure{Reason: "gave up"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, workers := range []int{1, 4} {
				got := host.Execute(func(r *host.Run) {
					for r.Next() {
						if r.BlockIdx.X == 700 {
							r.ThreadIdx = kernel.Dim3{X: 1, Y: 2}
							c.do(r)
						}
					}
				}, &host.Launch{Grid: kernel.Dim3{X: 1000}, Block: kernel.Dim3{X: 64}, Workers: workers})
				if got == nil {
					t.Fatal("no failure")
				}
				if filepath.Base(got.File) != "host_test.go" || got.Line < 100 {
					t.Errorf("located at %s:%d", got.File, got.Line)
				}
				want := c.want
				want.Block, want.Thread = kernel.Dim3{X: 700}, kernel.Dim3{X: 1, Y: 2}
				want.File, want.Line, want.Package = got.File, got.Line, "quern.dev/kernel/host_test"
				if *got != want {
					t.Errorf("got  %+v\nwant %+v", *got, want)
				}
			}
		})
	}
}

func TestFailureIsLocatedByLineDirectives(t *testing.T) {
	got := host.Execute(generated, &host.Launch{Grid: kernel.Dim3{X: 1}, Block: kernel.Dim3{X: 1}})
	if got == nil || filepath.Base(got.File) != "filters.go" || got.Line != 41 {
		t.Errorf("got %+v, want filters.go:41", got)
	}
}

func TestFailureStopsTheOtherBlocks(t *testing.T) {
	const blocks = 100000
	var ran atomic.Int64
	failure := host.Execute(func(r *host.Run) {
		for r.Next() {
			if ran.Add(1) == 10 {
				panic("ten")
			}
		}
	}, &host.Launch{Grid: kernel.Dim3{X: blocks}, Block: kernel.Dim3{X: 64}, Workers: 2})
	if failure == nil || failure.Reason != "ten" {
		t.Fatalf("failure is %+v", failure)
	}
	if ran.Load() == blocks {
		t.Error("every block ran")
	}
	// The workers serve the next launch.
	x := []float32{1, 2, 3}
	if f := host.Execute(scale, &host.Launch{Grid: kernel.Dim3{X: 1}, Block: kernel.Dim3{X: 4}, Args: scaleArgs(2, x)}); f != nil || x[2] != 6 {
		t.Errorf("after a failure: %+v, %v", f, x)
	}
}

func TestCancellation(t *testing.T) {
	cause := errors.New("the user left")
	t.Run("before the launch nothing runs", func(t *testing.T) {
		var i host.Interrupt
		i.GiveUp(cause)
		got := host.Execute(func(r *host.Run) {
			for r.Next() {
				t.Error("a block ran")
			}
		}, &host.Launch{Grid: kernel.Dim3{X: 3}, Block: kernel.Dim3{X: 1}, Interrupt: &i})
		if got == nil || got.Canceled != cause {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("during the launch the rest is left out", func(t *testing.T) {
		const blocks = 100000
		var i host.Interrupt
		var ran atomic.Int64
		got := host.Execute(func(r *host.Run) {
			for r.Next() {
				if ran.Add(1) == 10 {
					i.GiveUp(cause)
				}
			}
		}, &host.Launch{Grid: kernel.Dim3{X: blocks}, Block: kernel.Dim3{X: 64}, Interrupt: &i})
		if got == nil || got.Canceled != cause || ran.Load() == blocks {
			t.Errorf("got %+v after %d blocks", got, ran.Load())
		}
	})
	t.Run("in the last block it comes too late", func(t *testing.T) {
		var i host.Interrupt
		got := host.Execute(func(r *host.Run) {
			for r.Next() {
				i.GiveUp(cause)
			}
		}, &host.Launch{Grid: kernel.Dim3{X: 1}, Block: kernel.Dim3{X: 1}, Interrupt: &i})
		if got != nil {
			t.Errorf("got %+v", got)
		}
	})
	t.Run("a loop tells where it was", func(t *testing.T) {
		var i host.Interrupt
		for _, workers := range []int{1, 2} {
			got := host.Execute(func(r *host.Run) { spin(r, func() { go i.GiveUp(cause) }) },
				&host.Launch{Grid: kernel.Dim3{X: 4}, Block: kernel.Dim3{X: 1}, Workers: workers, Interrupt: &i})
			if got == nil || got.Canceled != cause || workers == 1 && (filepath.Base(got.File) != "spin.go" || got.Line != 8) {
				t.Errorf("%d workers: got %+v", workers, got)
			}
		}
	})
	t.Run("a launch that takes too long", func(t *testing.T) {
		var i host.Interrupt
		i.Limit(5*time.Millisecond, cause)
		one := &host.Launch{Grid: kernel.Dim3{X: 1}, Block: kernel.Dim3{X: 1}, Interrupt: &i}
		for range 3 {
			if got := host.Execute(func(r *host.Run) { spin(r, func() {}) }, one); got == nil || got.Canceled != cause || got.Line != 8 {
				t.Fatalf("got %+v", got)
			}
			if got := host.Execute(func(r *host.Run) {}, one); got != nil {
				t.Fatalf("a short launch after it: %+v", got)
			}
		}
	})
	t.Run("blocks that wait for each other", func(t *testing.T) {
		var i host.Interrupt
		got := host.Execute(func(r *host.Run) {
			for r.Next() {
				if r.BlockIdx.X == 0 {
					i.GiveUp(cause)
				}
				r.SyncGrid()
			}
		}, &host.Launch{Grid: kernel.Dim3{X: 3}, Block: kernel.Dim3{X: 1}, Cooperative: true, Interrupt: &i})
		if got == nil || got.Canceled != cause {
			t.Errorf("got %+v", got)
		}
	})
}

// TestWorkersJoinALaunch makes two blocks wait for each other, which ends only if
// two workers run them.
func TestWorkersJoinALaunch(t *testing.T) {
	for _, c := range []struct {
		name    string
		threads int
		blocks  int
	}{
		{"a large one at once", 1 << 20, 2},
		{"a small one that takes long", 1, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			var arrived atomic.Int32
			failure := host.Execute(func(r *host.Run) {
				for r.Next() {
					if c.blocks == 3 && r.BlockIdx.X == 0 {
						spinFor20Microseconds()
						continue
					}
					for arrived.Add(1); arrived.Load() < 2; {
						runtime.Gosched()
					}
				}
			}, &host.Launch{Grid: kernel.Dim3{X: c.blocks}, Block: kernel.Dim3{X: c.threads}, Workers: 2})
			if failure != nil {
				t.Errorf("failed: %+v", failure)
			}
		})
	}
}

func TestConcurrentLaunches(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			x := make([]float32, 20000)
			for i := range x {
				x[i] = 1
			}
			l := &host.Launch{Grid: kernel.Dim3{X: (len(x) + 255) / 256}, Block: kernel.Dim3{X: 256}, Args: scaleArgs(2, x), Workers: 4}
			for range 10 {
				if f := host.Execute(scale, l); f != nil {
					t.Errorf("failed: %+v", f)
				}
			}
			for i, v := range x {
				if v != 1024 {
					t.Errorf("x[%d] is %v, want 1024", i, v)
					break
				}
			}
		})
	}
	wg.Wait()
}

func TestLaunchesDoNotAllocate(t *testing.T) {
	x := make([]float32, 1<<16)
	args := new(host.Args)
	for _, c := range []struct {
		name string
		n    int
	}{{"small", 100}, {"large", len(x)}} {
		var i host.Interrupt
		i.Limit(time.Minute, errors.New("too long"))
		l := &host.Launch{Interrupt: &i, Grid: kernel.Dim3{X: (c.n + 255) / 256}, Block: kernel.Dim3{X: 256}, Args: args, Workers: 2}
		if n := testing.AllocsPerRun(50, func() {
			a := float32(1)
			args.Reset()
			args.SetValue(0, unsafe.Pointer(&a), unsafe.Sizeof(a))
			args.SetSlice(1, unsafe.Pointer(&x[0]), c.n)
			if f := host.Execute(scale, l); f != nil {
				t.Errorf("failed: %+v", f)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", c.name, n)
		}
	}
}

func BenchmarkExecute(b *testing.B) {
	x := make([]float32, 1<<22)
	for _, c := range []struct {
		name string
		n    int
	}{{"1 block", 64}, {"4 blocks", 1024}, {"4M elements", len(x)}} {
		b.Run(c.name, func(b *testing.B) {
			l := &host.Launch{Grid: kernel.Dim3{X: (c.n + 255) / 256}, Block: kernel.Dim3{X: 256}, Args: scaleArgs(1, x[:c.n])}
			b.ReportAllocs()
			b.SetBytes(int64(c.n) * 8)
			for b.Loop() {
				host.Execute(scale, l)
			}
		})
	}
	b.Run("empty body", func(b *testing.B) {
		l := &host.Launch{Grid: kernel.Dim3{X: 1}, Block: kernel.Dim3{X: 1}}
		b.ReportAllocs()
		for b.Loop() {
			host.Execute(func(r *host.Run) {
				for r.Next() {
				}
			}, l)
		}
	})
}
