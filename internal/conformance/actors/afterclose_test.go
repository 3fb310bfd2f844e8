package actors

import (
	"context"
	"sync"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/internal/driver/cuda"
	"quern.dev/internal/driver/cuda/fakecuda"
	"quern.dev/ring"
)

// TestCallsOutliveTheDevice makes calls to actors during and after the end of their
// runtime and device. The double of the driver makes each access to freed memory of the
// host a fault, as the driver does.
func TestCallsOutliveTheDevice(t *testing.T) {
	lib := fakecuda.New(1)
	lib.Blocks = 32
	defer cuda.Substitute(lib)()
	for range 10 {
		dev, err := gpu.Open(gpu.Config{Device: "cuda:0"})
		if err != nil {
			t.Fatal(err)
		}
		rt, err := ring.New(dev, ring.Config{})
		if err != nil {
			t.Fatal(err)
		}
		a, err := SpawnTwice(t.Context(), rt, ring.Options{Capacity: 4, Full: ring.Reject})
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		calls := []func(){
			func() { _ = a.Send(ctx, 1) },
			func() { _ = a.Tell(ctx, 1) },
			func() { _, _ = a.Ask(ctx, 1) },
			func() { _, _ = a.SendBatch(ctx, []int64{1, 2, 3}) },
			func() { _, _ = a.Receive(ctx) },
			func() { _ = a.Info() },
			func() { _ = rt.Stats() },
			func() { _ = a.Deactivate(); _ = a.Activate() },
		}
		var callers sync.WaitGroup
		for _, call := range calls {
			callers.Go(func() {
				for ctx.Err() == nil {
					call()
				}
			})
		}
		time.Sleep(10 * time.Millisecond)
		_ = rt.Close()
		_ = dev.Close()
		for _, call := range calls[:4] {
			call()
		}
		stop()
		callers.Wait()
		for _, call := range calls {
			call()
		}
	}
}
