package gpu

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"quern.dev/internal/driver/cuda/fakecuda"
)

// openTwo opens both devices of a driver library.
func openTwo(t *testing.T, lib *fakecuda.Library) (a, b *Device) {
	t.Helper()
	withCUDA(t, lib)
	devs := must[[]*Device](t)(OpenAll(Config{Device: "cuda"}))
	if len(devs) != 2 || devs[0].ID() != "cuda:0" || devs[1].ID() != "cuda:1" {
		t.Fatalf("opened %d devices, the first is %s", len(devs), devs[0].ID())
	}
	return devs[0], devs[1]
}

func checkLeft(t *testing.T, lib *fakecuda.Library) {
	t.Helper()
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}

func TestPeerCopiesArriveBetweenAllKindsOfDevices(t *testing.T) {
	lib := fakecuda.New(2)
	withCUDA(t, lib)
	var devs []*Device
	for _, id := range []string{"cuda:0", "cuda:1", "cuda:1", "cpu", "cpu", "sim", "sim"} {
		devs = append(devs, must[*Device](t)(Open(Config{Device: id})))
	}
	ctx := context.Background()
	const n = peerPiece/4 + 1000 // more than one piece
	host := make([]int32, n)
	for i := range host {
		host[i] = int32(i) ^ 0x5a5a
	}
	for i, from := range devs {
		src := upload(t, from.DefaultStream(), host...)
		do(t, from.Synchronize(ctx))
		for j, to := range devs {
			dst := must[*Buffer[int32]](t)(Alloc[int32](to, n))
			for name, s := range map[string]*Stream{"destination": to.DefaultStream(), "source": from.DefaultStream()} {
				do(t, Zero(to.DefaultStream(), dst))
				do(t, to.Synchronize(ctx))
				do(t, CopyPeer(s, dst.Slice(3, n), src.Slice(0, n-3)))
				do(t, s.Synchronize(ctx))
				if got := download(t, to.DefaultStream(), dst); got[2] != 0 || !slices.Equal(got[3:], host[:n-3]) {
					t.Fatalf("%s (%d) to %s (%d) on the stream of the %s: wrong elements", from.ID(), i, to.ID(), j, name)
				}
			}
			do(t, dst.Close())
		}
		do(t, src.Close())
	}
	do(t, CloseAll(devs))
	checkLeft(t, lib)
	if lib.Copied[[2]int{0, 1}] == 0 || lib.Copied[[2]int{1, 0}] == 0 {
		t.Error("the driver was not asked for copies between its devices")
	}
}

func TestDevicesKnowWhetherTheyAreLinked(t *testing.T) {
	for _, unlinked := range []bool{false, true} {
		lib := fakecuda.New(2)
		lib.Unlinked = unlinked
		a, b := openTwo(t, lib)
		again := must[*Device](t)(Open(Config{Device: "cuda:0"}))
		cpu := must[*Device](t)(Open(Config{Device: "cpu"}))
		for _, test := range []struct {
			name string
			a, b *Device
			want bool
		}{
			{"two GPUs", a, b, !unlinked},
			{"two GPUs the other way", b, a, !unlinked},
			{"the same GPU opened twice", a, again, true},
			{"a device and itself", cpu, cpu, true},
			{"a GPU and the CPU", a, cpu, false},
			{"the CPU and a GPU", cpu, a, false},
			{"a device and none", a, nil, false},
		} {
			if got := test.a.Linked(test.b); got != test.want {
				t.Errorf("unlinked %v: %s: got %v", unlinked, test.name, got)
			}
		}
		x, y := upload(t, a.DefaultStream(), 1, 2, 3), upload(t, b.DefaultStream(), 0, 0, 0)
		do(t, CopyPeer(a.DefaultStream(), y, x))
		if got := download(t, b.DefaultStream(), y); !slices.Equal(got, []int{1, 2, 3}) {
			t.Errorf("unlinked %v: copied %v", unlinked, got)
		}
		closeAll(t, x, y, a, b, again, cpu)
		checkLeft(t, lib)
	}
}

