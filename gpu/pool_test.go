package gpu

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"quern.dev/gpu/compiled"
	"quern.dev/internal/driver/cuda/fakecuda"
)

// acquire takes a buffer from a pool.
func acquire[T any](t testing.TB, p *Pool, s *Stream, n int) *Buffer[T] {
	t.Helper()
	return must[*Buffer[T]](t)(Acquire[T](p, s, n))
}

func TestPoolsGiveMemoryAgain(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s, p := d.DefaultStream(), d.Pool()
		if p != d.Pool() || p.Device() != d {
			t.Error("the device's pool is another each time")
		}
		for i := range 5 {
			b := acquire[int](t, p, s, 100)
			do(t, Fill(s, b, i))
			if got := download(t, s, b); len(got) != 100 || got[99] != i {
				t.Fatalf("read %v", got)
			}
			if st := p.Stats(); st.Buffers != 1 || st.Used != 1024 || st.Reserved != 1024 || st.LargestFree != 0 || st.Fragmentation != 0 {
				t.Errorf("in use: %+v", st)
			}
			closeAll(t, b)
		}
		want := PoolStats{Reserved: 1024, HighWater: 1024, Hits: 4, Misses: 1, LargestFree: 1024}
		if st := p.Stats(); st != want {
			t.Errorf("got %+v, want %+v", st, want)
		}
		do(t, p.Trim())
		want.Reserved, want.LargestFree = 0, 0
		if st := p.Stats(); st != want {
			t.Errorf("trimmed: got %+v, want %+v", st, want)
		}
	})
}

func TestPooledBuffersAreBuffers(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		p := must[*Pool](t)(d.NewPool(PoolConfig{}))
		s := d.DefaultStream()
		x, y, none := acquire[float32](t, p, s, 64), acquire[float32](t, p, s, 64), acquire[float32](t, p, s, 0)
		do(t, CopyIn(s, x, ramp(64)))
		do(t, Copy(s, y, x))
		do(t, launchSaxpy(k, s, Linear(64), 1, 64, x, y))
		if got := download(t, s, y.Slice(60, 64)); !slices.Equal(got, []float32{120, 122, 124, 126}) {
			t.Errorf("got %v", got)
		}
		do(t, Fill(s, none, 1))
		closeAll(t, x, y, none, p)
	})
}

func TestAClosedBufferStaysClosed(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s, p := d.DefaultStream(), d.Pool()
		old := acquire[int](t, p, s, 3)
		view := old.Slice(0, 2)
		closeAll(t, old)
		b := acquire[int](t, p, s, 3)
		if p.Stats().Hits != 1 {
			t.Fatal("the memory was not used again")
		}
		do(t, CopyIn(s, b, []int{1, 2, 3}))
		for name, err := range map[string]error{
			"copy to the old buffer":         CopyIn(s, old, []int{7, 7, 7}),
			"fill of a part of it":           Fill(s, view, 7),
			"copy from it":                   Copy(s, b, old),
			"download of a part of it":       Download(context.Background(), s, make([]int, 2), view),
			"a new part of it":               Zero(s, old.Slice(0, 1)),
			"launch with it":                 NewKernel(outcomeInfo).Launch(s, Linear(1), params{}, old),
			"kernel argument, a part of one": NewKernel(outcomeInfo).Launch(s, Linear(1), params{}, view),
		} {
			if err == nil || !errors.Is(err, ErrClosed) && name[:6] != "launch" && name[:6] != "kernel" {
				t.Errorf("%s: %v", name, err)
			}
		}
		closeAll(t, old, view, old) // does not close b
		if got := download(t, s, b); !slices.Equal(got, []int{1, 2, 3}) {
			t.Errorf("the new buffer holds %v", got)
		}
		closeAll(t, b)
	})
}

