package gpu

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"quern.dev/internal/driver/cuda/fakecuda"
)

// addOne adds 1 to every element of b with a kernel.
func addOne(t testing.TB, k *Kernel, s *Stream, ones, b *Buffer[float32]) {
	t.Helper()
	do(t, launchSaxpy(k, s, Linear(b.Len()), 1, b.Len(), ones, b))
}

func fillHost(t testing.TB, u *Unified[float32], v float32) {
	t.Helper()
	do(t, u.WriteHost(t.Context(), func(x []float32) {
		for i := range x {
			x[i] = v
		}
	}))
}

func readHost(t testing.TB, u *Unified[float32]) []float32 {
	t.Helper()
	var got []float32
	do(t, u.ReadHost(t.Context(), func(x []float32) { got = slices.Clone(x) }))
	return got
}

func TestUnifiedCopiesOnlyWhatIsStale(t *testing.T) {
	const n = 100
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		ones := must[*Buffer[float32]](t)(Alloc[float32](d, n))
		do(t, Fill(s, ones, 1))
		u := must[*Unified[float32]](t)(NewUnified[float32](d, n))
		on := func(v *Unified[float32]) func() {
			return func() { addOne(t, k, s, ones.Slice(0, v.Len()), must[*Buffer[float32]](t)(v.WriteDevice(s))) }
		}
		part := u.Slice(10, 30)
		for _, step := range []struct {
			name     string
			do       func()
			state    UnifiedState
			up, down int // elements copied so far
		}{
			{"nothing is copied before anything is written", func() {}, StateUninitialised, 0, 0},
			{"writing on the host copies nothing", func() { fillHost(t, u, 5) }, StateHostOnly, 0, 0},
			{"reading what the host wrote there copies nothing", func() { readHost(t, u) }, StateHostOnly, 0, 0},
			{"the device gets all that was written", on(u), StateDeviceDirty, n, 0},
			{"work that goes on there copies nothing", on(u), StateDeviceDirty, n, 0},
			{"the host gets all that the device wrote", func() { readHost(t, u) }, StateSynchronised, n, n},
			{"reading again copies nothing", func() { readHost(t, u) }, StateSynchronised, n, n},
			{"the device still has it", func() { must[*Buffer[float32]](t)(u.ReadDevice(s)) }, StateSynchronised, n, n},
			{"a part that the host writes is copied later", func() { fillHost(t, part, 9) }, StateHostDirty, n, n},
			{"and only that", func() { do(t, u.SyncToDevice(s)) }, StateSynchronised, n + 20, n},
			{"syncing again copies nothing", func() { do(t, u.SyncToDevice(s)) }, StateSynchronised, n + 20, n},
			{"a part that the device writes is copied later", on(part), StateDeviceDirty, n + 20, n},
			{"another part on the host", func() { fillHost(t, u.Slice(90, 100), 1) }, StateBothDirty, n + 20, n},
			{"each side gets what the other wrote", func() { do(t, u.SyncToHost(t.Context())) }, StateHostDirty, n + 20, n + 20},
			{"whichever is asked first", func() { do(t, u.SyncToDevice(s)) }, StateSynchronised, n + 30, n + 20},
			{"what is discarded", func() { fillHost(t, u, 3); do(t, u.Discard()) }, StateUninitialised, n + 30, n + 20},
			{"is not copied", func() { must[*Buffer[float32]](t)(u.WriteDevice(s)) }, StateDeviceDirty, n + 30, n + 20},
		} {
			step.do()
			if got := u.State(); got != step.state {
				t.Errorf("%s: state is %v, want %v", step.name, got, step.state)
			}
			got := u.Stats()
			if got.UploadedBytes != int64(4*step.up) || got.DownloadedBytes != int64(4*step.down) {
				t.Errorf("%s: %+v, want %d and %d elements", step.name, got, step.up, step.down)
			}
		}
		closeAll(t, u, ones)
	})
}