func TestBadPeerCopiesNameTheMistake(t *testing.T) {
	lib := fakecuda.New(2)
	a, b := openTwo(t, lib)
	cpu := must[*Device](t)(Open(Config{Device: "cpu"}))
	again, third := must[*Device](t)(Open(Config{Device: "cpu"})), must[*Device](t)(Open(Config{Device: "cpu"}))
	z := upload(t, again.DefaultStream(), 1, 2, 3)
	s := a.DefaultStream()
	x, y := upload(t, s, 1, 2, 3), upload(t, b.DefaultStream(), 1, 2, 3)
	closed := upload(t, s, 1, 2, 3)
	do(t, closed.Close())
	for _, test := range []struct {
		name string
		err  error
		is   error
		want string
	}{
		{"a stream of a third device", CopyPeer(cpu.DefaultStream(), x, y), ErrInvalid, "gpu: copy between devices: stream is of neither the destination's device nor the source's (cpu, not cuda:0 or cuda:1)"},
		{"a stream of a third device of the same name", CopyPeer(cpu.DefaultStream(), x, z), ErrInvalid, "gpu: copy between devices: stream is of neither the destination's device nor the source's (cpu was opened more than once)"},
		{"a stream of another device for buffers of one", CopyPeer(s, z, z), ErrInvalid, "gpu: copy between devices: stream is of another device (cuda:0, not cpu)"},
		{"a stream of another opened device for buffers of one", CopyPeer(third.DefaultStream(), z, z), ErrInvalid, "gpu: copy between devices: stream is of another opened device (cpu was opened more than once)"},
		{"different lengths", CopyPeer(s, x, y.Slice(0, 2)), ErrInvalid, "2 elements to a buffer of 3"},
		{"a nil destination", CopyPeer(s, nil, y), ErrInvalid, "gpu: copy between devices: destination: buffer is nil"},
		{"a closed source", CopyPeer(s, y, closed), ErrClosed, "source: buffer is closed"},
		{"a nil stream", CopyPeer(nil, x, y), ErrInvalid, "stream is nil"},
		{"an overlap on one device", CopyPeer(s, x.Slice(0, 2), x.Slice(1, 3)), ErrInvalid, "overlap"},
	} {
		if !errors.Is(test.err, test.is) || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, test.err)
		}
	}
	for _, function := range []string{"cuDeviceCanAccessPeer", "cuCtxEnablePeerAccess", "cuMemcpyPeerAsync", "cuEventCreate", "cuEventRecord"} {
		lib.Fail(function, fakecuda.InvalidValue)
		err := CopyPeer(s, x, y)
		if e, ok := errors.AsType[*Error](err); !ok || e.Op != function {
			t.Errorf("%s fails: %v", function, err)
		}
	}
	do(t, CopyPeer(s, x, y))
	closeAll(t, x, y, z, a, b, cpu, again, third)
	checkLeft(t, lib)
}

func TestStreamsWaitForEventsOfOtherDevices(t *testing.T) {
	lib := fakecuda.New(2)
	withCUDA(t, lib)
	var devs []*Device
	for _, id := range []string{"cuda:0", "cuda:1", "cpu", "sim"} {
		devs = append(devs, must[*Device](t)(Open(Config{Device: id})))
	}
	for _, from := range devs {
		e := must[*Event](t)(from.NewEvent())
		for _, to := range devs {
			do(t, to.DefaultStream().Wait(e)) // never recorded
			do(t, from.DefaultStream().Record(e))
			do(t, to.DefaultStream().Wait(e))
		}
		do(t, e.Close())
	}
	do(t, CloseAll(devs))
	checkLeft(t, lib)
}

// TestFreeingWaitsForCopiesOfOtherDevices closes a buffer that another device's
// stream is copying from: the driver's free waits only for its own device.
func TestFreeingWaitsForCopiesOfOtherDevices(t *testing.T) {
	lib := fakecuda.New(2)
	a, b := openTwo(t, lib)
	x, y := upload(t, a.DefaultStream(), 1), upload(t, b.DefaultStream(), 2)
	do(t, CopyPeer(a.DefaultStream(), x, y))
	lib.Fail("cuEventSynchronize", fakecuda.InvalidValue)
	if e, ok := errors.AsType[*Error](y.Close()); !ok || e.Op != "cuEventSynchronize" {
		t.Errorf("freeing did not wait for the copy: %v", e)
	}
	z := upload(t, b.DefaultStream(), 3)
	lib.Fail("cuEventSynchronize", fakecuda.InvalidValue)
	do(t, z.Close()) // no copies since
	do(t, a.Synchronize(context.Background()))
	if e := must[*Event](t)(a.NewEvent()); e.Synchronize(context.Background()) == nil {
		t.Error("freeing waited again")
	}
	do(t, y.Close())
	closeAll(t, x, a, b)
	checkLeft(t, lib)
}

