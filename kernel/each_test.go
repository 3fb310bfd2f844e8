package kernel_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"quern.dev/kernel"
)

func ExampleEach() {
	saxpy := func(t kernel.Thread, a float32, x, y []float32) {
		if i := t.Global(); i < len(y) {
			y[i] += a * x[i]
		}
	}
	x, y := []float32{1, 2, 3}, []float32{10, 20, 30}
	kernel.Each(kernel.Dim3{X: 1}, kernel.Dim3{X: 32}, func(t kernel.Thread) {
		saxpy(t, 2, x, y)
	})
	fmt.Println(y)
	// Output: [12 24 36]
}

func ExampleShared() {
	// reverse reverses each block of 4 elements.
	reverse := func(t kernel.Thread, x []int32) {
		tile := kernel.Shared[[4]int32](t)
		tile[t.ThreadIdx.X] = x[t.Global()]
		t.Sync()
		x[t.Global()] = tile[3-t.ThreadIdx.X]
	}
	x := []int32{1, 2, 3, 4, 5, 6, 7, 8}
	kernel.Each(kernel.Dim3{X: 2}, kernel.Dim3{X: 4}, func(t kernel.Thread) {
		reverse(t, x)
	})
	fmt.Println(x)
	// Output: [4 3 2 1 8 7 6 5]
}

func ExampleThread_Stride() {
	var sum int64
	x := []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	kernel.Each(kernel.Dim3{X: 1}, kernel.Dim3{X: 4}, func(t kernel.Thread) {
		for i := t.Global(); i < len(x); i += t.Stride() {
			kernel.AtomicAdd(&sum, x[i])
		}
	})
	fmt.Println(sum)
	// Output: 55
}

func TestEachRunsEveryThreadOnce(t *testing.T) {
	grid, block := kernel.Dim3{X: 2, Y: 3, Z: 2}, kernel.Dim3{X: 4, Y: 2, Z: 3}
	for _, c := range []struct {
		name     string
		barriers int
	}{
		{"without barriers", 0},
		{"with a barrier", 1},
		{"with several barriers", 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			seen := map[[3]int]int{}
			kernel.Each(grid, block, func(th kernel.Thread) {
				for range c.barriers {
					th.Sync()
				}
				if th.BlockDim != block || th.GridDim != grid {
					t.Errorf("a thread of %v blocks of %v", th.GridDim, th.BlockDim)
				}
				x, y, z := th.Global3()
				seen[[3]int{x, y, z}]++
			})
			if len(seen) != grid.Count()*block.Count() {
				t.Errorf("%d threads ran, want %d", len(seen), grid.Count()*block.Count())
			}
			for at, n := range seen {
				if n != 1 {
					t.Errorf("thread %v ran %d times", at, n)
				}
			}
		})
	}
}

func TestSyncSeparatesPhases(t *testing.T) {
	const n, rounds = 37, 5
	var arrived [rounds]int
	kernel.Each(kernel.Dim3{X: 1}, kernel.Dim3{X: n}, func(th kernel.Thread) {
		for r := range rounds {
			arrived[r]++
			th.Sync()
			if arrived[r] != n {
				t.Errorf("thread %d passed barrier %d when %d of %d had arrived", th.ThreadIdx.X, r, arrived[r], n)
			}
		}
	})
}

func TestEachBlockHasItsOwnPoisonedSharedMemory(t *testing.T) {
	var fresh []uint32
	kernel.Each(kernel.Dim3{X: 3}, kernel.Dim3{X: 8}, func(th kernel.Thread) {
		count := kernel.Shared[uint32](th)
		other := kernel.Shared[[2]float64](th)
		if th.ThreadIdx.X == 0 {
			fresh = append(fresh, *count)
			*count, other[1] = 0, 7
		}
		th.Sync()
		*count++
		th.Sync()
		if *count != 8 || other[1] != 7 {
			t.Errorf("thread %d sees %d and %v, want 8 and 7", th.ThreadIdx.X, *count, other[1])
		}
	})
	if want := []uint32{0xA5A5A5A5, 0xA5A5A5A5, 0xA5A5A5A5}; !slices.Equal(fresh, want) {
		t.Errorf("at block start shared memory held %x, want %x", fresh, want)
	}
}

func TestDynamicSharedMemory(t *testing.T) {
	kernel.EachDynamic(kernel.Dim3{X: 2}, kernel.Dim3{X: 4}, 35, func(th kernel.Thread) {
		words := kernel.Dynamic[uint32](th)
		if len(words) != 8 || cap(words) != 8 {
			t.Errorf("35 bytes hold %d elements of capacity %d, want 8", len(words), cap(words))
		}
		if th.ThreadIdx.X == 0 && words[7] != 0xA5A5A5A5 {
			t.Errorf("at block start dynamic memory held %x", words[7])
		}
		th.Sync()
		words[th.ThreadIdx.X] = math.Float32bits(float32(th.ThreadIdx.X))
		th.Sync()
		if f := kernel.Dynamic[float32](th); f[3] != 3 {
			t.Errorf("the second view of the memory holds %v, want 3", f[3])
		}
	})
	if d := kernel.Dynamic[int32](kernel.Thread{}); d != nil {
		t.Errorf("Dynamic of a single thread is %v, want nil", d)
	}
	if p := kernel.Shared[int32](kernel.Thread{}); *p != 0 {
		t.Errorf("Shared of a single thread holds %v, want 0", *p)
	}
}