func TestUnifiedThatTheDeviceWritesFirstNeedsNoMemoryOfTheHost(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		u := must[*Unified[float32]](t)(NewUnified[float32](d, 8))
		do(t, Fill(d.DefaultStream(), must[*Buffer[float32]](t)(u.WriteDevice(d.DefaultStream())), 7))
		if got := u.State(); got != StateDeviceOnly {
			t.Errorf("state is %v", got)
		}
		if got := readHost(t, u.Slice(3, 5)); !slices.Equal(got, []float32{7, 7}) {
			t.Errorf("read %v", got)
		}
		if got := u.Stats(); got != (UnifiedStats{Downloads: 1, DownloadedBytes: 8}) {
			t.Errorf("copied %+v", got)
		}
		do(t, u.Close())
	})
}

// A view may be used until another view conflicts with it. After that it is refused,
// so that no write is missed.
func TestUnifiedViewsEndWhenOthersConflict(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s, other := d.DefaultStream(), must[*Stream](t)(d.NewStream(t.Context()))
		read, write := (*Unified[float32]).ReadDevice, (*Unified[float32]).WriteDevice
		host := func(f func(*Unified[float32], context.Context, func([]float32)) error) func(u *Unified[float32]) error {
			return func(u *Unified[float32]) error { return f(u, t.Context(), func([]float32) {}) }
		}
		device := func(f func(*Unified[float32], *Stream) (*Buffer[float32], error), on *Stream) func(u *Unified[float32]) error {
			return func(u *Unified[float32]) error { return second(f(u, on)) }
		}
		for _, c := range []struct {
			name string
			take func(*Unified[float32], *Stream) (*Buffer[float32], error)
			then func(*Unified[float32]) error
			ends bool
		}{
			{"a write, when the host reads", write, host((*Unified[float32]).ReadHost), true},
			{"a write, when the host writes", write, host((*Unified[float32]).WriteHost), true},
			{"a read, when the host writes", read, host((*Unified[float32]).WriteHost), true},
			{"a read, when the host reads", read, host((*Unified[float32]).ReadHost), false},
			{"a write, when another stream reads", write, device(read, other), true},
			{"a write, when another stream writes", write, device(write, other), true},
			{"a read, when another stream writes", read, device(write, other), true},
			{"a read, when another stream reads", read, device(read, other), false},
			{"a write, when its stream reads", write, device(read, s), false},
			{"a read, when its stream writes", read, device(write, s), false},
			{"a write, when it is synchronised to the host", write, func(u *Unified[float32]) error { return u.SyncToHost(t.Context()) }, true},
			{"a write, when it is discarded", write, (*Unified[float32]).Discard, true},
		} {
			u := must[*Unified[float32]](t)(NewUnified[float32](d, 10))
			fillHost(t, u, 1)
			part := must[*Buffer[float32]](t)(c.take(u.Slice(0, 5), s))
			rest := must[*Buffer[float32]](t)(c.take(u.Slice(5, 10), s))
			do(t, c.then(u.Slice(0, 5)))
			// use does what a view was taken for.
			use := func(b *Buffer[float32]) error {
				return Download(t.Context(), s, make([]float32, b.Len()), b)
			}
			if strings.HasPrefix(c.name, "a write") {
				use = func(b *Buffer[float32]) error { return Fill(s, b, 2) }
			}
			err := use(part)
			if c.ends != errors.Is(err, ErrClosed) || !c.ends && err != nil {
				t.Errorf("%s: then its use gives %v", c.name, err)
			}
			if c.ends && !strings.Contains(err.Error(), "view of the unified array has ended") {
				t.Errorf("%s: the error does not say why: %v", c.name, err)
			}
			do(t, use(rest))
			do(t, u.Close())
			if err := use(rest); !errors.Is(err, ErrClosed) {
				t.Errorf("%s: a view of a closed array gives %v", c.name, err)
			}
		}
		do(t, other.Close())
	})
}

