package gpu

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"quern.dev/internal/driver/cuda/fakecuda"
)

func TestEventsMeasureAndOrder(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		ctx := context.Background()
		s, other := d.DefaultStream(), must[*Stream](t)(d.NewStream(ctx))
		start, end := must[*Event](t)(d.NewEvent()), must[*Event](t)(d.NewEvent())
		x, y := upload(t, s, ramp(64)...), upload(t, s, ramp(64)...)

		do(t, other.Wait(end)) // never recorded: counts as reached
		do(t, end.Synchronize(ctx))
		do(t, s.Record(start))
		do(t, launchSaxpy(k, s, Linear(64), 1, 64, x, y))
		do(t, s.Record(end))
		do(t, other.Wait(end))
		if got := download(t, other, y)[63]; got != 126 {
			t.Errorf("a stream that waited for the launch reads %v, want 126", got)
		}
		do(t, end.Synchronize(ctx))
		if done := must[bool](t)(end.Done()); !done {
			t.Error("an event that was waited for is not done")
		}
		if took := must[time.Duration](t)(Elapsed(start, end)); took < 0 || took > time.Minute {
			t.Errorf("the launch took %v", took)
		}
		if d.DefaultStream() != s || s.Device() != d {
			t.Error("a stream does not know its device")
		}
		closeAll(t, start, start, end, other, other, x, y)
	})
}

func TestBadStreamAndEventCallsNameTheMistake(t *testing.T) {
	everyDevice(t, func(t *testing.T, d *Device) {
		ctx := context.Background()
		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		other := must[*Device](t)(Open(Config{Device: "cpu"}))
		defer other.Close()
		s := d.DefaultStream()
		closedStream := must[*Stream](t)(d.NewStream(ctx))
		event, closed := must[*Event](t)(d.NewEvent()), must[*Event](t)(d.NewEvent())
		foreign := must[*Event](t)(other.NewEvent())
		b := upload(t, s, 1)
		closeAll(t, closedStream, closed)
		tests := []struct {
			name string
			err  error
			is   error
			want string
		}{
			{"wait on a closed stream", closedStream.Synchronize(ctx), ErrClosed, "gpu: synchronize: stream is closed"},
			{"wait on a nil stream", (*Stream)(nil).Synchronize(ctx), ErrInvalid, "stream is nil"},
			{"cancelled wait for a stream", s.Synchronize(cancelled), context.Canceled, "gpu: synchronize: context canceled"},
			{"cancelled wait for a device", d.Synchronize(cancelled), context.Canceled, "context canceled"},
			{"cancelled wait for an event", event.Synchronize(cancelled), context.Canceled, "gpu: synchronize event: context canceled"},
			{"cancelled download", Download(cancelled, s, make([]int, 1), b), context.Canceled, "gpu: download: context canceled"},
			{"cancelled new stream", second(d.NewStream(cancelled)), context.Canceled, "gpu: new stream: context canceled"},
			{"record of a closed event", s.Record(closed), ErrClosed, "gpu: record event: event is closed"},
			{"record of a nil event", s.Record(nil), ErrInvalid, "gpu: record event: event is nil"},
			{"record of another device's event", s.Record(foreign), ErrInvalid, "event is of another "},
			{"wait for a closed event", closed.Synchronize(ctx), ErrClosed, "event is closed"},
			{"time to an event that was never recorded", second(Elapsed(event, event)), ErrInvalid, "gpu: elapsed time: event was never recorded"},
			{"time from a closed event", second(Elapsed(closed, event)), ErrClosed, "gpu: elapsed time: start: event is closed"},
			{"time between devices", second(Elapsed(event, foreign)), ErrInvalid, "gpu: elapsed time: end: event is of another "},
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
		closeAll(t, event, foreign, b, (*Event)(nil), (*Stream)(nil))
	})
}

func TestCancellingAWaitLeavesTheWorkAlone(t *testing.T) {
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := must[*Stream](t)(d.NewStream(context.Background()))
	e := must[*Event](t)(d.NewEvent())
	do(t, s.Record(e))
	lib.Busy = make(chan struct{})
	for name, wait := range map[string]func(context.Context) error{"stream": s.Synchronize, "event": e.Synchronize} {
		ctx, cancel := context.WithCancel(context.Background())
		result := make(chan error)
		go func() { result <- wait(ctx) }()
		cancel()
		if err := <-result; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if done := must[bool](t)(e.Done()); done {
		t.Error("the event is done while its stream is busy")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	if err := s.Synchronize(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a wait with a deadline: %v", err)
	}
	close(lib.Busy)
	do(t, s.Synchronize(context.Background()))
	closeAll(t, e, s, d)
	if left := lib.Left(); left != "" {
		t.Errorf("left in the driver: %s", left)
	}
}

func TestClosingAStreamReturnsAPendingFault(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		s := must[*Stream](t)(d.NewStream(context.Background()))
		x := upload(t, s, 1, float32(2))
		do(t, launchSaxpy(k, s, Blocks(Dim3{X: 1}, Dim3{X: 3}), 1, 3, x, x))
		if _, ok := errors.AsType[*KernelError](s.Close()); !ok {
			t.Error("Close returned no fault")
		}
		do(t, s.Close())
		do(t, d.Synchronize(context.Background()))
		closeAll(t, x)
	})
}

func TestAClosedDeviceRefusesEverything(t *testing.T) {
	k := NewKernel(saxpyInfo)
	everyDevice(t, func(t *testing.T, d *Device) {
		s := d.DefaultStream()
		e := must[*Event](t)(d.NewEvent())
		x := upload(t, s, 1, float32(2))
		do(t, x.Close())
		do(t, d.Close())
		if free, total := d.Memory(); free != 0 || total != 0 {
			t.Errorf("a closed device has %d of %d bytes free", free, total)
		}
		for name, err := range map[string]error{
			"alloc":       second(Alloc[int](d, 1)),
			"new stream":  second(d.NewStream(context.Background())),
			"new event":   second(d.NewEvent()),
			"event":       e.Synchronize(context.Background()),
			"synchronize": d.Synchronize(context.Background()),
			"stream":      s.Synchronize(context.Background()),
			"prepare":     k.Prepare(d),
		} {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("%s: %v", name, err)
			}
		}
		do(t, e.Close())
		if d.Name() == "" || d.ID() == "" {
			t.Error("a closed device does not know its name")
		}
	})
}
