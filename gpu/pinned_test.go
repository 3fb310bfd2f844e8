package gpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"quern.dev/gpu/internal/memlock"
	"quern.dev/internal/driver/cuda/fakecuda"
)

func hostBuffer[T any](t testing.TB, d *Device, values ...T) *HostBuffer[T] {
	t.Helper()
	h := must[*HostBuffer[T]](t)(AllocHost[T](d, len(values)))
	copy(h.Data(), values)
	return h
}

func TestAsynchronousCopiesGoInTheOrderOfTheStream(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		ctx, s := context.Background(), d.DefaultStream()
		in, out := hostBuffer(t, d, 1, 2, 3, 4, 5), hostBuffer(t, d, 0, 0, 0, 0, 0)
		b := must[*Buffer[int]](t)(Alloc[int](d, 5))
		do(t, CopyInAsync(s, b, in))
		do(t, Fill(s, b.Slice(0, 1), 9))
		do(t, CopyOutAsync(s, out, b))
		do(t, CopyInAsync(s, b.Slice(3, 5), in.Slice(0, 2)))
		do(t, s.Synchronize(ctx))
		if got := out.Data(); !slices.Equal(got, []int{9, 2, 3, 4, 5}) {
			t.Errorf("copied out: %v", got)
		}
		if got := download(t, s, b); !slices.Equal(got, []int{9, 2, 3, 1, 2}) {
			t.Errorf("copied in by parts: %v", got)
		}
		if in.Len() != 5 || in.Device() != d || in.Slice(1, 3).Slice(1, 2).Data()[0] != 3 {
			t.Error("a host buffer does not know its elements or device")
		}
		closeAll(t, in, out, b)
		if in.Data() != nil {
			t.Error("a closed host buffer has elements")
		}
	})
}

func TestARegisteredSliceIsCopiedInPlace(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		data := make([]float32, 1<<15)
		for i := range data {
			data[i] = float32(i)
		}
		h := must[*HostBuffer[float32]](t)(RegisterHost(d, data))
		if &h.Data()[0] != &data[0] {
			t.Error("the registered memory is not the slice's")
		}
		b := must[*Buffer[float32]](t)(Alloc[float32](d, len(data)))
		do(t, CopyInAsync(s, b, h))
		do(t, Fill(s, b.Slice(7, 8), -1))
		do(t, CopyOutAsync(s, h, b))
		do(t, h.Close()) // waits
		if data[6] != 6 || data[7] != -1 || data[8] != 8 {
			t.Errorf("copied out: %v", data[6:9])
		}
		again := must[*HostBuffer[float32]](t)(RegisterHost(d, data[1:]))
		closeAll(t, again, b)
	})
}

func TestHostBuffersWorkWithAllDevicesOfTheirBackEnd(t *testing.T) {
	withCUDA(t, fakecuda.New(2))
	open := func(id string) *Device { return must[*Device](t)(Open(Config{Device: id})) }
	first, second, cpu := open("cuda:0"), open("cuda:1"), open("cpu")
	h := hostBuffer(t, first, 1, 2, 3)
	b := upload(t, second.DefaultStream(), 0, 0, 0)
	do(t, CopyInAsync(second.DefaultStream(), b, h))
	if got := download(t, second.DefaultStream(), b); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("got %v", got)
	}
	foreign := upload(t, cpu.DefaultStream(), 1, 2, 3)
	err := CopyOutAsync(cpu.DefaultStream(), h, foreign)
	if !errors.Is(err, ErrInvalid) || !strings.Contains(err.Error(), "is of another device (cuda:0, not cpu)") {
		t.Errorf("got %v", err)
	}
	closeAll(t, b, foreign, second, h, first, cpu)
}

