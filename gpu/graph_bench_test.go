package gpu

import (
	"context"
	"testing"

	"quern.dev/internal/driver/cuda/fakecuda"
)

// BenchmarkGraph measures a graph of 64 launches, including the wait.
func BenchmarkGraph(b *testing.B) {
	k := NewKernel(saxpyInfo)
	everyDeviceB(b, func(b *testing.B, d *Device) {
		s := d.DefaultStream()
		x, y := upload(b, s, ramp(64)...), upload(b, s, ramp(64)...)
		_, e := captured(b, d, func(s *Stream) error {
			for range 64 {
				if err := launchSaxpy(k, s, Linear(64), 1, 64, x, y); err != nil {
					return err
				}
			}
			return nil
		})
		b.ReportAllocs()
		for b.Loop() {
			do(b, e.Launch(s))
			do(b, s.Synchronize(context.Background()))
		}
		closeAll(b, e, x, y)
	})
}

func TestRunningAGraphDoesNotAllocate(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates: run it without -race")
	}
	k := NewKernel(saxpyInfo)
	lib := fakecuda.New(1)
	d := openFake(t, lib)
	s := d.DefaultStream()
	x := upload(t, s, ramp(8)...)
	_, e := captured(t, d, func(s *Stream) error { return launchSaxpy(k, s, Linear(8), 1, 8, x, x) })
	do(t, e.Launch(s))
	lib.Idle = true
	if n := testing.AllocsPerRun(100, func() {
		if err := e.Launch(s); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a run", n)
	}
	lib.Idle = false
	closeAll(t, e, x, d)
}
