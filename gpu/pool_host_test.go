package gpu

import (
	"errors"
	"strings"
	"testing"

	"quern.dev/internal/driver/cuda/fakecuda"
)

func TestHostPoolsGiveMemoryAgain(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s, p := d.DefaultStream(), d.HostPool()
		if p.Device() != d {
			t.Error("a host pool does not know its device")
		}
		b := must[*Buffer[int]](t)(Alloc[int](d, 100))
		for i := range 4 {
			h := must[*HostBuffer[int]](t)(AcquireHost[int](p, 100))
			h.Data()[99] = i
			do(t, CopyInAsync(s, b, h))
			if got := download(t, s, b); got[99] != i {
				t.Fatalf("read %d, want %d", got[99], i)
			}
			do(t, CopyIn(s, b, h.Data()))
			closeAll(t, h)
			if h.Data() != nil || CopyOutAsync(s, h, b) == nil {
				t.Error("a closed host buffer can be used")
			}
			closeAll(t, h)
		}
		if st := p.Stats(); st.Hits != 3 || st.Misses != 1 || st.Buffers != 0 || st.Reserved != 1024 {
			t.Errorf("%+v", st)
		}
		none := must[*HostBuffer[int]](t)(AcquireHost[int](p, 0))
		do(t, p.Trim())
		if st := p.Stats(); st.Reserved != 0 {
			t.Errorf("trimmed: %+v", st)
		}
		closeAll(t, b, none)
	})
}

// TestHostMemoryIsReusedOnceCopiesHavePassed uses copies that do not end until the
// test allows it.
func TestHostMemoryIsReusedOnceCopiesHavePassed(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s, p := d.DefaultStream(), d.HostPool()
	b := must[*Buffer[int]](t)(Alloc[int](d, 10))
	h := must[*HostBuffer[int]](t)(AcquireHost[int](p, 10))
	lib.Busy = make(chan struct{})
	do(t, CopyInAsync(s, b, h))
	do(t, h.Close()) // does not wait
	closeAll(t, must[*HostBuffer[int]](t)(AcquireHost[int](p, 10)))
	if st := p.Stats(); st.Hits != 0 || st.Reserved != 1024 {
		t.Errorf("memory that a copy reads was given out: %+v", st)
	}
	close(lib.Busy)
	first, second := must[*HostBuffer[int]](t)(AcquireHost[int](p, 10)), must[*HostBuffer[int]](t)(AcquireHost[int](p, 10))
	if st := p.Stats(); st.Hits != 2 {
		t.Errorf("memory that copies have passed was not given out: %+v", st)
	}
	closeAll(t, first, second, b, d)
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}

func TestHostPoolsKeepToTheirLimit(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		p := must[*HostPool](t)(d.NewHostPool(PoolConfig{Limit: 4096}))
		h := must[*HostBuffer[byte]](t)(AcquireHost[byte](p, 3000))
		_, err := AcquireHost[byte](p, 2000)
		e, ok := errors.AsType[*OutOfMemoryError](err)
		if !ok || e.Limit != 4096 || len(e.Holders) != 1 || !strings.HasPrefix(e.Holders[0].Function, "gpu.TestHostPoolsKeep") {
			t.Errorf("%+v: %v", e, err)
		}
		leak, ok := errors.AsType[*LeakError](p.Close())
		if !ok || leak.Buffers != 1 || leak.Bytes != 3000 {
			t.Errorf("%+v", leak)
		}
		if want := "gpu: host pool of device " + d.ID() + ": 1 buffer was not closed (3000 bytes): "; !strings.HasPrefix(leak.Error(), want) {
			t.Errorf("a leak: %v", leak)
		}
		if h.Data() != nil {
			t.Error("a leaked host buffer can be used")
		}
		if _, err := AcquireHost[byte](p, 1); !errors.Is(err, ErrClosed) || err.Error() != "gpu: acquire host: pool is closed" {
			t.Errorf("a closed pool: %v", err)
		}
		if _, err := AcquireHost[byte](nil, 1); !errors.Is(err, ErrInvalid) {
			t.Errorf("no pool: %v", err)
		}
		if _, err := d.NewHostPool(PoolConfig{Limit: -1}); !errors.Is(err, ErrInvalid) || !strings.HasPrefix(err.Error(), "gpu: new host pool: negative limit -1") {
			t.Errorf("a negative limit: %v", err)
		}
	})
}

// TestHostPoolsGiveBackMemoryThatCannotBeLocked uses a driver that refuses to lock
// more memory once.
func TestHostPoolsGiveBackMemoryThatCannotBeLocked(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	p := d.HostPool()
	closeAll(t, must[*HostBuffer[byte]](t)(AcquireHost[byte](p, 1000)))
	lib.Fail("cuMemHostAlloc", fakecuda.OutOfMemory)
	h := must[*HostBuffer[byte]](t)(AcquireHost[byte](p, 100000))
	if st := p.Stats(); st.Reserved != st.Used {
		t.Errorf("%+v", st)
	}
	lib.Fail("cuMemHostAlloc", fakecuda.OutOfMemory)
	if _, err := AcquireHost[byte](p, 100000); !errors.Is(err, ErrPinned) {
		t.Errorf("got %v", err)
	}
	closeAll(t, h, d)
}
