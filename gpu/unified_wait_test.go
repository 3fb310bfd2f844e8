package gpu

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"quern.dev/internal/driver/cuda/fakecuda"
)

func TestPinnedElementsStayWhileTheyAreLent(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	u := must[*Unified[float32]](t)(NewUnified[float32](d, 10, Pinned))
	fillHost(t, u, 3)
	do(t, u.ReadHost(t.Context(), func(x []float32) {
		if _, ok := errors.AsType[*LeakError](d.Close()); !ok {
			t.Error("the array is no leak of its device")
		}
		if lib.Left() == "" {
			t.Error("the elements are freed while they are lent")
		}
		if x[9] != 3 {
			t.Errorf("read %v", x)
		}
	}))
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
	lent := func([]float32) { t.Error("elements that are freed are lent") }
	for what, err := range map[string]error{
		"read on the host":  u.ReadHost(t.Context(), lent),
		"write on the host": u.WriteHost(t.Context(), lent),
	} {
		if want := "gpu: " + what + ": device cuda:0 is closed"; !errors.Is(err, ErrClosed) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	do(t, u.Close())
}

func TestMoreElementsThanTheHostHasRoomFor(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux: elsewhere it is not known how much memory the machine has")
	}
	everyDevice(t, func(t *testing.T, d *Device) {
		for _, n := range []int{1 << 47, 1 << 50, 1 << 62} {
			u := must[*Unified[byte]](t)(NewUnified[byte](d, n))
			if err := u.WriteHost(t.Context(), func([]byte) {}); !errors.Is(err, ErrOutOfMemory) {
				t.Errorf("%d bytes: %v", n, err)
			}
			do(t, u.Close())
		}
	})
}

// While a call waits for the device, other calls proceed or end with their contexts.
func TestOthersDoNotWaitForACallThatWaitsForTheDevice(t *testing.T) {
	for _, c := range []struct {
		name string
		wait func(u *Unified[float32], other *Stream) error
	}{
		{"another view", func(u *Unified[float32], other *Stream) error { return second(u.WriteDevice(other)) }},
		{"the end of the values", func(u *Unified[float32], _ *Stream) error { return u.Discard() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			lib := fakecuda.New(1)
			d := openFake(t, lib)
			s, other := d.DefaultStream(), must[*Stream](t)(d.NewStream(t.Context()))
			u := must[*Unified[float32]](t)(NewUnified[float32](d, 8))
			fillHost(t, u.Slice(4, 8), 1)
			view := must[*Buffer[float32]](t)(u.Slice(0, 4).WriteDevice(s))
			do(t, Fill(s, view, 5))
			busy, waits := make(chan struct{}), make(chan string, 100)
			lib.Busy, lib.Waits = busy, waits
			downloaded, waited := make(chan error, 1), make(chan error, 1)
			go func() { downloaded <- Download(t.Context(), s, make([]float32, 4), view) }()
			<-waits
			go func() { waited <- c.wait(u, other) }()
			for view.check(d) == nil { // until the view has ended, which must wait for the download
				runtime.Gosched()
			}

			if got := u.State(); got != StateBothDirty {
				t.Errorf("state is %v", got)
			}
			do(t, u.Slice(4, 8).ReadHost(t.Context(), func([]float32) {}))
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			for _, err := range []error{
				u.ReadHost(ctx, func([]float32) { t.Error("read while it is downloaded") }),
				u.SyncToHost(ctx),
			} {
				if !errors.Is(err, context.Canceled) || strings.Count(err.Error(), "gpu: ") != 1 {
					t.Errorf("got %v", err)
				}
			}

			close(busy)
			do(t, errors.Join(<-downloaded, <-waited))
			closeAll(t, u, other, d)
			if left := lib.Left(); left != "" {
				t.Errorf("left in the driver: %s", left)
			}
		})
	}
}

