package gpu

import (
	"context"
	"errors"
	"testing"
)

// TestNilAndZeroValuesAreErrors calls all functions and methods with nil and with
// zero values, as receivers and as arguments.
func TestNilAndZeroValuesAreErrors(t *testing.T) {
	ctx := context.Background()
	d := must[*Device](t)(Open(Config{Device: "cpu"}))
	s := d.DefaultStream()
	b, event, k := upload(t, s, ramp(4)...), must[*Event](t)(d.NewEvent()), NewKernel(saxpyInfo)
	host := make([]float32, 4)
	g := Linear(4)

	for _, device := range []*Device{nil, new(Device)} {
		if free, total := device.Memory(); free != 0 || total != 0 {
			t.Errorf("memory: %d, %d", free, total)
		}
		if major, minor := device.ComputeCapability(); major != 0 || minor != 0 {
			t.Errorf("compute capability: %d.%d", major, minor)
		}
		if device.Name() != "" || device.Backend() != "" || device.ID() != "" || device.DriverVersion() != "" ||
			device.Attributes() != (Attributes{}) || device.PassedOver() != nil || device.DefaultStream() != nil {
			t.Error("a device that was not opened describes itself")
		}
		areInvalid(t, map[string]error{
			"Alloc":              second(Alloc[int](device, 1)),
			"Prepare":            k.Prepare(device),
			"Device.Compile":     second(device.Compile(t.Context(), "package p", "")),
			"Device.NewStream":   second(device.NewStream(ctx)),
			"Device.NewEvent":    second(device.NewEvent()),
			"Device.Synchronize": device.Synchronize(ctx),
		})
		do(t, device.Close())
	}

	for _, stream := range []*Stream{nil, new(Stream)} {
		if stream.Device() != nil {
			t.Error("a stream that was not made has a device")
		}
		areInvalid(t, map[string]error{
			"Upload":             second(Upload(stream, host)),
			"CopyIn":             CopyIn(stream, b, host),
			"Download":           Download(ctx, stream, host, b),
			"Copy":               Copy(stream, b, b),
			"Fill":               Fill(stream, b, 1),
			"Zero":               Zero(stream, b),
			"Kernel.Begin":       second(k.Begin(stream, g)),
			"Kernel.Launch":      k.Launch(stream, g),
			"Stream.Record":      stream.Record(event),
			"Stream.Wait":        stream.Wait(event),
			"Stream.Synchronize": stream.Synchronize(ctx),
		})
		do(t, stream.Close())
	}

	for _, e := range []*Event{nil, new(Event)} {
		areInvalid(t, map[string]error{
			"Elapsed from":      second(Elapsed(e, event)),
			"Elapsed to":        second(Elapsed(event, e)),
			"Stream.Record":     s.Record(e),
			"Stream.Wait":       s.Wait(e),
			"Event.Done":        second(e.Done()),
			"Event.Synchronize": e.Synchronize(ctx),
		})
		do(t, e.Close())
	}

	for _, buffer := range []*Buffer[float32]{nil, new(Buffer[float32]), new(Buffer[float32]).Slice(1, 2)} {
		if buffer.Len() != 0 || buffer.Device() != nil {
			t.Error("a buffer that was not made has elements or a device")
		}
		areInvalid(t, map[string]error{
			"CopyIn":                CopyIn(s, buffer, nil),
			"Download":              Download(ctx, s, nil, buffer),
			"Copy from":             Copy(s, b, buffer),
			"Copy to":               Copy(s, buffer, b),
			"Fill":                  Fill(s, buffer, 1),
			"Zero":                  Zero(s, buffer),
			"Buffer.Slice":          Zero(s, buffer.Slice(0, 0)),
			"Buffer.Slice, outside": Zero(s, buffer.Slice(-1, 7)),
			"SliceArg":              launchSaxpy(k, s, g, 1, 4, buffer, b),
			"Kernel.Launch":         k.Launch(s, g, float32(1), 4, b, buffer),
		})
		do(t, buffer.Close())
	}

	for _, h := range []*HostBuffer[float32]{nil, new(HostBuffer[float32]), new(HostBuffer[float32]).Slice(1, 2)} {
		if h.Len() != 0 || h.Device() != nil || h.Data() != nil {
			t.Error("a host buffer that was not made has elements or a device")
		}
		areInvalid(t, map[string]error{
			"CopyInAsync":      CopyInAsync(s, b, h),
			"CopyOutAsync":     CopyOutAsync(s, h, b),
			"HostBuffer.Slice": CopyInAsync(s, b, h.Slice(0, 0)),
		})
		do(t, h.Close())
	}

	for _, kernel := range []*Kernel{nil, new(Kernel)} {
		if kernel.Name() != "" || kernel.String() != "" || len(kernel.Params()) != 0 {
			t.Error("a kernel that was not made describes itself")
		}
		areInvalid(t, map[string]error{
			"Kernel.Begin":   second(kernel.Begin(s, g)),
			"Kernel.Launch":  kernel.Launch(s, g, 1),
			"Kernel.Prepare": kernel.Prepare(d),
		})
	}

	ended := must[*Launch](t)(k.Begin(s, g))
	if err := ended.End(); err == nil {
		t.Error("a launch without arguments ran")
	}
	for _, l := range []*Launch{nil, new(Launch), ended} {
		Arg(l, 1)
		SliceArg(l, b)
		areInvalid(t, map[string]error{"Launch.End": l.End()})
	}

	if got := new(Grid).Shared(1).String(); got == "" {
		t.Error("the zero grid has no text")
	}
	areInvalid(t, map[string]error{"zero grid": k.Launch(s, Grid{}, float32(1), 4, b, b)})
	closeAll(t, b, event, d)
}

func areInvalid(t *testing.T, results map[string]error) {
	t.Helper()
	for name, err := range results {
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestANilContextWaitsWithoutAnEnd(t *testing.T) {
	var ctx context.Context
	everyDevice(t, func(t *testing.T, d *Device) {
		s := must[*Stream](t)(d.NewStream(ctx))
		b, e := upload(t, s, 1, 2), must[*Event](t)(d.NewEvent())
		host := make([]int, 2)
		do(t, s.Record(e))
		do(t, e.Synchronize(ctx))
		do(t, s.Synchronize(ctx))
		do(t, d.Synchronize(ctx))
		do(t, Download(ctx, s, host, b))
		if host[1] != 2 {
			t.Errorf("downloaded %v", host)
		}
		closeAll(t, b, e, s)
	})
}

func TestBuffersOfTwoOpenedDevicesAreDistinguished(t *testing.T) {
	open := func(id string) *Device { return must[*Device](t)(Open(Config{Device: id})) }
	first, again, sim := open("cpu"), open("cpu"), open("sim")
	b := upload(t, first.DefaultStream(), 1)
	for want, d := range map[string]*Device{
		"gpu: fill: buffer is of another opened device (cpu was opened more than once)": again,
		"gpu: fill: buffer is of another device (cpu, not sim)":                         sim,
	} {
		if err := Fill(d.DefaultStream(), b, 2); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	closeAll(t, b, first, again, sim)
}