func TestUnifiedViewIsTheSameUntilItEnds(t *testing.T) {
	d := openFake(t, fakecuda.New(1))
	s := d.DefaultStream()
	u := must[*Unified[float32]](t)(NewUnified[float32](d, 10))
	fillHost(t, u, 1)
	b := must[*Buffer[float32]](t)(u.WriteDevice(s))
	if allocs := testing.AllocsPerRun(100, func() {
		if again, err := u.WriteDevice(s); again != b || err != nil {
			t.Fatal(again, err)
		}
	}); allocs > 0 {
		t.Errorf("taking it again allocates %v times", allocs)
	}
	do(t, b.Close())
	if again := must[*Buffer[float32]](t)(u.WriteDevice(s)); again == b {
		t.Error("a view that was closed is given again")
	}
	closeAll(t, u, d)
}

func TestUnifiedRefusesViewsThatConflictWithTheHost(t *testing.T) {
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	s := d.DefaultStream()
	u := must[*Unified[int32]](t)(NewUnified[int32](d, 10))
	uses := map[string]func(u *Unified[int32]) error{
		"ReadHost":     func(u *Unified[int32]) error { return u.ReadHost(t.Context(), func([]int32) {}) },
		"SyncToHost":   func(u *Unified[int32]) error { return u.SyncToHost(t.Context()) },
		"ReadDevice":   func(u *Unified[int32]) error { return second(u.ReadDevice(s)) },
		"SyncToDevice": func(u *Unified[int32]) error { return u.SyncToDevice(s) },
		"WriteHost":    func(u *Unified[int32]) error { return u.WriteHost(t.Context(), func([]int32) {}) },
		"WriteDevice":  func(u *Unified[int32]) error { return second(u.WriteDevice(s)) },
		"Discard":      (*Unified[int32]).Discard,
	}
	reads := func(name string) bool { return strings.HasPrefix(name, "Read") || strings.HasPrefix(name, "Sync") }
	do(t, u.WriteHost(t.Context(), func([]int32) {
		for name, use := range uses {
			if err := use(u.Slice(3, 5)); !errors.Is(err, ErrInUse) {
				t.Errorf("%s while the host writes: %v", name, err)
			}
		}
	}))
	do(t, u.Slice(0, 3).WriteHost(t.Context(), func([]int32) {
		for name, use := range uses {
			if err := use(u.Slice(3, 5)); err != nil && name != "ReadDevice" && name != "ReadHost" {
				t.Errorf("%s while the host writes other elements: %v", name, err)
			}
		}
	}))
	do(t, u.WriteHost(t.Context(), func([]int32) {}))
	do(t, u.ReadHost(t.Context(), func([]int32) {
		for name, use := range uses {
			if err := use(u); reads(name) && err != nil || !reads(name) && !errors.Is(err, ErrInUse) {
				t.Errorf("%s while the host reads: %v", name, err)
			}
		}
	}))
	closeAll(t, u, d)
}

