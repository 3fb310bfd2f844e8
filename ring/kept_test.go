package ring_test

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/kernel"
	"quern.dev/ring"
)

// heap returns the number of bytes in use after a collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestHostActorsThatHaveEndedKeepLittleMemory(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	one := func() {
		a := spawn(t, rt, ring.Options{}, double)
		a.Ref()
		if r, err := a.Ask(ctx, 4); r != 8 || err != nil {
			t.Fatal(r, err)
		}
		if _, err := a.Terminate(ctx); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		one()
	}
	const n, most = 200, 2 << 10
	before := heap()
	for range n {
		one()
	}
	if grown := (int64(heap()) - int64(before)) / n; grown > most {
		t.Errorf("an actor that has ended keeps %d bytes, want %d at most", grown, most)
	}
}

func TestClosedRuntimesAreCollected(t *testing.T) {
	dev, err := gpu.Open(gpu.Config{Require: gpu.CPU})
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	collected := make(chan struct{})
	func() {
		rt, err := ring.New(dev, ring.Config{})
		if err != nil {
			t.Fatal(err)
		}
		runtime.AddCleanup(rt, func(c chan struct{}) { close(c) }, collected)
		a := spawn(t, rt, ring.Options{}, double)
		if _, err := a.Ask(within(t), 1); err != nil {
			t.Fatal(err)
		}
		if err := rt.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	for begin := time.Now(); time.Since(begin) < 3*time.Second; time.Sleep(10 * time.Millisecond) {
		runtime.GC()
		select {
		case <-collected:
			return
		default:
		}
	}
	t.Error("the runtime is kept after it was closed")
}

// TestPayloadsMadeWhileTheRuntimeIsClosed: the memory is freed in either order. If it were
// not, closing the device would return an error.
func TestPayloadsMadeWhileTheRuntimeIsClosed(t *testing.T) {
	for range 200 {
		dev, err := gpu.Open(gpu.Config{Require: gpu.CPU})
		if err != nil {
			t.Fatal(err)
		}
		rt, err := ring.New(dev, ring.Config{PayloadBytes: 1 << 12})
		if err != nil {
			t.Fatal(err)
		}
		var makers sync.WaitGroup
		begin := make(chan struct{})
		for range 3 {
			makers.Go(func() {
				<-begin
				p, err := ring.NewPayload[int32](rt, 1)
				if err != nil && !errors.Is(err, ring.ErrClosed) {
					t.Error(err)
				}
				if err == nil {
					p.Release()
				}
			})
		}
		close(begin)
		runtime.Gosched()
		var leak *ring.PayloadLeakError
		if err := rt.Close(); err != nil && !errors.As(err, &leak) {
			t.Error(err)
		}
		makers.Wait()
		if err := dev.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTracesAreWrittenWhileTheyAreRecorded is a test for the race detector.
func TestTracesAreWrittenWhileTheyAreRecorded(t *testing.T) {
	rt, ctx := open(t, ring.Config{}), within(t)
	trace, err := rt.StartTrace(64)
	if err != nil {
		t.Fatal(err)
	}
	a := spawn(t, rt, ring.Options{}, func(_ context.Context, _ *ring.HostContext, in, out *int) kernel.Action {
		*out = *in
		return kernel.Reply
	})
	stop := make(chan struct{})
	var asker sync.WaitGroup
	asker.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := a.Ask(ctx, i); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for trace.Lost() == 0 {
		runtime.Gosched()
	}
	for range 20 {
		var b bytes.Buffer
		if _, err := trace.WriteTo(&b); err != nil || !strings.Contains(b.String(), "traceEvents") {
			t.Error(err)
		}
	}
	close(stop)
	asker.Wait()
	trace.Stop()
}
