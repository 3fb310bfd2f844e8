package gpu

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"quern.dev/internal/driver/cuda"
	"quern.dev/internal/driver/cuda/fakecuda"
)

// watcher is an owner of persistent kernels that counts pauses, and may refuse them.
type watcher struct {
	quiesced, resumed int
	refuses           error
}

func (w *watcher) Quiesce(Operation) error {
	if w.refuses != nil {
		return w.refuses
	}
	w.quiesced++
	return nil
}

func (w *watcher) Resume() error {
	w.resumed++
	return nil
}

func TestPersistentKernelsPauseForOperationsThatWaitForTheGPU(t *testing.T) {
	d := openFake(t, fakecuda.New(1))
	s := d.DefaultStream()
	x := must[*Buffer[float32]](t)(Upload(s, make([]float32, 8)))
	host := must[*HostBuffer[float32]](t)(AllocHost[float32](d, 8))
	registered := must[*HostBuffer[float32]](t)(RegisterHost(d, make([]float32, 1<<12)))
	before := must[*Buffer[float32]](t)(Alloc[float32](d, 8))
	k, w := NewKernel(saxpyInfo), new(watcher)
	d.AddPersistent(w)
	for _, c := range []struct {
		name string
		do   func() error
		ways bool
	}{
		{"allocation", func() error {
			b, err := Alloc[float32](d, 8)
			t.Cleanup(func() { b.Close() })
			return err
		}, false},
		{"a copy", func() error { return Download(context.Background(), s, make([]float32, 8), x) }, false},
		{"loading a kernel", func() error { return k.Prepare(d) }, true},
		{"loading it again", func() error { return k.Prepare(d) }, false},
		{"a launch", func() error { return launchSaxpy(k, s, Linear(8), 1, 8, x, x) }, false},
		{"a wait", func() error { return s.Synchronize(context.Background()) }, false},
		{"a call of another library", func() error { return d.Native(func() error { return nil }) }, true},
		{"freeing memory that was allocated before", x.Close, true},
		{"freeing a little host memory that was allocated before", host.Close, true},
		{"ending a registration", registered.Close, true},
	} {
		*w = watcher{}
		if err := c.do(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if w.quiesced != w.resumed || c.ways != (w.quiesced > 0) {
			t.Errorf("%s: quiesced %d times, resumed %d times", c.name, w.quiesced, w.resumed)
		}
	}
	*w = watcher{refuses: errors.New("does not return")}
	if err := before.Close(); !errors.Is(err, w.refuses) {
		t.Errorf("freeing memory while a persistent kernel does not end: %v", err)
	}
	*w = watcher{}
	d.RemovePersistent(w)
	if err := must[*Buffer[float32]](t)(Alloc[float32](d, 8)).Close(); err != nil || w.quiesced > 0 {
		t.Errorf("a resident that was removed was quiesced: %v", err)
	}
}

func TestPersistentKernelsPauseAfterOtherWork(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	b := must[*Buffer[float32]](t)(Alloc[float32](d, 8))
	w := new(watcher)
	d.AddPersistent(w)
	lib.Busy, lib.Waits = make(chan struct{}), make(chan string)
	closed := make(chan error)
	go func() { closed <- b.Close() }()
	if name := <-lib.Waits; name != "cuStreamSynchronize" {
		t.Errorf("waits in %s", name)
	}
	if w.quiesced > 0 {
		t.Error("the persistent kernels paused while the device had other work")
	}
	close(lib.Busy)
	if err := <-closed; err != nil || w.quiesced != 1 {
		t.Errorf("%v, quiesced %d times", err, w.quiesced)
	}
}

func TestPersistentKernelsPauseForOtherDevicesOfTheirGPU(t *testing.T) {
	lib := fakecuda.New(2)
	t.Cleanup(cuda.Substitute(lib))
	open := func(id string) *Device { return must[*Device](t)(Open(Config{Device: id})) }
	a, b, elsewhere := open("cuda:0"), open("cuda:0"), open("cuda:1")
	buffers := map[*Device][]*Buffer[float32]{}
	for _, d := range []*Device{a, a, a, b, elsewhere} {
		buffers[d] = append(buffers[d], must[*Buffer[float32]](t)(Alloc[float32](d, 8)))
	}
	first, second := new(watcher), new(watcher)
	a.AddPersistent(first)
	b.AddPersistent(second)
	free := func(d *Device) {
		t.Helper()
		closeAll(t, buffers[d][0])
		buffers[d] = buffers[d][1:]
	}
	counts := func(what string, n, m int) {
		t.Helper()
		if first.quiesced != n || second.quiesced != m {
			t.Errorf("%s: quiesced %d and %d times, want %d and %d", what, first.quiesced, second.quiesced, n, m)
		}
	}
	free(a)
	counts("freeing memory of the one device", 1, 1)
	free(b)
	counts("freeing memory of the other device", 2, 2)
	free(elsewhere)
	counts("freeing memory of another GPU", 2, 2)
	do(t, b.Close())
	counts("closing the other device", first.quiesced, 3)
	if first.quiesced != first.resumed {
		t.Errorf("closing the other device: quiesced %d times, resumed %d times", first.quiesced, first.resumed)
	}
	before := first.quiesced
	free(a)
	counts("freeing memory after that", before+1, 3)
	a.RemovePersistent(first)
	free(a)
	counts("freeing memory without residents", before+1, 3)
	closeAll(t, a, elsewhere)
	if left := lib.Left(); left != "" {
		t.Error("left in the driver:", left)
	}
}

// A driver before CUDA 12 has no libraries, and cannot compile while kernels run.
func TestLoadingWithPersistentKernels(t *testing.T) {
	for _, missing := range []string{"", "cuLibraryLoadData", "cuLinkCreate_v2"} {
		lib := fakecuda.New(1)
		lib.Missing = map[string]bool{missing: true}
		d := openFake(t, lib)
		w := new(watcher)
		d.AddPersistent(w)
		s := d.DefaultStream()
		k := NewKernel(saxpyInfo)
		do(t, k.Prepare(d))
		if w.quiesced != len(saxpyInfo.Variants) {
			t.Errorf("without %q: quiesced %d times for %d variants of a kernel", missing, w.quiesced, len(saxpyInfo.Variants))
		}
		x := must[*Buffer[float32]](t)(Upload(s, []float32{1, 2}))
		do(t, launchSaxpy(k, s, Linear(2), 2, 2, x, x))
		if got := download(t, s, x); !slices.Equal(got, []float32{3, 6}) {
			t.Errorf("without %q: %v", missing, got)
		}
		closeAll(t, x)
		d.RemovePersistent(w)
		closeAll(t, d)
		if left := lib.Left(); left != "" {
			t.Errorf("without %q: left in the driver: %s", missing, left)
		}
	}
}

// The arguments of a launch determine which variant is loaded.
func TestPersistentKernelsPauseForTheFirstLaunchOfAVariant(t *testing.T) {
	lib := fakecuda.New(1)
	d, w := withResident(t, lib)
	s, k := d.DefaultStream(), NewKernel(saxpyInfo)
	x := upload(t, s, append([]float32{1}, make([]float32, 1023)...)...)
	for _, c := range []struct {
		name   string
		n      int
		want   float32
		pauses int
	}{
		{"the narrow variant", 1, 3, 1},
		{"the narrow variant again", 1, 9, 1},
		{"the wide variant", 1<<20 + 1, 127, 2},
		{"the wide variant again", 1<<20 + 1, 481, 2},
	} {
		do(t, launchSaxpy(k, s, Linear(1), 2, c.n, x, x))
		if got := download(t, s, x); got[0] != c.want {
			t.Errorf("%s: %v, want %v", c.name, got[0], c.want)
		}
		if w.quiesced != c.pauses {
			t.Errorf("%s: the persistent kernels paused %d times, want %d", c.name, w.quiesced, c.pauses)
		}
	}
	closeAll(t, x)
	d.RemovePersistent(w)
	nothingLeft(t, lib, d)
}

func TestKernelsReadMemoryOfTheHost(t *testing.T) {
	for _, backend := range []Backend{CPU, Sim} {
		t.Run(string(backend), func(t *testing.T) {
			d := must[*Device](t)(Open(Config{Require: backend}))
			s := d.DefaultStream()
			h := must[*HostBuffer[float32]](t)(AllocHost[float32](d, 8))
			for i := range h.Data() {
				h.Data()[i] = float32(i)
			}
			part := h.Slice(2, 6)
			x := must[*Buffer[float32]](t)(part.Mapped())
			if err := errors.Join(launchSaxpy(NewKernel(saxpyInfo), s, Linear(4), 1, 4, x, x), s.Synchronize(t.Context())); err != nil {
				t.Fatal(err)
			}
			if want := []float32{0, 1, 4, 6, 8, 10, 6, 7}; !slices.Equal(h.Data(), want) {
				t.Errorf("%v, want %v", h.Data(), want)
			}
			if again := must[*Buffer[float32]](t)(part.Mapped()); again.at() != x.at() {
				t.Error("mapped again it is elsewhere")
			}
			closeAll(t, h, d)
			if _, err := h.Mapped(); !errors.Is(err, ErrClosed) {
				t.Errorf("mapping a closed buffer: %v, want ErrClosed", err)
			}
		})
	}
}

func TestTheDeviceDoesNotWaitForDetachedStreams(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := must[*Stream](t)(d.NewStream(t.Context(), Detached()))
	lib.Busy = make(chan struct{})
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := s.Synchronize(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting for the stream itself: %v, want the end of the context", err)
	}
	close(lib.Busy)
	if faulted, err := s.Faulted(); faulted || err != nil {
		t.Errorf("faulted: %v, %v", faulted, err)
	}
}