// TestMemoryIsReusedInTheOrderOfWork uses streams whose work does not end until the
// test allows it.
func TestMemoryIsReusedInTheOrderOfWork(t *testing.T) {
	tests := []struct {
		name        string
		use         func(b *Buffer[byte], s, other *Stream) error
		same, other bool // whether a stream gets the memory while the work is running
	}{
		{"used on its stream", func(b *Buffer[byte], s, other *Stream) error { return Zero(s, b) }, true, false},
		{"launched with on its stream", func(b *Buffer[byte], s, other *Stream) error { return launchOn(s, b) }, true, false},
		{"launched with on another stream", func(b *Buffer[byte], s, other *Stream) error { return launchOn(other, b) }, false, false},
		{"used on another stream", func(b *Buffer[byte], s, other *Stream) error { return Zero(other, b) }, false, false},
		{"used on no particular stream", func(b *Buffer[byte], s, other *Stream) error {
			defer b.mem.release()
			return b.acquire(s.dev)
		}, false, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, same := range []bool{true, false} {
				lib := fakecuda.New(1)
				d := openFake(t, lib)
				p, s, other := d.Pool(), d.DefaultStream(), must[*Stream](t)(d.NewStream(context.Background()))
				b := acquire[byte](t, p, s, 100)
				do(t, test.use(b, s, other))
				lib.Busy = make(chan struct{})
				closeAll(t, b)
				on, want := s, test.same
				if !same {
					on, want = other, test.other
				}
				closeAll(t, acquire[byte](t, p, on, 100))
				if got := p.Stats().Hits == 1; got != want {
					t.Errorf("same stream %v: given out again %v, want %v", same, got, want)
				}
				close(lib.Busy)
				before := p.Stats()
				closeAll(t, acquire[byte](t, p, on, 100))
				if p.Stats().Hits == before.Hits {
					t.Errorf("same stream %v: not given out after the work has ended", same)
				}
				closeAll(t, other, d)
				if left := lib.Left(); left != "" {
					t.Errorf("left in the driver: %s", left)
				}
			}
		})
	}
}

// launchOn launches a kernel that takes b.
func launchOn(s *Stream, b *Buffer[byte]) error {
	k := NewKernel(compiled.Kernel{
		Name: "touch", Params: []compiled.Param{{Name: "x", Kind: compiled.Slice, Type: "uint8", Size: 1}},
		Code: onlyCode(".version 6.0\n.target sm_50\n.address_size 64\n.visible .entry touch(.param .u64 x, .param .u64 n, .param .u64 fault, .param .u32 id)\n{\n\tret;\n}\n"),
	})
	return k.Launch(s, Linear(1), b)
}

// A launch is queued after earlier work on its memory, and does not wait for that
// work on the host.
func TestLaunchesDoNotWaitForMemoryOfPools(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := d.DefaultStream()
	b := acquire[byte](t, d.Pool(), s, 100)
	do(t, launchOn(s, b))
	closeAll(t, b)
	lib.Busy, lib.Waits = make(chan struct{}), make(chan string, 100)
	b = acquire[byte](t, d.Pool(), s, 100)
	launched := make(chan error)
	go func() { launched <- launchOn(s, b) }()
	select {
	case err := <-launched:
		do(t, err)
	case name := <-lib.Waits:
		t.Errorf("the launch waits in %s", name)
		close(lib.Busy)
		<-launched
		lib.Busy = make(chan struct{})
	}
	close(lib.Busy)
	closeAll(t, b, d)
}

func TestPoolsKeepToTheirLimit(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		p := must[*Pool](t)(d.NewPool(PoolConfig{Limit: 10000}))
		small := acquire[byte](t, p, s, 4096)
		closeAll(t, acquire[byte](t, p, s, 512), acquire[byte](t, p, s, 1024))
		// 1536 bytes are kept, and must be freed first.
		large, err := Acquire[byte](p, s, 5000)
		do(t, err)
		if st := p.Stats(); st.Reserved != 4096+5120 || st.Used != st.Reserved {
			t.Errorf("%+v", st)
		}
		_, err = Acquire[byte](p, s, 1000)
		e, ok := errors.AsType[*OutOfMemoryError](err)
		if !ok || !errors.Is(err, ErrOutOfMemory) || e.Bytes != 1024 || e.Limit != 10000 || len(e.Holders) != 2 || e.Holders[0].Bytes != 5120 {
			t.Fatalf("beyond the limit: %+v", err)
		}
		want := "gpu: acquire: 1024 bytes would exceed the pool's limit of 10000; in use are 2 buffers, 9216 bytes: gpu.TestPoolsKeepToTheirLimit.func1 (pool_test.go:"
		if !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %q", err)
		}
		closeAll(t, small)
		small = acquire[byte](t, p, s, 1000)
		closeAll(t, small, large, p, p)
		if _, err := Acquire[byte](p, s, 1); !errors.Is(err, ErrClosed) {
			t.Errorf("a closed pool: %v", err)
		}
	})
}