func TestWhenADeviceIsLostOthersGoOn(t *testing.T) {
	k := NewKernel(saxpyInfo)
	lib := fakecuda.New(2)
	a, b := openTwo(t, lib)
	ctx := context.Background()
	x, y := upload(t, a.DefaultStream(), ramp(8)...), upload(t, b.DefaultStream(), ramp(8)...)
	second1 := must[*Stream](t)(a.NewStream(ctx))
	event := must[*Event](t)(a.NewEvent())
	do(t, launchSaxpy(k, a.DefaultStream(), Linear(8), 1, 8, x, x))
	do(t, CopyPeer(a.DefaultStream(), y, x))

	lib.Lose(0, fakecuda.LaunchFailed)
	for name, err := range map[string]error{
		"launch":          launchSaxpy(k, a.DefaultStream(), Linear(8), 1, 8, x, x),
		"synchronize":     a.Synchronize(ctx),
		"another stream":  second1.Synchronize(ctx),
		"download":        Download(ctx, a.DefaultStream(), ramp(8), x),
		"alloc":           second(Alloc[int](a, 1)),
		"record":          second1.Record(event),
		"copy from it":    CopyPeer(a.DefaultStream(), y, x),
		"copy into it":    CopyPeer(b.DefaultStream(), x, y),
		"wait for events": event.Synchronize(ctx),
	} {
		if !errors.Is(err, ErrDeviceLost) {
			t.Errorf("%s: %v", name, err)
		}
		if e, ok := errors.AsType[*Error](err); !ok || e.Name != "CUDA_ERROR_LAUNCH_FAILED" {
			t.Errorf("%s: %v has no code of the driver", name, err)
		}
	}
	err := OnEach(ctx, []*Device{a, b}, func(ctx context.Context, i int, d *Device) error { return d.Synchronize(context.Background()) })
	if !errors.Is(err, ErrDeviceLost) || !strings.HasPrefix(err.Error(), "device 0 (cuda:0): ") || strings.Contains(err.Error(), "cuda:1") {
		t.Errorf("on each: %v", err)
	}

	do(t, launchSaxpy(k, b.DefaultStream(), Linear(8), 1, 8, y, y))
	if got := download(t, b.DefaultStream(), y); got[7] != 28 {
		t.Errorf("the other device computes %v", got)
	}
	closeAll(t, x, event) // their memory is gone with the device
	if err := second1.Close(); !errors.Is(err, ErrDeviceLost) {
		t.Errorf("closing a stream whose work is lost: %v", err)
	}
	if err := a.Close(); !errors.Is(err, ErrDeviceLost) || strings.Count(err.Error(), "LAUNCH_FAILED") != 1 {
		t.Errorf("closing the device that was lost: %v", err)
	}
	do(t, a.Close())
	closeAll(t, y, b)
	checkLeft(t, lib)
}

// TestObjectsOfALostDeviceCloseWithoutErrors: the error was returned before, and
// closing the device returns it once more.
func TestObjectsOfALostDeviceCloseWithoutErrors(t *testing.T) {
	lib := fakecuda.New(2)
	a, b := openTwo(t, lib)
	s := a.DefaultStream()
	held := []interface{ Close() error }{
		must[*Buffer[int]](t)(Alloc[int](a, 10)),
		must[*Buffer[int]](t)(Acquire[int](a.Pool(), s, 10)),
		must[*HostBuffer[int]](t)(AllocHost[int](a, 10)),
		must[*Managed[int]](t)(AllocManaged[int](a, 10)),
		must[*Unified[int]](t)(NewUnified[int](a, 10)),
		must[*Event](t)(a.NewEvent()),
	}
	large := make([]int, stagingMinimum)
	x := upload(t, s, large...) // leaves staging memory
	do(t, x.Close())
	lib.Lose(0, fakecuda.LaunchFailed)
	if err := a.Synchronize(context.Background()); !errors.Is(err, ErrDeviceLost) {
		t.Fatal(err)
	}
	for _, c := range held {
		if err := c.Close(); err != nil {
			t.Errorf("closing a %T: %v", c, err)
		}
	}
	err := a.Close()
	if !errors.Is(err, ErrDeviceLost) || strings.Count(err.Error(), "LAUNCH_FAILED") != 1 {
		t.Errorf("closing the device: %v", err)
	}
	do(t, b.Close())
	checkLeft(t, lib)
}

// TestDevicesAreUsedByManyGoroutines passes values around between devices.
func TestDevicesAreUsedByManyGoroutines(t *testing.T) {
	everyFew(t, func(t *testing.T, devs []*Device) {
		const goroutines, rounds, n = 8, 20, 64
		var all sync.WaitGroup
		for g := range goroutines {
			all.Go(func() {
				if err := passAround(devs, g, rounds, n); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
}

// passAround copies values from device to device and back to the host.
func passAround(devs []*Device, g, rounds, n int) error {
	ctx := context.Background()
	d := devs[g%len(devs)]
	s, err := d.NewStream(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	want := make([]int32, n)
	for i := range want {
		want[i] = int32(g*1000 + i)
	}
	x, err := Upload(s, want)
	if err != nil {
		return err
	}
	for round := range rounds {
		next := devs[(g+round)%len(devs)]
		y, err := Alloc[int32](next, n)
		if err != nil {
			return err
		}
		to, err := next.NewStream(ctx)
		if err != nil {
			return err
		}
		copied, err := x.Device().NewEvent()
		if err != nil {
			return err
		}
		if err := errors.Join(CopyPeer(s, y, x), s.Record(copied), to.Wait(copied), copied.Close(), x.Close(), s.Close()); err != nil {
			return err
		}
		x, s = y, to
	}
	got := make([]int32, n)
	if err := errors.Join(Download(ctx, s, got, x), x.Close(), s.Close()); err != nil {
		return err
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("goroutine %d: got %v", g, got)
	}
	return nil
}
