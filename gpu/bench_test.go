package gpu

import (
	"context"
	"fmt"
	"testing"

	"quern.dev/internal/driver/cuda/fakecuda"
)

// everyDeviceB runs a benchmark on each device except the simulator.
func everyDeviceB(b *testing.B, run func(b *testing.B, d *Device)) {
	for _, info := range Devices() {
		if info.Err != nil || info.Backend == Sim {
			continue
		}
		b.Run(info.ID, func(b *testing.B) {
			d := must[*Device](b)(Open(Config{Device: info.ID}))
			run(b, d)
			do(b, d.Close())
		})
	}
}

// queueDepth is the number of launches that a GPU queues before a further one blocks.
const queueDepth = 500

// BenchmarkLaunch measures the submission of a kernel with 4 arguments.
// BenchmarkBareLaunch of internal/driver/cuda measures the driver call alone.
func BenchmarkLaunch(b *testing.B) {
	k := NewKernel(saxpyInfo)
	everyDeviceB(b, func(b *testing.B, d *Device) {
		s := d.DefaultStream()
		x, y := upload(b, s, ramp(64)...), upload(b, s, ramp(64)...)
		do(b, launchSaxpy(k, s, Linear(64), 1, 64, x, y))
		b.ReportAllocs()
		for n := 0; b.Loop(); n++ {
			if err := launchSaxpy(k, s, Linear(64), 1, 64, x, y); err != nil {
				b.Fatal(err)
			}
			if n%queueDepth == 0 {
				b.StopTimer()
				do(b, s.Synchronize(context.Background()))
				b.StartTimer()
			}
		}
		closeAll(b, x, y)
	})
}

// BenchmarkLaunchAndWait measures a launch and the wait for its end, without and
// with a context that can be cancelled.
func BenchmarkLaunchAndWait(b *testing.B) {
	k := NewKernel(saxpyInfo)
	cancellable, cancel := context.WithCancel(context.Background())
	defer cancel()
	for name, ctx := range map[string]context.Context{"background": context.Background(), "cancellable": cancellable} {
		b.Run(name, func(b *testing.B) {
			everyDeviceB(b, func(b *testing.B, d *Device) {
				s := d.DefaultStream()
				x, y := upload(b, s, ramp(64)...), upload(b, s, ramp(64)...)
				b.ReportAllocs()
				for b.Loop() {
					do(b, launchSaxpy(k, s, Linear(64), 1, 64, x, y))
					do(b, s.Synchronize(ctx))
				}
				closeAll(b, x, y)
			})
		})
	}
}

// BenchmarkTransfer measures copies from and to Go memory.
func BenchmarkTransfer(b *testing.B) {
	for _, n := range []int{1 << 10, 64 << 20} {
		host := make([]byte, n)
		b.Run(fmt.Sprintf("in/%d", n), func(b *testing.B) {
			everyDeviceB(b, func(b *testing.B, d *Device) {
				s := d.DefaultStream()
				buf := upload(b, s, host...)
				b.SetBytes(int64(n))
				for b.Loop() {
					do(b, CopyIn(s, buf, host))
				}
				closeAll(b, buf)
			})
		})
		b.Run(fmt.Sprintf("out/%d", n), func(b *testing.B) {
			everyDeviceB(b, func(b *testing.B, d *Device) {
				s := d.DefaultStream()
				buf := upload(b, s, host...)
				b.SetBytes(int64(n))
				for b.Loop() {
					do(b, Download(context.Background(), s, host, buf))
				}
				closeAll(b, buf)
			})
		})
	}
}

// BenchmarkLaunchOverhead measures what the package adds to a driver call: the driver
// here does nothing.
func BenchmarkLaunchOverhead(b *testing.B) {
	k := NewKernel(saxpyInfo)
	lib := fakecuda.New(1)
	d := openFake(b, lib)
	do(b, k.Prepare(d))
	lib.Idle = true
	s := d.DefaultStream()
	x, y := upload(b, s, ramp(64)...), upload(b, s, ramp(64)...)
	b.ReportAllocs()
	for b.Loop() {
		if err := launchSaxpy(k, s, Linear(64), 1, 64, x, y); err != nil {
			b.Fatal(err)
		}
	}
}