func TestBadHostBufferCallsNameTheMistake(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		b, h, closed := upload(t, s, 1, 2, 3), hostBuffer(t, d, 4, 5, 6), hostBuffer(t, d, 7, 8, 9)
		data := make([]int, 1<<13)
		registered := must[*HostBuffer[int]](t)(RegisterHost(d, data[:1<<12]))
		closeAll(t, closed, closed)
		tests := []struct {
			name string
			err  error
			is   error
			want string
		}{
			{"pointers in elements", second(AllocHost[*int](d, 1)), ErrInvalid, "gpu: alloc host: a device cannot hold elements of type *int"},
			{"strings in a registered slice", second(RegisterHost(d, []string{"a"})), ErrInvalid, "gpu: register host: a device cannot hold elements of type string"},
			{"negative length", second(AllocHost[int](d, -1)), ErrInvalid, "gpu: alloc host: negative length -1"},
			{"length that overflows", second(AllocHost[[1 << 20]int](d, 1<<60)), ErrInvalid, "elements of 8388608 bytes"},
			{"nil device", second(AllocHost[int](nil, 1)), ErrInvalid, "gpu: alloc host: device is nil"},
			{"registration with a nil device", second(RegisterHost(nil, data)), ErrInvalid, "gpu: register host: device is nil"},
			{"more memory than there is", second(AllocHost[int](d, 1<<56)), ErrOutOfMemory, "gpu: alloc host 576460752303423488 bytes: "},
			{"a slice that is registered", second(RegisterHost(d, data)), ErrInvalid, "gpu: register host 65536 bytes: part of the memory belongs to another host buffer"},
			{"a part of a host buffer", second(RegisterHost(d, h.Data()[1:])), ErrInvalid, "belongs to another host buffer"},
			{"copy from a closed host buffer", CopyInAsync(s, b, closed), ErrClosed, "gpu: copy in: host buffer is closed"},
			{"copy from the zero value", CopyInAsync(s, b, new(HostBuffer[int])), ErrInvalid, "gpu: copy in: host buffer was not made by AllocHost, RegisterHost or AcquireHost"},
			{"copy to a closed host buffer", CopyOutAsync(s, closed, b), ErrClosed, "gpu: copy out: host buffer is closed"},
			{"copy of different lengths", CopyInAsync(s, b, h.Slice(0, 2)), ErrInvalid, "gpu: copy in: host buffer of 2 elements for a buffer of 3"},
			{"copy of a range outside", CopyOutAsync(s, h.Slice(2, 4), b), ErrInvalid, "gpu: copy out: sub-buffer [2:4] of a host buffer of 3 elements"},
			{"copy from a nil host buffer", CopyInAsync(s, b, nil), ErrInvalid, "buffer is nil"},
			{"copy on a nil stream", CopyInAsync(nil, b, h), ErrInvalid, "gpu: copy in: stream is nil"},
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
		empty := hostBuffer[int](t, d)
		do(t, CopyInAsync(s, b.Slice(1, 1), empty))
		closeAll(t, b, h, registered, empty, (*HostBuffer[int])(nil), new(HostBuffer[int]))
	})
}

func TestLeakedHostBuffersAreReported(t *testing.T) {
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	h := hostBuffer(t, d, 1, 2, 3)
	leak, ok := errors.AsType[*LeakError](d.Close())
	if !ok || leak.Buffers != 1 || leak.Bytes != 24 {
		t.Errorf("leak: %+v", leak)
	}
	if h.Data() != nil {
		t.Error("the host buffer of a closed device has elements")
	}
}

func TestMemoryThatCannotBePinnedSaysWhatToDo(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	lib.Fail("cuMemHostAlloc", fakecuda.OutOfMemory)
	_, err := AllocHost[int](d, 100)
	if e, ok := errors.AsType[*Error](err); !ok || e.Op != "cuMemHostAlloc" || !errors.Is(err, ErrPinned) || !errors.Is(err, ErrOutOfMemory) ||
		!strings.Contains(err.Error(), "close host buffers that are not in use") {
		t.Errorf("got %v", err)
	}
	// If the host has less memory, the reason is not a limit that the user could
	// raise.
	total, known := memlock.HostMemory()
	pool := must[*HostPool](t)(d.NewHostPool(PoolConfig{}))
	for _, err := range []error{second(AllocHost[byte](d, 1<<56)), second(AcquireHost[byte](pool, 1<<56))} {
		if !errors.Is(err, ErrPinned) || known && (strings.Contains(err.Error(), "ulimit") || !strings.HasSuffix(err.Error(), fmt.Sprintf("the host has %d MiB of memory in all: make smaller host buffers", total>>20))) {
			t.Errorf("more than the host has: %v", err)
		}
	}
	do(t, pool.Close())
	data := make([]byte, 100)
	lib.Fail("cuMemHostRegister_v2", fakecuda.AlreadyRegistered)
	if _, err := RegisterHost(d, data); !errors.Is(err, ErrPinned) || !strings.Contains(err.Error(), "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED") {
		t.Errorf("memory that another library has registered: %v", err)
	}
	h := must[*HostBuffer[byte]](t)(RegisterHost(d, data))
	closeAll(t, h, d)
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}

