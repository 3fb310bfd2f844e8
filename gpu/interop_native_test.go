package gpu

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"quern.dev/internal/driver/cuda/fakecuda"
)

// double multiplies floats in memory of the process, as a library would on a GPU.
func double(from, to uintptr, n int) {
	x, y := unsafe.Slice((*float32)(pointer(from)), n), unsafe.Slice((*float32)(pointer(to)), n)
	for i, v := range x {
		y[i] = 2 * v
	}
}

// pointer converts the address of memory that fakecuda keeps alive.
func pointer(a uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&a)) }

func TestOtherLibrariesAddWorkToStreams(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := must[*Stream](t)(d.NewStream(t.Context()))
	x, y := upload[float32](t, s, 1, 2, 3, 4), upload[float32](t, s, 0, 0, 0, 0)
	pooled := acquire[float32](t, d.Pool(), s, 4)
	for _, to := range []*Buffer[float32]{y, pooled} {
		n := must[*Native](t)(OpenNative(s, "double"))
		from, at := Address(n, x, false), Address(n, to, true)
		if n.Stream() != s.Handle() || Address[int](n, nil, false) != 0 {
			t.Errorf("stream %d, want %d", n.Stream(), s.Handle())
		}
		do(t, n.Run(func() error { double(from, at, 4); return nil }))
		n.Close()
		n.Close()
		if got := download(t, s, to); !slices.Equal(got, []float32{2, 4, 6, 8}) {
			t.Errorf("got %v", got)
		}
	}
	do(t, d.Native(func() error { return nil }))
	own := errors.New("the library failed")
	n := must[*Native](t)(OpenNative(s, "double"))
	if err := n.Run(func() error { return own }); !errors.Is(err, own) || err.Error() != "gpu: double: the library failed" {
		t.Errorf("got %v", err)
	}
	n.Close()
	closeAll(t, x, y, pooled, s, d)
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}

func TestCallsOfOtherLibrariesThatCannotBe(t *testing.T) {
	d := openFake(t, fakecuda.New(1))
	s := d.DefaultStream()
	cpu := must[*Device](t)(Open(Config{Device: "cpu"}))
	closed := upload[float32](t, s, 1)
	do(t, closed.Close())
	var recording error
	_, err := d.Capture(func(s *Stream) error {
		recording = second(OpenNative(s, "double"))
		if !s.Recording() {
			t.Error("the stream does not say that it is recording")
		}
		return nil
	})
	do(t, err)
	if s.Recording() || (*Stream)(nil).Recording() {
		t.Error("a stream says that it is recording")
	}
	n := must[*Native](t)(OpenNative(s, "double"))
	Address(n, closed, true)
	ran := n.Run(func() error { t.Error("it ran"); return nil })
	n.Close()
	for _, c := range []struct {
		err, is error
		want    string
	}{
		{recording, errors.ErrUnsupported, "gpu: double: unsupported operation: the stream is recording a graph"},
		{second(OpenNative(cpu.DefaultStream(), "double")), errors.ErrUnsupported, "cpu is not a CUDA device"},
		{cpu.Native(func() error { return nil }), errors.ErrUnsupported, "gpu: native: unsupported operation: cpu is not a CUDA device"},
		{second(OpenNative(nil, "double")), ErrInvalid, "stream is nil"},
		{ran, ErrClosed, "gpu: double: buffer is closed"},
	} {
		if !errors.Is(c.err, c.is) || !strings.Contains(fmt.Sprint(c.err), c.want) {
			t.Errorf("%v", c.err)
		}
	}
	closeAll(t, cpu, d)
	if err := d.Native(func() error { return nil }); !errors.Is(err, ErrClosed) {
		t.Errorf("of a closed device: %v", err)
	}
}

func TestClosingADeviceCallsWhatLibrariesKeep(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		d = must[*Device](t)(Open(Config{Device: d.ID()}))
		var order []int
		failed := errors.New("failed")
		do(t, d.OnClose(func() error { order = append(order, 1); return failed }))
		do(t, d.OnClose(func() error { order = append(order, 2); return nil }))
		if err := d.Close(); !errors.Is(err, failed) || !slices.Equal(order, []int{2, 1}) {
			t.Errorf("order %v, error %v", order, err)
		}
		do(t, d.Close())
		if err := d.OnClose(nil); !errors.Is(err, ErrClosed) || len(order) != 2 {
			t.Errorf("after Close: %v, order %v", err, order)
		}
	})
}

func TestStreamsKeepValuesOfLibraries(t *testing.T) {
	type key int
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	s := d.DefaultStream()
	if s.Value(key(1)) != nil || (*Stream)(nil).Value(key(1)) != nil {
		t.Error("a stream without values has one")
	}
	for i := range 3 {
		do(t, s.SetValue(key(1), i))
		do(t, s.SetValue(key(2), -i))
	}
	if s.Value(key(1)) != 2 || s.Value(key(2)) != -2 || s.Value(1) != nil || len(*s.values.Load()) != 2 {
		t.Errorf("values %v", *s.values.Load())
	}
	if n := testing.AllocsPerRun(100, func() { s.Value(key(1)) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	areInvalid(t, map[string]error{"a nil stream": (*Stream)(nil).SetValue(key(1), 1)})
	closeAll(t, d)
}