func TestUnifiedErrors(t *testing.T) {
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	again := must[*Device](t)(Open(Config{Device: "cpu"}))
	s, ctx := d.DefaultStream(), t.Context()
	u := must[*Unified[int32]](t)(NewUnified[int32](d, 10))
	do(t, u.Slice(2, 4).WriteHost(ctx, func([]int32) {}))
	closed := must[*Unified[int32]](t)(NewUnified[int32](d, 10))
	slice := closed.Slice(0, 10)
	do(t, closed.Close())
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	for _, c := range []struct {
		err  error
		is   error
		want string
	}{
		{second(NewUnified[int32](d, -1)), ErrInvalid, "gpu: new unified: negative length -1"},
		{second(NewUnified[int32](nil, 1)), ErrInvalid, "gpu: new unified: device is nil"},
		{second(NewUnified[int32](d, 1, 7)), ErrInvalid, "gpu: new unified: unknown option 7"},
		{second(NewUnified[*int](d, 1)), ErrInvalid, "gpu: new unified: a device cannot hold elements of type *int"},
		{second(NewUnified[int64](d, 1<<61)), ErrInvalid, "gpu: new unified: too large: 2305843009213693952 elements of 8 bytes"},
		{u.ReadHost(ctx, func([]int32) {}), ErrUninitialised, "gpu: read on the host: elements [0:2] were never written"},
		{u.Slice(2, 9).ReadHost(ctx, func([]int32) {}), ErrUninitialised, "gpu: read on the host: elements [4:9] were never written"},
		{second(u.ReadDevice(s)), ErrUninitialised, "gpu: read on the device: elements [0:2] were never written"},
		{u.ReadHost(ctx, nil), ErrInvalid, "gpu: read on the host: function is nil"},
		{u.Slice(1, 11).WriteHost(ctx, func([]int32) {}), ErrInvalid, "gpu: write on the host: slice [1:11] of a unified array of 10 elements"},
		{u.Slice(2, 4).Slice(1, 3).Discard(), ErrInvalid, "gpu: discard: slice [1:3] of a unified array of 2 elements"},
		{second(u.WriteDevice(nil)), ErrInvalid, "gpu: write on the device: stream is nil"},
		{second(u.WriteDevice(again.DefaultStream())), ErrInvalid, "gpu: write on the device: unified array is of another opened device (cpu was opened more than once)"},
		{closed.WriteHost(ctx, func([]int32) {}), ErrClosed, "gpu: write on the host: unified array is closed"},
		{slice.SyncToHost(ctx), ErrClosed, "gpu: sync to host: unified array is closed"},
		{slice.SyncToDevice(s), ErrClosed, "gpu: sync to device: unified array is closed"},
		{second(closed.Slice(0, 1).ReadDevice(s)), ErrClosed, "gpu: read on the device: unified array is closed"},
		{new(Unified[int32]).Discard(), ErrInvalid, "gpu: discard: unified array was not made by NewUnified"},
		{(*Unified[int32])(nil).Slice(0, 1).SyncToDevice(s), ErrInvalid, "gpu: sync to device: unified array is nil"},
		{(*Unified[int32])(nil).Close(), nil, "<nil>"},
		{closed.Close(), nil, "<nil>"},
	} {
		if got := fmt.Sprint(c.err); got != c.want || !errors.Is(c.err, c.is) {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
	do(t, u.Slice(2, 4).ReadHost(cancelled, func([]int32) {})) // nothing to wait for
	if closed.State() != StateUninitialised || new(Unified[int32]).Len() != 0 || new(Unified[int32]).Device() != nil || u.Device() != d {
		t.Error("an array without memory has state, elements or a device, or one with memory has not")
	}
	closeAll(t, u, d, again)
}

func TestUnifiedReportsTheFaultOfItsKernel(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		u := must[*Unified[float32]](t)(NewUnified[float32](d, 10))
		b := must[*Buffer[float32]](t)(u.WriteDevice(s))
		do(t, launchSaxpy(k, s, Linear(11), 1, 11, b, b))
		err := u.ReadHost(t.Context(), func([]float32) { t.Error("the elements are read after a fault") })
		if _, ok := errors.AsType[*KernelError](err); !ok {
			t.Errorf("got %v", err)
		}
		do(t, u.ReadHost(t.Context(), func([]float32) {})) // reported once
		do(t, u.Close())
	})
}