func TestPoolsGiveBackWhatExceedsTheThreshold(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		p := must[*Pool](t)(d.NewPool(PoolConfig{ReleaseThreshold: 2048}))
		var buffers []*Buffer[byte]
		for _, n := range []int{512, 1024, 1536} {
			buffers = append(buffers, acquire[byte](t, p, s, n))
		}
		for i, want := range []int64{512, 1536, 1536} { // the last one evicts the others
			closeAll(t, buffers[i])
			if st := p.Stats(); st.Reserved-st.Used != want {
				t.Errorf("%d closed: keeps %d bytes, want %d", i+1, st.Reserved-st.Used, want)
			}
		}
		closeAll(t, p)
	})
}

func TestFragmentationExcludesTheLargestPiece(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s, p := d.DefaultStream(), d.Pool()
		a, b, c := acquire[byte](t, p, s, 512), acquire[byte](t, p, s, 512), acquire[byte](t, p, s, 3072)
		closeAll(t, a, b, c)
		if st := p.Stats(); st.LargestFree != 3072 || st.Fragmentation != 0.25 {
			t.Errorf("%+v", st)
		}
	})
}

func TestBadPoolCallsNameTheMistake(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		other := must[*Device](t)(Open(Config{Device: "sim"}))
		defer other.Close()
		s, p := d.DefaultStream(), d.Pool()
		gone := must[*Pool](t)(d.NewPool(PoolConfig{}))
		closeAll(t, gone)
		tests := []struct {
			name string
			err  error
			is   error
			want string
		}{
			{"no pool", second(Acquire[int](nil, s, 1)), ErrInvalid, "gpu: acquire: pool is nil"},
			{"a pool that was not made", second(Acquire[int](new(Pool), s, 1)), ErrInvalid, "gpu: acquire: pool was not made by NewPool"},
			{"no stream", second(Acquire[int](p, nil, 1)), ErrInvalid, "gpu: acquire: stream is nil"},
			{"a stream of another device", second(Acquire[int](p, other.DefaultStream(), 1)), ErrInvalid, "gpu: acquire: stream is of another "},
			{"a closed pool", second(Acquire[int](gone, s, 1)), ErrClosed, "gpu: acquire: pool is closed"},
			{"trim of a closed pool", gone.Trim(), ErrClosed, "gpu: trim pool: pool is closed"},
			{"trim of no pool", (*Pool)(nil).Trim(), ErrInvalid, "pool is nil"},
			{"elements with pointers", second(Acquire[*int](p, s, 1)), ErrInvalid, "gpu: acquire: a device cannot hold elements of type *int"},
			{"negative length", second(Acquire[int](p, s, -1)), ErrInvalid, "gpu: acquire: negative length -1"},
			{"length that overflows", second(Acquire[[1 << 20]int](p, s, 1<<60)), ErrInvalid, "elements of 8388608 bytes"},
			{"more memory than there is", second(Acquire[int](p, s, 1<<56)), ErrOutOfMemory, "gpu: acquire: "},
			{"a negative limit", second(d.NewPool(PoolConfig{Limit: -1})), ErrInvalid, "gpu: new pool: negative limit -1"},
			{"a negative threshold", second(d.NewPool(PoolConfig{ReleaseThreshold: -2})), ErrInvalid, "release threshold -2"},
			{"no device", second((*Device)(nil).NewPool(PoolConfig{})), ErrInvalid, "device is nil"},
		}
		for _, test := range tests {
			switch {
			case test.err == nil:
				t.Errorf("%s: no error", test.name)
			case !errors.Is(test.err, test.is):
				t.Errorf("%s: %v does not match %v", test.name, test.err, test.is)
			case !strings.Contains(test.err.Error(), test.want):
				t.Errorf("%s: %q, want %q", test.name, test.err, test.want)
			}
		}
		closeAll(t, (*Pool)(nil), new(Pool), gone)
		if st := p.Stats(); st.Used != 0 || st.Buffers != 0 || st.Reserved != 0 {
			t.Errorf("bad calls left %+v", st)
		}
		if st := (*Pool)(nil).Stats(); st != (PoolStats{}) {
			t.Errorf("no pool has %+v", st)
		}
	})
}

