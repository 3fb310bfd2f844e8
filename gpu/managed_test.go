package gpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"quern.dev/internal/driver/cuda/fakecuda"
)

func TestHostAndDeviceShareManagedMemory(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		ctx, s := context.Background(), d.DefaultStream()
		x := must[*Managed[float32]](t)(AllocManaged[float32](d, 1000))
		if x.Len() != 1000 || x.Device() != d {
			t.Error("a managed array does not know its device or length")
		}
		host := must[[]float32](t)(x.Host(ctx))
		copy(host, ramp(1000))
		for _, step := range []func() error{
			func() error { return x.Advise(AdvisePreferDevice) },
			func() error { return x.Advise(AdviseReadMostly) },
			func() error { return x.Advise(AdviseNone) },
			func() error { return x.Prefetch(s) },
			func() error { return launchSaxpy(k, s, Linear(1000), 1, 1000, x.Buffer(), x.Buffer()) },
			func() error { return x.PrefetchHost(s) },
		} {
			do(t, step())
		}
		host = must[[]float32](t)(x.Host(ctx))
		for i, v := range host {
			if v != 2*float32(i) {
				t.Fatalf("element %d is %v", i, v)
			}
		}
		host[7] = -1
		if got := download(t, s, x.Buffer().Slice(6, 9)); !slices.Equal(got, []float32{12, -1, 16}) {
			t.Errorf("the device sees %v", got)
		}
		do(t, launchSaxpy(k, s, Blocks(Dim3{X: 1}, Dim3{X: 8}), 1, 8, x.Buffer().Slice(0, 7), x.Buffer()))
		view, err := x.Host(ctx)
		if _, ok := errors.AsType[*KernelError](err); !ok || len(view) != 1000 {
			t.Errorf("after a fault: %d elements, %v", len(view), err)
		}
		empty := must[*Managed[int]](t)(AllocManaged[int](d, 0))
		do(t, errors.Join(empty.Prefetch(s), empty.Advise(AdviseNone), second(empty.Host(ctx))))
		closeAll(t, x, x, empty, x.Buffer())
	})
}

func TestClosingTheBufferOfManagedMemoryEndsThatViewOnly(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		x := must[*Managed[int]](t)(AllocManaged[int](d, 2))
		kept, shut := x.Buffer(), x.Buffer()
		do(t, shut.Close())
		if err := Fill(s, shut, 1); !errors.Is(err, ErrClosed) {
			t.Errorf("with a closed view: %v", err)
		}
		do(t, errors.Join(Fill(s, kept, 2), Fill(s, x.Buffer().Slice(1, 2), 3), x.Prefetch(s)))
		if got := must[[]int](t)(x.Host(context.Background())); !slices.Equal(got, []int{2, 3}) {
			t.Errorf("got %v", got)
		}
		do(t, x.Close())
	})
}

func TestBadUsesOfManagedMemoryNameTheMistake(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		ctx, s := context.Background(), d.DefaultStream()
		x := must[*Managed[int]](t)(AllocManaged[int](d, 4))
		closed := must[*Managed[int]](t)(AllocManaged[int](d, 4))
		none := must[*Managed[int]](t)(AllocManaged[int](d, 0))
		closeAll(t, closed, none)
		other := must[*Device](t)(Open(Config{Device: "cpu"}))
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		for _, test := range []struct {
			name string
			err  error
			is   error
			want string
		}{
			{"a negative length", second(AllocManaged[int](d, -1)), ErrInvalid, "gpu: alloc managed: negative length -1"},
			{"a length that overflows", second(AllocManaged[int](d, math.MaxInt)), ErrInvalid, "too large"},
			{"elements with pointers", second(AllocManaged[*int](d, 1)), ErrInvalid, "cannot hold"},
			{"more than the device has", second(AllocManaged[int8](d, 1<<52)), ErrOutOfMemory, "gpu: alloc managed 4503599627370496 bytes: allocate: out of memory: "},
			{"the host's view of what is closed", second(closed.Host(ctx)), ErrClosed, "gpu: host view: managed array is closed"},
			{"a prefetch of what is closed", closed.Prefetch(s), ErrClosed, "gpu: prefetch: managed array is closed"},
			{"a prefetch to another device", x.Prefetch(other.DefaultStream()), ErrInvalid, "of another "},
			{"a prefetch on no stream", x.PrefetchHost(nil), ErrInvalid, "gpu: prefetch to host: stream is nil"},
			{"unknown advice", x.Advise(77), ErrInvalid, "gpu: advise: unknown advice 77"},
			{"advice on nothing", (*Managed[int])(nil).Advise(AdviseNone), ErrInvalid, "gpu: advise: managed array is nil"},
			{"a prefetch of the zero value", new(Managed[int]).Prefetch(s), ErrInvalid, "gpu: prefetch: managed array was not made by AllocManaged"},
			{"the host's view of nothing", second((*Managed[int])(nil).Host(ctx)), ErrInvalid, "gpu: host view: managed array is nil"},
			{"a buffer of what is closed", Fill(s, closed.Buffer(), 1), ErrClosed, "gpu: fill: managed array is closed"},
			{"an array of no elements that is closed", second(none.Host(ctx)), ErrClosed, "gpu: host view: managed array is closed"},
			{"a cancelled wait", second(x.Host(cancelled)), context.Canceled, ""},
		} {
			if !errors.Is(test.err, test.is) || !strings.Contains(test.err.Error(), test.want) {
				t.Errorf("%s: %v", test.name, test.err)
			}
		}
		closeAll(t, x, other)
		if _, err := AllocManaged[int](other, 1); !errors.Is(err, ErrClosed) {
			t.Errorf("on a closed device: %v", err)
		}
	})
}

