package gpu

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"quern.dev/internal/driver/cuda/fakecuda"
)

// watcher is a resident that counts, and may refuse to make way.
type watcher struct {
	quiesced, resumed int
	refuses           error
}

func (w *watcher) Quiesce() error {
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

func TestResidentsMakeWayForWhatWaitsForTheGPU(t *testing.T) {
	d := openFake(t, fakecuda.New(1))
	s := d.DefaultStream()
	x := must[*Buffer[float32]](t)(Upload(s, make([]float32, 8)))
	host := must[*HostBuffer[float32]](t)(AllocHost[float32](d, 8))
	registered := must[*HostBuffer[float32]](t)(RegisterHost(d, make([]float32, 1<<12)))
	k, w := NewKernel(saxpyInfo), new(watcher)
	d.AddResident(w)
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
		{"a launch", func() error { return launchSaxpy(k, s, Linear(8), 1, 8, x, x) }, false},
		{"a wait", func() error { return s.Synchronize(context.Background()) }, false},
		{"freeing memory", x.Close, true},
		{"freeing memory of the host", host.Close, true},
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
	b := must[*Buffer[float32]](t)(Alloc[float32](d, 8))
	*w = watcher{refuses: errors.New("does not return")}
	if err := b.Close(); !errors.Is(err, w.refuses) {
		t.Errorf("freeing memory while a resident does not make way: %v", err)
	}
	*w = watcher{}
	d.RemoveResident(w)
	if err := must[*Buffer[float32]](t)(Alloc[float32](d, 8)).Close(); err != nil || w.quiesced > 0 {
		t.Errorf("a resident that was removed was quiesced: %v", err)
	}
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