func TestAPipelineOfStreamsUsesItsMemoryAgain(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	p, s, other := d.Pool(), d.DefaultStream(), must[*Stream](t)(d.NewStream(context.Background()))
	for range 20 {
		b := acquire[int](t, p, s, 100)
		do(t, Fill(s, b, 1))
		do(t, Fill(other, b, 2))
		closeAll(t, b)
	}
	if st := p.Stats(); st.Misses != 1 {
		t.Errorf("%+v", st)
	}
	if p.events.Len() > 2 {
		t.Errorf("%d events for one buffer", p.events.Len())
	}
	closeAll(t, other, d)
}

func TestPoolsOfADeviceThatIsLost(t *testing.T) {
	lib := fakecuda.New(2)
	d := openFake(t, lib)
	p, s := d.Pool(), d.DefaultStream()
	other := must[*Stream](t)(d.NewStream(context.Background()))
	a, b := acquire[int](t, p, s, 10), acquire[int](t, p, s, 10)
	do(t, Fill(other, b, 1))
	closeAll(t, acquire[int](t, p, s, 1000))
	lib.Lose(0, fakecuda.LaunchFailed)
	if _, err := Acquire[int](p, s, 5000); !errors.Is(err, ErrDeviceLost) {
		t.Errorf("acquired on a device that is lost: %v", err)
	}
	closeAll(t, a, b)
	for p.Stats().Buffers > 0 { // b waits for the other stream
		runtime.Gosched()
	}
	if err := p.Trim(); !errors.Is(err, ErrDeviceLost) {
		t.Errorf("trimmed a pool of a device that is lost: %v", err)
	}
	if err := d.Close(); !errors.Is(err, ErrDeviceLost) || strings.Count(err.Error(), "LAUNCH_FAILED") != 1 {
		t.Errorf("closing the device: %v", err)
	}
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}

func TestDriverErrorsOfPoolsAreValues(t *testing.T) {
	for _, function := range []string{
		"cuMemPoolCreate", "cuMemPoolSetAttribute", "cuMemAllocFromPoolAsync", "cuEventCreate", "cuEventRecord", "cuStreamWaitEvent", "cuMemPoolTrimTo",
	} {
		t.Run(function, func(t *testing.T) {
			lib := fakecuda.New(1)
			d := openFake(t, lib)
			p, s, other := must[*Pool](t)(d.NewPool(PoolConfig{})), d.DefaultStream(), must[*Stream](t)(d.NewStream(context.Background()))
			use := func() error {
				b, err := Acquire[int](p, s, 10)
				if err != nil {
					return err
				}
				return errors.Join(Fill(other, b, 1), b.Close(), p.Trim())
			}
			lib.Fail(function, fakecuda.InvalidValue)
			if e, ok := errors.AsType[*Error](use()); !ok || e.Op != function || e.Code != fakecuda.InvalidValue {
				t.Errorf("got %v", e)
			}
			do(t, use())
			closeAll(t, p, other, d)
			if left := lib.Left(); left != "" {
				t.Errorf("left in the driver: %s", left)
			}
		})
	}
}

func TestDriversWithoutPoolsWork(t *testing.T) {
	lib := fakecuda.New(1)
	lib.Missing = map[string]bool{"cuMemPoolCreate": true}
	d := openFake(t, lib)
	p, s := d.Pool(), d.DefaultStream()
	other := must[*Stream](t)(d.NewStream(context.Background()))
	b := acquire[int](t, p, s, 10)
	do(t, Fill(other, b, 1))
	closeAll(t, b, acquire[int](t, p, other, 10), other)
	do(t, p.Trim())
	do(t, d.Close())
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}