func TestClosingAHostBufferWaitsForTheCopiesThatUseIt(t *testing.T) {
	for _, registered := range []bool{false, true} {
		t.Run(fmt.Sprintf("registered %v", registered), func(t *testing.T) {
			lib := fakecuda.New(1)
			d := openFake(t, lib)
			s := must[*Stream](t)(d.NewStream(context.Background()))
			b := must[*Buffer[int]](t)(Alloc[int](d, 3))
			var h *HostBuffer[int]
			if registered {
				h = must[*HostBuffer[int]](t)(RegisterHost(d, []int{1, 2, 3}))
			} else {
				h = hostBuffer(t, d, 1, 2, 3)
			}
			lib.Busy, lib.Waits = make(chan struct{}), make(chan string)
			do(t, CopyInAsync(s, b, h))
			closed := make(chan error)
			before := lib.Left()
			go func() { closed <- h.Close() }()
			if name := <-lib.Waits; name != "cuEventSynchronize" {
				t.Errorf("waits in %s", name)
			}
			if h.Data() != nil {
				t.Error("a host buffer that is being closed has elements")
			}
			if err := CopyInAsync(s, b, h); !errors.Is(err, ErrClosed) {
				t.Errorf("copy from a buffer that is being closed: %v", err)
			}
			if lib.Left() != before {
				t.Error("the memory was freed before the copy was done")
			}
			lib.Waits = nil
			close(lib.Busy)
			do(t, <-closed)
			closeAll(t, b, s, d)
			if left := lib.Left(); left != "" {
				t.Errorf("left in the driver: %s", left)
			}
		})
	}
}

func TestAHostBufferOutlivesItsStreamsAndItsDevice(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	h, b := hostBuffer(t, d, 1, 2, 3), must[*Buffer[int]](t)(Alloc[int](d, 3))
	for range 20 {
		s := must[*Stream](t)(d.NewStream(context.Background()))
		do(t, CopyInAsync(s, b, h))
		do(t, s.Close())
	}
	if n := len(h.part.mem.host().passed); n > 1 {
		t.Errorf("%d streams are remembered that were closed", n)
	}
	closeAll(t, b)
	if err := d.Close(); !strings.Contains(fmt.Sprint(err), "not closed") {
		t.Errorf("close with an open host buffer: %v", err)
	}
	do(t, h.Close())
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}

func TestErrorsOfAsynchronousCopiesAreValues(t *testing.T) {
	for _, function := range []string{"cuMemHostAlloc", "cuMemHostRegister_v2", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuEventCreate", "cuEventRecord", "cuMemHostUnregister", "cuMemFreeHost", "cuEventSynchronize", "cuEventDestroy_v2"} {
		t.Run(function, func(t *testing.T) {
			lib := fakecuda.New(1)
			d := openFake(t, lib)
			s := d.DefaultStream()
			b := must[*Buffer[int]](t)(Alloc[int](d, 3))
			data := make([]int, 3)
			use := func() (err error) {
				h, err := AllocHost[int](d, 3)
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, h.Close()) }()
				r, err := RegisterHost(d, data)
				if err != nil {
					return err
				}
				defer func() { err = errors.Join(err, r.Close()) }()
				return errors.Join(CopyInAsync(s, b, h), CopyOutAsync(s, r, b))
			}
			lib.Fail(function, fakecuda.InvalidValue)
			err := use()
			if e, ok := errors.AsType[*Error](err); !ok || e.Code != fakecuda.InvalidValue {
				t.Errorf("got %v", err)
			}
			closeAll(t, b, d)
			freed := function != "cuMemFreeHost" && function != "cuMemHostUnregister" && function != "cuEventDestroy_v2"
			if left := lib.Left(); freed && left != "" {
				t.Errorf("left in the driver: %s", left)
			}
		})
	}
}

// BenchmarkAsynchronousCopy measures adding a copy to a stream, with a driver that
// does nothing.
func BenchmarkAsynchronousCopy(b *testing.B) {
	lib := fakecuda.New(1)
	d := openFake(b, lib)
	s := d.DefaultStream()
	h, buf := hostBuffer(b, d, 1, 2, 3), upload(b, s, 1, 2, 3)
	do(b, CopyInAsync(s, buf, h))
	lib.Idle = true
	b.ReportAllocs()
	for b.Loop() {
		if err := CopyInAsync(s, buf, h); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAsynchronousCopiesAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates: run it without -race")
	}
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := d.DefaultStream()
	h, b := hostBuffer(t, d, 1, 2, 3), upload(t, s, 1, 2, 3)
	do(t, CopyInAsync(s, b, h))
	if n := testing.AllocsPerRun(100, func() { do(t, CopyInAsync(s, b, h)) }); n > 0 {
		t.Errorf("%v allocations a copy", n)
	}
	closeAll(t, h, b, d)
}