func TestEachReportsTheFailingThread(t *testing.T) {
	var empty []int
	for _, c := range []struct {
		name string
		body func(t kernel.Thread)
		want string
	}{
		{"an index out of range", func(t kernel.Thread) {
			if t.Global() == 5 {
				empty[t.Global()] = 1
			}
		}, "thread (1,0,0) of block (1,0,0) at each_test.go: runtime error: index out of range [5] with length 0"},
		{"a panic after a barrier", func(t kernel.Thread) {
			t.Sync()
			if t.Global() == 2 {
				panic("two")
			}
			t.Sync()
		}, "thread (2,0,0) of block (0,0,0) at each_test.go: two"},
		{"a nil pointer in an atomic operation", func(t kernel.Thread) {
			kernel.AtomicAdd((*int32)(nil), 1)
		}, "thread (0,0,0) of block (0,0,0) at each_test.go: runtime error: invalid memory address"},
		{"a barrier that some threads miss by returning", func(t kernel.Thread) {
			if t.ThreadIdx.X != 0 {
				t.Sync()
			}
		}, "thread (1,0,0) of block (0,0,0): waits in Sync, but another"},
		{"a barrier that some threads miss later", func(t kernel.Thread) {
			t.Sync()
			if t.ThreadIdx.X != 3 {
				t.Sync()
			}
		}, "thread (0,0,0) of block (0,0,0): waits in Sync, but another"},
		{"shared variables that differ", func(t kernel.Thread) {
			if t.ThreadIdx.X == 0 {
				kernel.Shared[int32](t)
			} else {
				kernel.Shared[float32](t)
			}
		}, "thread (1,0,0) of block (0,0,0) at each_test.go: kernel: Shared: call 1 of this thread has type float32, but the same call of another thread has type int32"},
		{"shared memory with pointers", func(t kernel.Thread) {
			kernel.Shared[[2]struct{ name string }](t)
		}, "contains pointers; use numbers, bools, and arrays and structs of these"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			defer func() {
				v := recover()
				e, ok := v.(*kernel.ThreadError)
				if !ok {
					t.Fatalf("recovered %v, want a *kernel.ThreadError", v)
				}
				text := e.Error()
				if e.File != "" {
					place := fmt.Sprintf("%s:%d", e.File, e.Line)
					text = strings.Replace(text, place, e.File[strings.LastIndexByte(e.File, '/')+1:], 1)
				}
				if !strings.Contains(text, c.want) {
					t.Errorf("got  %s\nwant %s", text, c.want)
				}
				if n := runtime.NumGoroutine(); n > before {
					t.Errorf("%d threads are left behind", n-before)
				}
			}()
			kernel.Each(kernel.Dim3{X: 2}, kernel.Dim3{X: 4}, c.body)
		})
	}
}

func TestThreadErrorUnwraps(t *testing.T) {
	defer func() {
		err, _ := recover().(error)
		var re runtime.Error
		if !errors.As(err, &re) {
			t.Errorf("no runtime.Error in %v", err)
		}
	}()
	zero := 0
	kernel.Each(kernel.Dim3{X: 1}, kernel.Dim3{X: 1}, func(t kernel.Thread) {
		zero = 1 / zero
	})
}

func TestEachRejectsEmptyGrids(t *testing.T) {
	for _, c := range []struct {
		name        string
		grid, block kernel.Dim3
		bytes       int
	}{
		{"an empty grid", kernel.Dim3{}, kernel.Dim3{X: 1}, 0},
		{"a negative block", kernel.Dim3{X: 1}, kernel.Dim3{X: 1, Y: -1}, 0},
		{"negative shared memory", kernel.Dim3{X: 1}, kernel.Dim3{X: 1}, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("was accepted")
				}
			}()
			kernel.EachDynamic(c.grid, c.block, c.bytes, func(kernel.Thread) {})
		})
	}
}

func BenchmarkEach(b *testing.B) {
	x := make([]float32, 64*256)
	for _, c := range []struct {
		name string
		body func(t kernel.Thread)
	}{
		{"plain", func(t kernel.Thread) { x[t.Global()]++ }},
		{"barrier", func(t kernel.Thread) { t.Sync(); x[t.Global()]++ }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				kernel.Each(kernel.Dim3{X: 64}, kernel.Dim3{X: 256}, c.body)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(x)), "ns/thread")
		})
	}
}