func TestStreamsMayBeClosedBeforeTheirBuffers(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		p, s := d.Pool(), d.DefaultStream()
		first, second := must[*Stream](t)(d.NewStream(context.Background())), must[*Stream](t)(d.NewStream(context.Background()))
		a, b := acquire[int](t, p, first, 10), acquire[int](t, p, second, 10)
		do(t, Fill(second, a, 1))
		closeAll(t, second, b, first)
		if got := download(t, s, a); got[9] != 1 {
			t.Errorf("read %v", got)
		}
		closeAll(t, a)
		<-first.drained
		<-second.drained
		x, y := acquire[int](t, p, s, 10), acquire[int](t, p, s, 10)
		if st := p.Stats(); st.Hits != 2 {
			t.Errorf("the memory of closed streams is not given out again: %+v", st)
		}
		closeAll(t, x, y)
	})
}

// TestClosingAStreamKeepsMemoryOfRunningWork closes a stream and its buffer while a
// call is still using both.
func TestClosingAStreamKeepsMemoryOfRunningWork(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	p, s := d.Pool(), d.DefaultStream()
	other := must[*Stream](t)(d.NewStream(context.Background()))
	a, b := acquire[int](t, p, s, 10), acquire[int](t, p, other, 100)
	do(t, Fill(other, a, 1))
	do(t, other.acquire())
	closeAll(t, other, a, b)
	if st := p.Stats(); st.Buffers != 1 { // a waits for the stream
		t.Errorf("%+v", st)
	}
	other.release()
	for p.Stats().Buffers > 0 { // the goroutine that waited for the stream releases a
		runtime.Gosched()
	}
	do(t, d.Close())
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}

func TestPoolsFreeMemoryOfOtherPoolsWhenItIsShort(t *testing.T) {
	lib := fakecuda.New(1)
	lib.Memory = 1 << 20
	d := openFake(t, lib)
	s, p := d.DefaultStream(), must[*Pool](t)(d.NewPool(PoolConfig{}))
	closeAll(t, acquire[byte](t, p, s, 600<<10))
	b := acquire[byte](t, d.Pool(), s, 700<<10)
	if st := p.Stats(); st.Reserved != 0 {
		t.Errorf("the other pool keeps %+v", st)
	}
	closeAll(t, b)
	do(t, d.Pool().Trim())
	free, _ := d.Memory()
	direct := must[*Buffer[byte]](t)(Alloc[byte](d, 800<<10))
	_, err := Acquire[byte](p, s, 500<<10)
	e, ok := errors.AsType[*OutOfMemoryError](err)
	if !ok || e.Limit != 0 || e.Total != 1<<20 || e.Free != free-800<<10 || len(e.Holders) != 1 || e.Holders[0].Bytes != 800<<10 {
		t.Errorf("%+v: %v", e, err)
	}
	if _, ok := errors.AsType[*Error](err); !ok {
		t.Errorf("%v is not the driver's error", err)
	}
	closeAll(t, direct, p, d)
}

func TestLeakedBuffersOfPoolsAreReportedWithTheirLines(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		p := must[*Pool](t)(d.NewPool(PoolConfig{}))
		var kept []*Buffer[byte]
		for range 3 {
			b, err := Acquire[byte](p, s, 10)
			do(t, err)
			kept = append(kept, b)
		}
		closeAll(t, kept[0])
		leak, ok := errors.AsType[*LeakError](p.Close())
		if !ok || leak.Buffers != 2 || leak.Bytes != 20 || len(leak.Holders) != 1 || leak.Holders[0].Buffers != 2 {
			t.Fatalf("leak: %+v", leak)
		}
		if want := "gpu: pool of device " + d.ID() + ": 2 buffers were not closed (20 bytes): "; leak.Pool != "pool" || !strings.HasPrefix(leak.Error(), want) {
			t.Errorf("a leak of pool %q: %v", leak.Pool, leak)
		}
		if h := leak.Holders[0]; !strings.HasPrefix(h.Function, "gpu.TestLeakedBuffersOfPools") || !strings.HasSuffix(h.File, "/pool_test.go") || h.Line == 0 {
			t.Errorf("%+v", h)
		}
		if err := Zero(s, kept[1]); !errors.Is(err, ErrClosed) {
			t.Errorf("a leaked buffer can be used: %v", err)
		}
		closeAll(t, kept[1], kept[2])
	})
}