func TestCancelledWaitForTheDeviceLeavesTheArrayUsable(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := d.DefaultStream()
	u := must[*Unified[float32]](t)(NewUnified[float32](d, 4))
	do(t, Fill(s, must[*Buffer[float32]](t)(u.WriteDevice(s)), 3))
	do(t, u.Slice(0, 2).SyncToHost(t.Context()))
	lib.Busy = make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := u.ReadHost(ctx, func([]float32) { t.Error("read while the device writes") }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	// Elements that the device does not write can be used in the meantime.
	do(t, u.Slice(0, 2).ReadHost(ctx, func([]float32) {}))
	close(lib.Busy)
	if got := readHost(t, u); !slices.Equal(got, []float32{3, 3, 3, 3}) {
		t.Errorf("read %v", got)
	}
	closeAll(t, u, d)
}

func TestTheHostWritesPinnedElementsOnceTheyAreCopied(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := d.DefaultStream()
	u := must[*Unified[float32]](t)(NewUnified[float32](d, 8, Pinned))
	fillHost(t, u, 1)
	lib.Busy = make(chan struct{})
	must[*Buffer[float32]](t)(u.Slice(0, 4).ReadDevice(s))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	write := func([]float32) {}
	if err := u.WriteHost(ctx, write); !errors.Is(err, context.Canceled) {
		t.Errorf("written while it is copied: %v", err)
	}
	do(t, u.ReadHost(ctx, write))
	do(t, u.Slice(4, 8).WriteHost(ctx, write))
	close(lib.Busy)
	do(t, u.WriteHost(t.Context(), write))
	closeAll(t, u, d)
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}

func TestPinnedArrayWithoutMemoryToPin(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	u := must[*Unified[float32]](t)(NewUnified[float32](d, 8, Pinned))
	lib.Fail("cuMemHostAlloc", fakecuda.OutOfMemory)
	if err := u.WriteHost(t.Context(), func([]float32) {}); !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("got %v", err)
	}
	if got := u.State(); got != StateUninitialised {
		t.Errorf("state is %v", got)
	}
	fillHost(t, u, 1)
	closeAll(t, u, d)
}

func TestFailedCopiesLoseNothing(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := d.DefaultStream()
	u := must[*Unified[float32]](t)(NewUnified[float32](d, 4))
	fillHost(t, u, 5)
	for _, function := range []string{"cuMemAlloc_v2", "cuMemcpyHtoDAsync_v2"} {
		lib.Fail(function, fakecuda.OutOfMemory)
		if _, err := u.ReadDevice(s); !errors.Is(err, ErrOutOfMemory) {
			t.Errorf("%s: %v", function, err)
		}
	}
	do(t, Copy(s, must[*Buffer[float32]](t)(u.Slice(0, 2).WriteDevice(s)), must[*Buffer[float32]](t)(u.Slice(2, 4).ReadDevice(s))))
	lib.Fail("cuMemcpyDtoHAsync_v2", fakecuda.IllegalAddress)
	if err := u.SyncToHost(t.Context()); err == nil {
		t.Error("a copy that failed is not reported")
	}
	if got := readHost(t, u); !slices.Equal(got, []float32{5, 5, 5, 5}) {
		t.Errorf("read %v", got)
	}
	closeAll(t, u, d)
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}

// Random views on both sides and three streams behave like an array, and copy as
// often as a model of stale elements predicts.
func TestUnifiedAgreesWithAnArray(t *testing.T) {
	t.Run("pageable", func(t *testing.T) { unifiedAgreesWithAnArray(t) })
	t.Run("pinned", func(t *testing.T) { unifiedAgreesWithAnArray(t, Pinned) })
}

