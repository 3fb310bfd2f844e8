package actors

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/internal/driver/cuda"
	"quern.dev/internal/driver/cuda/fakecuda"
	"quern.dev/kernel"
	"quern.dev/ring"
)

// loaded is a runtime whose actors are busy until it is closed: with what the program
// asks, tells and sends, with each other, and with buffers that come and go beside them.
type loaded struct {
	dev     *gpu.Device
	rt      *ring.Runtime
	callers sync.WaitGroup
	stop    chan struct{}
}

func load(t *testing.T, dev *gpu.Device, config ring.Config) *loaded {
	t.Helper()
	rt, err := ring.New(dev, config)
	if err != nil {
		t.Fatal(err)
	}
	l := &loaded{dev: dev, rt: rt, stop: make(chan struct{})}
	ctx := context.Background()
	ends := func(err error) bool {
		var state *ring.StateError
		return errors.Is(err, ring.ErrClosed) || errors.As(err, &state)
	}
	repeat := func(f func() error) {
		l.callers.Go(func() {
			for {
				err := f()
				if ends(err) {
					return
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	host, err := ring.SpawnHost(ctx, rt, func(_ context.Context, _ *ring.HostContext, in, out *Message) kernel.Action {
		*out = *in
		return kernel.Reply
	}, ring.Options{})
	if err != nil {
		t.Fatal(err)
	}
	repeat(func() error { _, err := host.Ask(ctx, Message{}); return err })
	repeat(func() error { return host.Tell(ctx, Message{}) })
	for range 4 {
		a := spawned(t, ctx, rt, SpawnEcho, ring.Options{Capacity: 64})
		for range 3 {
			repeat(func() error { _, err := a.Ask(ctx, Message{}); return err })
			repeat(func() error { return a.Tell(ctx, Message{}) })
		}
		timed, cancel := context.WithTimeout(ctx, time.Minute)
		t.Cleanup(cancel)
		repeat(func() error { _, err := a.Ask(timed, Message{}); return err })
	}
	end := spawned(t, ctx, rt, SpawnCount, ring.Options{})
	for range 4 {
		x := spawned(t, ctx, rt, SpawnBounce, ring.Options{State: Match{Result: end.Ref()}})
		y := spawned(t, ctx, rt, SpawnBounce, ring.Options{State: Match{Result: end.Ref()}})
		for range 4 {
			if err := x.Tell(ctx, Ball{Back: y.Ref(), Left: 1 << 30}); err != nil {
				t.Fatal(err)
			}
		}
	}
	spawns := 0
	repeat(func() error {
		spawns++
		a, err := SpawnEcho(ctx, rt, ring.Options{Capacity: 16, Batch: 1 + spawns%8})
		if err != nil {
			return errors.Join(ring.ErrClosed, err)
		}
		if _, err := a.Ask(ctx, Message{}); err != nil {
			return err
		}
		_, err = a.Terminate(ctx)
		return err
	})
	stream, err := dev.NewStream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	repeat(func() error {
		b, err := gpu.Alloc[int32](dev, 1<<12)
		select {
		case <-l.stop:
			return errors.Join(b.Close(), ring.ErrClosed)
		default:
		}
		if err != nil {
			return ring.ErrClosed
		}
		return errors.Join(gpu.Fill(stream, b, 1), b.Close())
	})
	return l
}

// TestClosingUnderLoad: neither a runtime nor its device waits for the load to end.
func TestClosingUnderLoad(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(16))
	const most = 3 * time.Second // a launch stays for 10, and a handler has 2
	devices := map[string]func(t *testing.T) *gpu.Device{
		"double": func(t *testing.T) *gpu.Device {
			lib := fakecuda.New(1)
			lib.Blocks = 32
			t.Cleanup(cuda.Substitute(lib))
			dev, err := gpu.Open(gpu.Config{Device: "cuda:0"})
			if err != nil {
				t.Fatal(err)
			}
			return dev
		},
	}
	for _, b := range backends {
		devices[string(b)] = func(t *testing.T) *gpu.Device {
			dev, err := gpu.Open(gpu.Config{Require: b})
			if err != nil {
				t.Skipf("no %s device: %v; go tool quern doctor says what to do", b, err)
			}
			return dev
		}
	}
	closes := map[string]func(l *loaded) error{
		"runtime": func(l *loaded) error { return l.rt.Close() },
		"device":  func(l *loaded) error { return l.dev.Close() },
	}
	for name, open := range devices {
		t.Run(name, func(t *testing.T) {
			for what, end := range closes {
				t.Run(what, func(t *testing.T) {
					l := load(t, open(t), ring.Config{})
					time.Sleep(100 * time.Millisecond)
					begin := time.Now()
					err := end(l)
					took := time.Since(begin)
					var left *ring.LeftError
					var open *gpu.LeakError // the buffer that the load had at that moment
					if err != nil && !errors.As(err, &left) && !errors.As(err, &open) {
						t.Error(err)
					}
					if took > slowness*most {
						t.Errorf("closing took %v, want %v at most", took, most)
					}
					t.Log(took)
					close(l.stop)
					l.callers.Wait()
					_ = errors.Join(l.rt.Close(), l.dev.Close())
				})
			}
		})
	}
}