func TestTheSimulatorForgetsWhatPooledMemoryHeld(t *testing.T) {
	k := NewKernel(saxpyInfo)
	d := must[*Device](t)(Open(Config{Device: "sim"}))
	s, p := d.DefaultStream(), d.Pool()
	b := acquire[float32](t, p, s, 8)
	do(t, Fill(s, b, 1))
	closeAll(t, b)
	b = acquire[float32](t, p, s, 8)
	do(t, launchSaxpy(k, s, Linear(8), 1, 8, b, b))
	f, ok := errors.AsType[*KernelError](s.Synchronize(context.Background()))
	if !ok || f.Kind != Uninitialized {
		t.Errorf("got %v", f)
	}
	closeAll(t, b, d)
}

func TestBuffersOfAllTypesHaveOneForm(t *testing.T) {
	type large [100]float64
	a, b := unsafe.Sizeof(Buffer[byte]{}), unsafe.Sizeof(Buffer[large]{})
	if a != b || unsafe.Offsetof(Buffer[byte]{}.err) != unsafe.Offsetof(Buffer[large]{}.err) {
		t.Errorf("%d and %d bytes", a, b)
	}
}

func TestPoolsAreSafeForConcurrentUse(t *testing.T) {
	use := func(t *testing.T, d *Device) {
		p := must[*Pool](t)(d.NewPool(PoolConfig{Limit: 1 << 20, ReleaseThreshold: 1 << 18}))
		streams := []*Stream{d.DefaultStream(), must[*Stream](t)(d.NewStream(context.Background()))}
		var group sync.WaitGroup
		for g := range 8 {
			group.Go(func() {
				random := rand.New(rand.NewPCG(1, uint64(g)))
				for i := range 200 {
					s, other := streams[random.IntN(2)], streams[random.IntN(2)]
					n := 1 + random.IntN(2000)
					b, err := Acquire[int](p, s, n)
					if err != nil {
						t.Error(err)
						return
					}
					v := g<<16 | i
					if err := Fill(other, b, v); err != nil {
						t.Error(err)
					}
					if got := make([]int, n); Download(context.Background(), other, got, b) != nil || got[0] != v || got[n-1] != v {
						t.Errorf("read %d and %d, want %d", got[0], got[n-1], v)
					}
					if b.Close() != nil || random.IntN(50) == 0 && p.Trim() != nil {
						t.Error("close")
					}
				}
			})
		}
		group.Wait()
		if st := p.Stats(); st.Buffers != 0 || st.Used != 0 || st.Hits+st.Misses != 1600 || st.HighWater > 1<<20 {
			t.Errorf("%+v", st)
		}
		closeAll(t, streams[1], p)
	}
	everyDevice(t, use)
	t.Run("fake cuda with streams that lag", func(t *testing.T) {
		lib := fakecuda.New(1)
		lib.Lag = rand.New(rand.NewPCG(1, 1))
		d := openFake(t, lib)
		use(t, d)
		do(t, d.Close())
	})
}

func TestGraphsHoldMemoryOfPools(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		ctx := context.Background()
		s, p := d.DefaultStream(), d.Pool()
		x, y := acquire[float32](t, p, s, 64), acquire[float32](t, p, s, 64)
		do(t, CopyIn(s, x, ramp(64)))
		do(t, Zero(s, y))
		_, e := captured(t, d, func(s *Stream) error {
			if _, err := Acquire[float32](p, s, 64); !errors.Is(err, ErrInvalid) {
				t.Errorf("acquired on a stream that records a graph: %v", err)
			}
			return launchSaxpy(k, s, Linear(64), 1, 64, x, y)
		})
		part := y.Slice(0, 64)
		do(t, e.Launch(s))
		do(t, e.Launch(s))
		if got := download(t, s, part); got[63] != 126 {
			t.Errorf("got %v", got[63])
		}
		closeAll(t, x, y)
		if st := p.Stats(); st.Buffers != 2 {
			t.Errorf("the graph does not hold its memory: %+v", st)
		}
		closeAll(t, e)
		do(t, s.Synchronize(ctx))
		if st := p.Stats(); st.Buffers != 0 {
			t.Errorf("a closed graph holds memory: %+v", st)
		}
	})
}