// A copy to the host that waits for other work of its stream does not block the rest
// of the array.
func TestOthersDoNotWaitForACopyToTheHost(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s, other := d.DefaultStream(), must[*Stream](t)(d.NewStream(t.Context()))
	u := must[*Unified[float32]](t)(NewUnified[float32](d, 8))
	fillHost(t, u.Slice(4, 8), 1)
	do(t, Fill(s, must[*Buffer[float32]](t)(u.Slice(0, 4).WriteDevice(s)), 5))
	lib.Fail("cuMemcpyDtoHAsync_v2", fakecuda.OutOfMemory)
	if err := u.Slice(0, 4).SyncToHost(t.Context()); err == nil {
		t.Fatal("a copy that failed is not reported")
	}
	// The work that writes is known to be done, so only the copy is left.
	busy, waits := make(chan struct{}), make(chan string, 100)
	lib.Busy, lib.Waits = busy, waits
	synced, written := make(chan error, 1), make(chan error, 1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() { synced <- u.Slice(0, 4).SyncToHost(ctx) }()
	<-waits
	if got := u.State(); got != StateBothDirty {
		t.Errorf("state is %v", got)
	}
	do(t, u.Slice(4, 8).WriteHost(t.Context(), func([]float32) {}))
	cancelled, cancelNow := context.WithCancel(t.Context())
	cancelNow()
	if err := u.ReadHost(cancelled, func([]float32) { t.Error("read while it is copied") }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	go func() { written <- second(u.Slice(0, 2).WriteDevice(other)) }()
	close(busy)
	do(t, errors.Join(<-synced, <-written))
	if got := u.Stats(); got.Downloads != 1 {
		t.Errorf("copied %+v", got)
	}
	closeAll(t, u, other, d)
}

// A large copy to the device waits for staging memory.
func TestOthersDoNotWaitForACopyToTheDevice(t *testing.T) {
	const size = 4 // bytes per element
	n := (min(stagingWorkers, runtime.GOMAXPROCS(0))*stagingSlots + 1) * stagingChunk / size
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := d.DefaultStream()
	u := must[*Unified[float32]](t)(NewUnified[float32](d, n+4))
	fillHost(t, u, 1)
	busy, waits := make(chan struct{}), make(chan string, 1000)
	lib.Busy, lib.Waits = busy, waits
	uploaded := make(chan error, 1)
	go func() { uploaded <- u.Slice(0, n).SyncToDevice(s) }()
	<-waits
	if got := u.State(); got != StateHostDirty {
		t.Errorf("state is %v", got)
	}
	do(t, u.Slice(n, n+4).WriteHost(t.Context(), func([]float32) {}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := u.WriteHost(ctx, func([]float32) { t.Error("written while it is copied") }); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	close(busy)
	do(t, <-uploaded)
	if got := u.Stats(); got.Uploads != 1 || got.UploadedBytes != int64(n)*size {
		t.Errorf("copied %+v", got)
	}
	closeAll(t, u, d)
}

// A view that must come after the work of a stream that is being closed waits for it
// without the lock.
func TestAViewAfterAStreamThatIsBeingClosed(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s, other := must[*Stream](t)(d.NewStream(t.Context())), d.DefaultStream()
	u := must[*Unified[float32]](t)(NewUnified[float32](d, 4))
	do(t, Fill(s, must[*Buffer[float32]](t)(u.WriteDevice(s)), 2))
	done, waits := make(chan struct{}), make(chan string, 100)
	lib.Busy, lib.Waits = done, waits
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	<-waits
	c := u.core
	c.mu.Lock()
	_, err := c.openDevice(other, u.part, true)
	c.mu.Unlock()
	if _, ok := errors.AsType[*busy](err); !ok {
		t.Errorf("the view waits with the lock, or not at all: %v", err)
	}
	close(done)
	must[*Buffer[float32]](t)(u.WriteDevice(other))
	do(t, <-closed)
	closeAll(t, u, d)
}