func unifiedAgreesWithAnArray(t *testing.T, options ...UnifiedOption) {
	const n = 64
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		rng := rand.New(rand.NewPCG(3, 4))
		streams := []*Stream{d.DefaultStream(), must[*Stream](t)(d.NewStream(t.Context())), must[*Stream](t)(d.NewStream(t.Context()))}
		ones := must[*Buffer[float32]](t)(Alloc[float32](d, n))
		do(t, Fill(streams[0], ones, 1))
		do(t, streams[0].Synchronize(t.Context()))
		u := must[*Unified[float32]](t)(NewUnified[float32](d, n, options...))
		fillHost(t, u, 0)
		var want [n]float32
		onHost, onDevice := [n]bool{}, [n]bool{}
		for i := range n {
			onHost[i] = true
		}
		up, down := 0, 0
		for range 600 {
			lo := rng.IntN(n)
			hi := lo + rng.IntN(n-lo+1)
			part, s := u.Slice(lo, hi), streams[rng.IntN(len(streams))]
			host, write := rng.IntN(2) == 0, rng.IntN(2) == 0
			for i := lo; i < hi; i++ {
				if host && !onHost[i] {
					down++
				}
				if !host && !onDevice[i] {
					up++
				}
				onHost[i] = onHost[i] && (host || !write) || host
				onDevice[i] = onDevice[i] && (!host || !write) || !host
				if write {
					want[i]++
				}
			}
			switch {
			case host && write:
				do(t, part.WriteHost(t.Context(), func(x []float32) {
					for i := range x {
						x[i]++
					}
				}))
			case host:
				if got := readHost(t, part); !slices.Equal(got, want[lo:hi]) {
					t.Fatalf("[%d:%d] is %v, want %v", lo, hi, got, want[lo:hi])
				}
			case write && hi > lo:
				addOne(t, k, s, ones.Slice(0, hi-lo), must[*Buffer[float32]](t)(part.WriteDevice(s)))
			case !write:
				if got := download(t, s, must[*Buffer[float32]](t)(part.ReadDevice(s))); !slices.Equal(got, want[lo:hi]) {
					t.Fatalf("[%d:%d] on the device is %v, want %v", lo, hi, got, want[lo:hi])
				}
			}
		}
		if got := u.Stats(); got.UploadedBytes != int64(4*up) || got.DownloadedBytes != int64(4*down) {
			t.Errorf("copied %+v, want %d and %d elements", got, up, down)
		}
		if got := readHost(t, u); !slices.Equal(got, want[:]) {
			t.Errorf("%v, want %v", got, want)
		}
		if uses := len(u.core.work.uses); uses > 2*len(streams) {
			t.Errorf("remembers %d uses of %d streams", uses, len(streams))
		}
		closeAll(t, u, ones, streams[1], streams[2])
	})
}

// A program may make a stream per request and close it.
func TestUnifiedForgetsStreamsThatAreClosed(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		u := must[*Unified[float32]](t)(NewUnified[float32](d, 8))
		for i := range 20 {
			s := must[*Stream](t)(d.NewStream(t.Context()))
			do(t, Fill(s, must[*Buffer[float32]](t)(u.Slice(i%8, 8).WriteDevice(s)), float32(i)))
			must[*Buffer[float32]](t)(u.Slice(i%8, 8).ReadDevice(s))
			do(t, s.Close())
		}
		if n := len(u.core.work.uses); n > 3 {
			t.Errorf("remembers %d uses of streams, all but one of them closed", n)
		}
		if got := readHost(t, u); !slices.Equal(got, []float32{16, 17, 18, 19, 19, 19, 19, 19}) {
			t.Errorf("read %v", got)
		}
		do(t, u.Close())
	})
}