func TestAcquiringAllocatesNothing(t *testing.T) {
	d := openFake(t, fakecuda.New(1))
	p, s := d.Pool(), d.DefaultStream()
	closeAll(t, acquire[float32](t, p, s, 1000))
	if n := testing.AllocsPerRun(1000, func() {
		b, err := Acquire[float32](p, s, 1000)
		if err != nil || b.Close() != nil {
			t.Fatal(err)
		}
	}); n != 0 && !raceEnabled {
		t.Errorf("%v allocations", n)
	}
	do(t, d.Close())
}

// TestPoolsKeepTheOrderOfStreams uses streams that do their work late, in any order
// that their waits allow.
func TestPoolsKeepTheOrderOfStreams(t *testing.T) {
	k := NewKernel(saxpyInfo)
	ctx := context.Background()
	for seed := range uint64(100) {
		lib := fakecuda.New(1)
		d := openFake(t, lib)
		do(t, k.Prepare(d))
		streams := []*Stream{d.DefaultStream()}
		for range 3 {
			streams = append(streams, must[*Stream](t)(d.NewStream(ctx)))
		}
		p := must[*Pool](t)(d.NewPool(PoolConfig{Limit: 8 << 10, ReleaseThreshold: 4 << 10}))
		one := upload(t, streams[0], 1, float32(1))
		do(t, streams[0].Synchronize(ctx))
		random := rand.New(rand.NewPCG(seed, 1))
		lib.Lag = rand.New(rand.NewPCG(seed, 2))
		any := func() *Stream { return streams[random.IntN(len(streams))] }
		for i := range 60 {
			s := any()
			n := 2 + random.IntN(200)
			b := acquire[float32](t, p, s, n)
			if random.IntN(2) == 0 { // the first use is on another stream
				s = any()
			}
			want := float32(i)
			do(t, Fill(s, b, want))
			for range random.IntN(4) {
				if random.IntN(2) == 0 {
					e, other := must[*Event](t)(d.NewEvent()), any()
					do(t, s.Record(e))
					do(t, other.Wait(e))
					do(t, e.Close())
					s = other
				}
				do(t, launchSaxpy(k, s, Linear(2), 1, 2, one, b))
				want++
			}
			if random.IntN(4) == 0 {
				if got := download(t, s, b.Slice(0, 2)); got[0] != want || got[1] != want {
					t.Fatalf("seed %d, buffer %d: read %v, want %v", seed, i, got, want)
				}
			}
			closeAll(t, b)
		}
		closeAll(t, one, streams[1], streams[2], p, streams[3], d)
		if left := lib.Left(); left != "" {
			t.Errorf("seed %d: left in the driver: %s", seed, left)
		}
	}
}

// BenchmarkPool measures acquiring a buffer from a pool and closing it.
func BenchmarkPool(b *testing.B) {
	everyDeviceB(b, func(b *testing.B, d *Device) {
		p, s := d.Pool(), d.DefaultStream()
		b.ReportAllocs()
		for b.Loop() {
			buffer, err := Acquire[float32](p, s, 1<<20)
			if err != nil {
				b.Fatal(err)
			}
			buffer.Close()
		}
	})
}

// Acquire returns memory whose last user is still running on the same stream. A
// launch with it is ordered after that on the device, not on the host.
func TestALaunchWithMemoryOfAPoolDoesNotWait(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s, p, k := d.DefaultStream(), d.Pool(), NewKernel(saxpyInfo)
	do(t, k.Prepare(d))
	b := acquire[float32](t, p, s, 64)
	do(t, Zero(s, b))
	busy := lib.Occupy()
	closeAll(t, b)
	again := acquire[float32](t, p, s, 64)
	if p.Stats().Hits != 1 {
		t.Fatal("the memory was not used again")
	}
	launched := make(chan error, 1)
	go func() { launched <- launchSaxpy(k, s, Linear(64), 1, 64, again, again) }()
	select {
	case err := <-launched:
		do(t, err)
		close(busy)
	case <-time.After(10 * time.Second):
		t.Error("the launch waits for the work before it")
		close(busy)
		<-launched
	}
	closeAll(t, again, d)
}
