package host_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"quern.dev/kernel"
	"quern.dev/kernel/host"
)

// execute runs body under Plain, with x as its only argument.
func execute(t *testing.T, l host.Launch, x []int32, body func(t kernel.Thread, x []int32)) *host.Failure {
	t.Helper()
	l.Args = new(host.Args)
	l.Args.SetSlice(0, unsafe.Pointer(unsafe.SliceData(x)), len(x))
	return host.Execute(func(r *host.Run) {
		v0 := host.Slice[int32](r, 0)
		host.Plain(r, func(t kernel.Thread) { body(t, v0) })
	}, &l)
}

// reverse reverses each block of 64 elements.
func reverse(t kernel.Thread, x []int32) {
	tile := kernel.Shared[[64]int32](t)
	tile[t.ThreadIdx.X] = x[t.Global()]
	t.Sync()
	x[t.Global()] = tile[63-t.ThreadIdx.X]
}

// prefixes computes prefix sums within warps.
func prefixes(t kernel.Thread, x []int32) { x[t.Global()] = kernel.WarpScanAdd(t, x[t.Global()]) }

// rotate moves the elements of each block to the next block of its cluster of 4.
func rotate(t kernel.Thread, x []int32) {
	tile := kernel.Shared[[64]int32](t)
	tile[t.ThreadIdx.X] = x[t.Global()]
	t.SyncCluster()
	x[t.Global()] = kernel.ClusterShared(t, tile, (t.ClusterRank()+3)%t.ClusterSize())[t.ThreadIdx.X]
	t.SyncCluster()
}

// mirror reverses all elements.
func mirror(t kernel.Thread, x []int32) {
	v := x[len(x)-1-t.Global()]
	t.SyncGrid()
	x[t.Global()] = v
}

// twice copies through dynamic shared memory.
func twice(t kernel.Thread, x []int32) {
	tile := kernel.Dynamic[int32](t)
	tile[t.ThreadIdx.X] = 2 * x[t.Global()]
	t.Sync()
	x[t.Global()] = tile[t.ThreadIdx.X]
}

func TestPlainRunsTheFunctionItself(t *testing.T) {
	const blocks, threads = 40, 64
	for _, test := range []struct {
		name string
		with host.Launch
		body func(t kernel.Thread, x []int32)
		want func(i int) int32
	}{
		{"one after another", host.Launch{}, func(t kernel.Thread, x []int32) { x[t.Global()]++ }, func(i int) int32 { return int32(i + 1) }},
		{"with barriers", host.Launch{}, reverse, func(i int) int32 { return int32(i/64*64 + 63 - i%64) }},
		{"with warp operations", host.Launch{}, prefixes, func(i int) int32 {
			first := i / 32 * 32
			return int32((first + i) * (i - first + 1) / 2)
		}},
		{"with dynamic shared memory", host.Launch{DynamicShared: 4 * threads}, twice, func(i int) int32 { return int32(2 * i) }},
		{"in clusters", host.Launch{Cluster: kernel.Dim3{X: 4, Y: 1, Z: 1}}, rotate, func(i int) int32 {
			return int32(i/256*256 + (i+192)%256)
		}},
		{"with barriers of the grid", host.Launch{Cooperative: true}, mirror, func(i int) int32 { return int32(blocks*threads - 1 - i) }},
	} {
		for _, workers := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s, %d workers", test.name, workers), func(t *testing.T) {
				x := make([]int32, blocks*threads)
				for i := range x {
					x[i] = int32(i)
				}
				test.with.Grid, test.with.Block, test.with.Workers = kernel.Dim3{X: blocks}, kernel.Dim3{X: threads}, workers
				if f := execute(t, test.with, x, test.body); f != nil {
					t.Fatalf("failed: %+v", f)
				}
				for i, v := range x {
					if v != test.want(i) {
						t.Fatalf("x[%d] is %d, want %d", i, v, test.want(i))
					}
				}
			})
		}
	}
}

// outOfRange fails in thread 5 of block 2.
func outOfRange(t kernel.Thread, x []int32) {
	t.Sync()
	x[t.Global()]++
}

func TestPlainReportsFailuresOfTheFunction(t *testing.T) {
	launch := host.Launch{Grid: kernel.Dim3{X: 4}, Block: kernel.Dim3{X: 64}, Workers: 1}
	got := execute(t, launch, make([]int32, 2*64+5), outOfRange)
	if got == nil || !strings.HasSuffix(got.File, "plain_test.go") || got.Line == 0 {
		t.Fatalf("located at %+v", got)
	}
	want := host.Failure{Block: kernel.Dim3{X: 2}, Thread: kernel.Dim3{X: 5}, Reason: "index out of range", HasIndex: true, Index: 133, Length: 133, File: got.File, Line: got.Line, Package: "quern.dev/kernel/host_test"}
	if *got != want {
		t.Errorf("got  %+v\nwant %+v", *got, want)
	}
	got = execute(t, launch, make([]int32, 4), func(t kernel.Thread, x []int32) {
		if t.ThreadIdx.X > 0 {
			t.Sync()
		}
	})
	if got == nil || !strings.Contains(got.Reason, "waits in Sync, but another thread of the block has returned") {
		t.Errorf("got %+v", got)
	}
	// A block that waits for others fails when they do.
	launch.Cooperative = true
	got = execute(t, launch, make([]int32, 4), func(t kernel.Thread, x []int32) {
		if t.BlockIdx.X == 3 {
			panic("gave up")
		}
		t.SyncGrid()
	})
	if got == nil || got.Reason != "gave up" {
		t.Errorf("got %+v", got)
	}
}

func TestPlainPrintsToTheOutputOfTheLaunch(t *testing.T) {
	var errs [3]error
	done := make(chan int)
	for i := range errs {
		go func() {
			defer func() { done <- i }()
			out := &host.Output{Size: 1 << 20}
			launch := host.Launch{Grid: kernel.Dim3{X: 8}, Block: kernel.Dim3{X: 4}, Workers: 4, Output: out}
			if f := execute(t, launch, []int32{int32(i)}, func(t kernel.Thread, x []int32) { kernel.Printf("%d\n", x[0]) }); f != nil {
				errs[i] = fmt.Errorf("failed: %+v", f)
				return
			}
			lines := strings.Fields(out.String())
			slices.Sort(lines)
			if lines = slices.Compact(lines); len(lines) != 1 || lines[0] != fmt.Sprint(i) || len(out.String()) != 2*32 {
				errs[i] = fmt.Errorf("launch %d has printed %q", i, out.String())
			}
		}()
	}
	for range errs {
		<-done
	}
	if err := errors.Join(errs[:]...); err != nil {
		t.Error(err)
	}
}

func BenchmarkPlain(b *testing.B) {
	x := make([]int32, 1<<16)
	args := new(host.Args)
	args.SetSlice(0, unsafe.Pointer(&x[0]), len(x))
	for _, c := range []struct {
		name string
		body func(t kernel.Thread, x []int32)
	}{
		{"no barrier", func(t kernel.Thread, x []int32) { x[t.Global()]++ }},
		{"a barrier", reverse},
		{"a scan", prefixes},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				host.Execute(func(r *host.Run) {
					v0 := host.Slice[int32](r, 0)
					host.Plain(r, func(t kernel.Thread) { c.body(t, v0) })
				}, &host.Launch{Grid: kernel.Dim3{X: len(x) / 64}, Block: kernel.Dim3{X: 64}, Args: args, Workers: 1})
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(x)), "ns/thread")
		})
	}
}