// Goroutines that share an array, each with its own elements and stream, do not
// interfere. Goroutines that use it while it is closed get errors.
func TestUnifiedIsSafeForConcurrentUse(t *testing.T) {
	const workers, each, rounds = 4, 16, 30
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		ones := must[*Buffer[float32]](t)(Alloc[float32](d, each))
		do(t, Fill(d.DefaultStream(), ones, 1))
		do(t, d.Synchronize(t.Context()))
		u := must[*Unified[float32]](t)(NewUnified[float32](d, workers*each, Pinned))
		fillHost(t, u, 0)
		var group sync.WaitGroup
		for w := range workers {
			part, s := u.Slice(w*each, (w+1)*each), must[*Stream](t)(d.NewStream(t.Context()))
			group.Go(func() {
				for round := range rounds {
					b, err := part.WriteDevice(s)
					if err == nil {
						err = launchSaxpy(k, s, Linear(each), 1, each, ones, b)
					}
					if err == nil {
						err = part.WriteHost(t.Context(), func(x []float32) {
							for i := range x {
								if x[i] != float32(2*round+1) {
									t.Errorf("worker %d round %d: element %d is %v", w, round, i, x[i])
								}
								x[i]++
							}
						})
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
			defer s.Close()
		}
		group.Wait()
		for range workers {
			group.Go(func() {
				for {
					err := errors.Join(u.SyncToDevice(d.DefaultStream()), u.ReadHost(t.Context(), func(x []float32) {
						if x[0] != 2*rounds {
							t.Errorf("read %v", x[0])
						}
					}))
					if errors.Is(err, ErrClosed) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		do(t, u.Close())
		group.Wait()
		do(t, ones.Close())
	})
}

// BenchmarkUnified measures taking a view of elements that are up to date.
func BenchmarkUnified(b *testing.B) {
	everyDeviceB(b, func(b *testing.B, d *Device) {
		s := d.DefaultStream()
		u := must[*Unified[float32]](b)(NewUnified[float32](d, 1<<20))
		fillHost(b, u, 1)
		view := must[*Buffer[float32]](b)(u.ReadDevice(s))
		b.Run("device", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if again, err := u.ReadDevice(s); again != view || err != nil {
					b.Fatal(again, err)
				}
			}
		})
		b.Run("host", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				do(b, u.ReadHost(context.Background(), func([]float32) {}))
			}
		})
		do(b, u.Close())
	})
}

func TestOtherLibrariesGetNoViewOfAUnified(t *testing.T) {
	d := openFake(t, fakecuda.New(1))
	u := must[*Unified[float32]](t)(NewUnified[float32](d, 4))
	b := must[*Buffer[float32]](t)(u.WriteDevice(d.DefaultStream()))
	areInvalid(t, map[string]error{
		"ExportDLPack":       second(ExportDLPack(b, DLManagedTensorVersioned)),
		"IPCHandle":          second(b.IPCHandle()),
		"CUDAArrayInterface": second(b.CUDAArrayInterface(nil)),
	})
	closeAll(t, u, d)
}

func TestUnifiedWithoutElements(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		none := must[*Unified[float32]](t)(NewUnified[float32](d, 0))
		pinned := must[*Unified[float32]](t)(NewUnified[float32](d, 0, Pinned))
		some := must[*Unified[float32]](t)(NewUnified[float32](d, 3))
		for _, u := range []*Unified[float32]{none, pinned, some.Slice(2, 2)} {
			fillHost(t, u, 1)
			if got := readHost(t, u); len(got) != 0 {
				t.Errorf("read %v", got)
			}
			do(t, Fill(d.DefaultStream(), must[*Buffer[float32]](t)(u.WriteDevice(d.DefaultStream())), 1))
			must[*Buffer[float32]](t)(u.ReadDevice(d.DefaultStream()))
			if got := u.State(); got != StateUninitialised || u.Stats() != (UnifiedStats{}) {
				t.Errorf("state %v, copied %+v", got, u.Stats())
			}
		}
		closeAll(t, none, pinned, some)
	})
}

func TestUnifiedThatIsNotClosedIsALeak(t *testing.T) {
	d := openFake(t, fakecuda.New(1))
	u := must[*Unified[float32]](t)(NewUnified[float32](d, 4))
	fillHost(t, u, 1)
	b := must[*Buffer[float32]](t)(u.ReadDevice(d.DefaultStream()))
	leak, ok := errors.AsType[*LeakError](d.Close())
	if !ok || leak.Buffers != 1 || leak.Bytes != 16 {
		t.Errorf("closing the device gives %v", leak)
	}
	if err := u.SyncToDevice(d.DefaultStream()); !errors.Is(err, ErrClosed) {
		t.Errorf("then its use gives %v", err)
	}
	if got := readHost(t, u); !slices.Equal(got, []float32{1, 1, 1, 1}) {
		t.Errorf("what the host has is %v", got)
	}
	closeAll(t, b, u)
}