// TestManagedMemoryIsNeverMoreThanFits: the driver would allow more, and thrash.
func TestManagedMemoryIsNeverMoreThanFits(t *testing.T) {
	lib := fakecuda.New(1)
	lib.Memory = 1 << 20
	d := openFake(t, lib)
	s := d.DefaultStream()
	alloc := func(kibibytes int) (*Managed[[1024]uint8], error) { return AllocManaged[[1024]uint8](d, kibibytes) }
	a := must[*Managed[[1024]uint8]](t)(alloc(600))
	_, err := alloc(600)
	if !errors.Is(err, ErrOutOfMemory) || !strings.Contains(err.Error(), "managed arrays that are not on the device yet need 614400 of them") {
		t.Errorf("two arrays that do not fit together: %v", err)
	}
	b := must[*Managed[[1024]uint8]](t)(alloc(300))
	// Memory on the device is not counted twice.
	do(t, a.Prefetch(s))
	do(t, a.Prefetch(s))
	c := must[*Managed[[1024]uint8]](t)(alloc(50))
	if _, err := alloc(100); !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("with one array on the device: %v", err)
	}
	closeAll(t, a, c)
	a = must[*Managed[[1024]uint8]](t)(alloc(600))
	closeAll(t, a, b)
	big := must[*Buffer[[1024]uint8]](t)(Alloc[[1024]uint8](d, 900))
	if _, err := alloc(200); !errors.Is(err, ErrOutOfMemory) {
		t.Errorf("together with a buffer: %v", err)
	}
	closeAll(t, big, d)
	checkLeft(t, lib)
}

func TestDevicesWithoutManagedMemorySaySo(t *testing.T) {
	lib := fakecuda.New(1)
	lib.Missing = map[string]bool{"cuMemAllocManaged": true}
	d := openFake(t, lib)
	if _, err := AllocManaged[int](d, 1); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "gpu: alloc managed 8 bytes: the device has no managed memory") {
		t.Errorf("got %v", err)
	}
	do(t, d.Close())
	checkLeft(t, lib)
}

func TestAdviceReachesTheDriver(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	x := must[*Managed[int]](t)(AllocManaged[int](d, 1))
	for _, a := range []Advice{AdviseReadMostly, AdvisePreferDevice, AdvisePreferHost, AdviseAccessedByHost, AdviseNone} {
		do(t, x.Advise(a))
	}
	if want := []int{1, 3, 3, 5, 2, 4, 6}; !slices.Equal(lib.Advised, want) {
		t.Errorf("advised %v, want %v", lib.Advised, want)
	}
	for function, call := range map[string]func() error{
		"cuMemAdvise":        func() error { return x.Advise(AdviseReadMostly) },
		"cuMemPrefetchAsync": func() error { return x.Prefetch(d.DefaultStream()) },
		"cuMemAllocManaged":  func() error { return second(AllocManaged[int](d, 1)) },
	} {
		lib.Fail(function, fakecuda.InvalidValue)
		if e, ok := errors.AsType[*Error](call()); !ok || e.Op != function {
			t.Errorf("%s fails: %v", function, e)
		}
	}
	closeAll(t, x, d)
	checkLeft(t, lib)
}

func ExampleAllocManaged() {
	d, err := Open(Config{Device: "cpu"})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	ctx, s := context.Background(), d.DefaultStream()
	x, err := AllocManaged[int32](d, 4)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer x.Close()
	err = errors.Join(x.Prefetch(s), Fill(s, x.Buffer(), 7))
	if err != nil {
		fmt.Println(err)
		return
	}
	host, err := x.Host(ctx) // waits
	fmt.Println(host, err)
	// Output: [7 7 7 7] <nil>
}
