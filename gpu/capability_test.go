package gpu

import (
	"context"
	"errors"
	"testing"

	"quern.dev/internal/driver"
	"quern.dev/internal/driver/cpu"
)

// bareDevice and bareStream have only the methods that every device has.
type (
	bareDevice struct{ driver.Device }
	bareStream struct{ driver.Stream }
)

func (d bareDevice) NewStream(priority int) (driver.Stream, error) {
	s, err := d.Device.NewStream(priority)
	return bareStream{s}, err
}

// openBare opens a device without any optional capability.
func openBare(t *testing.T) *Device {
	t.Helper()
	c := cpu.Candidate()
	open := c.Open
	c.Open = func() (driver.Device, error) {
		d, err := open()
		return bareDevice{d}, err
	}
	replaceBackend(t, CPU, func(Config) []driver.Candidate { return []driver.Candidate{c} })
	return must[*Device](t)(Open(Config{Device: "cpu"}))
}

func TestDevicesNeedNoCapabilities(t *testing.T) {
	d := openBare(t)
	defer closeAll(t, d)
	s := must[*Stream](t)(d.NewStream(context.Background(), Priority(3)))
	defer closeAll(t, s)
	if least, greatest := d.Priorities(); least != 0 || greatest != 0 || s.Priority() != 0 {
		t.Errorf("priorities from %d to %d, that of the stream %d", least, greatest, s.Priority())
	}

	x := must[*Buffer[int32]](t)(Acquire[int32](d.Pool(), s, 12))
	defer closeAll(t, x)
	host := must[*HostBuffer[int32]](t)(AllocHost[int32](d, 12))
	defer closeAll(t, host)
	for i := range host.Data() {
		host.Data()[i] = int32(i)
	}
	do(t, CopyInAsync(s, x, host))
	do(t, CopyInBox(s, x, Rect(1, 1, 2, 2, 4), []int32{-1, -2, -3, -4}, Rect(0, 0, 2, 2, 2)))
	got := make([]int32, 12)
	do(t, Download(t.Context(), s, got, x))
	for i, want := range []int32{0, 1, 2, 3, 4, -1, -2, 7, 8, -3, -4, 11} {
		if got[i] != want {
			t.Errorf("element %d is %d, want %d", i, got[i], want)
		}
	}
}

func TestWhatADeviceCannotDoIsUnsupported(t *testing.T) {
	d := openBare(t)
	defer closeAll(t, d)
	s := d.DefaultStream()
	host := must[*HostBuffer[int32]](t)(AllocHost[int32](d, 4))
	defer closeAll(t, host)
	graph := must[*Graph](t)(d.Capture(func(*Stream) error { return nil }))
	for what, call := range map[string]func() error{
		"managed memory": func() error { _, err := AllocManaged[int32](d, 1); return err },
		"mapped memory":  func() error { _, err := host.Mapped(); return err },
		"a texture":      func() error { _, err := NewTexture2D[float32](s, 1, 1, []float32{1}, TextureOptions{}); return err },
		"a graph":        func() error { _, err := graph.Instantiate(); return err },
		"a function":     func() error { return s.Call(func() error { return nil }) },
	} {
		if err := call(); !errors.Is(err, errors.ErrUnsupported) {
			t.Errorf("%s: %v, want an error that matches errors.ErrUnsupported", what, err)
		}
	}
}
