package actors

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"quern.dev/gpu"
	"quern.dev/internal/conformance/elementwise"
	"quern.dev/internal/conformance/output"
	"quern.dev/internal/driver/cuda"
	"quern.dev/internal/driver/cuda/fakecuda"
	"quern.dev/ring"
)

// operation is what a program does with the device.
type operation struct {
	name   string
	pauses pausing
	do     func() error
}

// pausing says whether actors make way for an operation.
type pausing int

const (
	never pausing = iota
	always
	atTimes // the first time, or with some drivers
)

// closing gives a program's memory back that it has made before.
func closing[C io.Closer](list []C) func() error {
	return func() error {
		first := list[0]
		list = list[1:]
		return first.Close()
	}
}

// makeWay has the actors of a device make way, as they do for what their driver
// frees.
func makeWay(dev *gpu.Device) error {
	h, err := gpu.RegisterHost(dev, make([]uint64, 1<<10))
	if err != nil {
		return err
	}
	return h.Close()
}

// operations are those for which the driver has functions, some of which wait for
// resident kernels.
func operations(ctx context.Context, dev *gpu.Device) []operation {
	s := dev.DefaultStream()
	data := make([]float64, 1<<14)
	opened := func(c io.Closer, err error) error {
		if err != nil {
			return err
		}
		return c.Close()
	}
	loads := 0
	scaled := func(x *gpu.Buffer[float64], on *gpu.Stream) error {
		return elementwise.LaunchSquare(on, gpu.Linear(x.Len()), x)
	}
	with := func(f func(x *gpu.Buffer[float64]) error) func() error {
		return func() error {
			x, err := gpu.Upload(s, data)
			if err != nil {
				return err
			}
			return errors.Join(f(x), x.Close())
		}
	}
	return []operation{
		{"memory", never, func() error { return opened(gpu.Alloc[float32](dev, 1<<18)) }},
		{"memory of the host", never, func() error { return opened(gpu.AllocHost[float32](dev, 1<<16)) }},
		{"a registration", always, func() error { return opened(gpu.RegisterHost(dev, data)) }},
		{"managed memory", always, func() error { return opened(gpu.AllocManaged[float32](dev, 1<<12)) }},
		{"copies", never, with(func(x *gpu.Buffer[float64]) error { return gpu.Download(ctx, s, data, x) })},
		{"copies of page-locked memory", never, with(func(x *gpu.Buffer[float64]) error {
			h, err := gpu.AllocHost[float64](dev, len(data))
			if err != nil {
				return err
			}
			return errors.Join(gpu.CopyInAsync(s, x, h), gpu.CopyOutAsync(s, h, x), s.Synchronize(ctx), h.Close())
		})},
		{"a fill", never, with(func(x *gpu.Buffer[float64]) error { return errors.Join(gpu.Fill(s, x, 3), s.Synchronize(ctx)) })},
		{"a launch", atTimes, with(func(x *gpu.Buffer[float64]) error { return errors.Join(scaled(x, s), s.Synchronize(ctx)) })},
		{"a stream that is closed with work", never, with(func(x *gpu.Buffer[float64]) error {
			other, err := dev.NewStream(ctx)
			if err != nil {
				return err
			}
			return errors.Join(scaled(x, other), other.Close())
		})},
		{"an event", never, func() error {
			e, err := dev.NewEvent()
			if err != nil {
				return err
			}
			return errors.Join(s.Record(e), e.Synchronize(ctx), e.Close())
		}},
		{"the amount of memory", never, func() error {
			if free, total := dev.Memory(); free <= 0 || free > total {
				return fmt.Errorf("%d bytes of %d are free", free, total)
			}
			return nil
		}},
		{"a pool", never, func() error {
			p, err := dev.NewPool(gpu.PoolConfig{})
			if err != nil {
				return err
			}
			x, err := gpu.Acquire[float64](p, s, 1<<12)
			if err == nil {
				err = errors.Join(scaled(x, s), x.Close())
			}
			return errors.Join(err, s.Synchronize(ctx), p.Trim(), p.Close())
		}},
		{"a kernel that is compiled, loaded and launched", always, with(func(x *gpu.Buffer[float64]) error {
			loads++
			k, err := dev.Compile(ctx, fmt.Sprintf(`package main

import "quern.dev/kernel"

//quern:kernel
func fresh(t kernel.Thread, x []float64) {
	if i := t.Global(); i < len(x) {
		x[i] = x[i]*%d + %d
	}
}`, rand.Uint32(), loads), "")
			if err != nil {
				return err
			}
			return errors.Join(k.Launch(s, gpu.Linear(x.Len()), x), s.Synchronize(ctx))
		})},
		{"a graph", atTimes, with(func(x *gpu.Buffer[float64]) error {
			g, err := dev.Capture(func(s *gpu.Stream) error { return errors.Join(scaled(x, s), gpu.Fill(s, x, 1)) })
			if err != nil {
				return err
			}
			e, err := g.Instantiate()
			if err != nil {
				return err
			}
			update := func(s *gpu.Stream) error { return gpu.Fill(s, x, 2) }
			return errors.Join(e.Launch(s), e.Update(g.Nodes()[1], update), e.Launch(s), s.Synchronize(ctx), e.Close())
		})},
		{"a texture", always, func() error {
			return opened(gpu.NewTexture2D[float32](s, 64, 64, make([]float32, 64*64), gpu.TextureOptions{}))
		}},
		{"a function in a stream", never, func() error { return errors.Join(s.Call(func() error { return nil }), s.Synchronize(ctx)) }},
		{"a kernel that prints", atTimes, func() error { return errors.Join(output.LaunchChatter(s, gpu.Linear(32), 2), s.Synchronize(ctx)) }},
	}
}

// maxPause is how long half of the pauses for something may be, at most. Percentiles
// are too large by a quarter, and putting a kernel into the context is more than 0.1 ms
// of the driver's own.
func maxPause(cause string) time.Duration {
	if cause == "load module" {
		return 300 * time.Microsecond
	}
	return 200 * time.Microsecond
}

func TestOperationsBesideActors(t *testing.T) {
	t.Run("double", func(t *testing.T) {
		lib := fakecuda.New(1)
		lib.Blocks = 32
		t.Cleanup(cuda.Substitute(lib))
		besideActors(t, 2, 1)
	})
	t.Run("cuda", func(t *testing.T) { besideActors(t, 8, 20) })
}

// besideActors does each operation some times while actors are asked.
func besideActors(t *testing.T, actors, times int) {
	dev, err := gpu.Open(gpu.Config{Require: gpu.CUDA, Output: io.Discard})
	if err != nil {
		t.Skipf("needs a GPU: %v; go tool quern doctor says what to do", err)
	}
	var buffers []*gpu.Buffer[float32]
	var hosts []*gpu.HostBuffer[byte]
	for range times {
		b, err := gpu.Alloc[float32](dev, 1<<18)
		if err != nil {
			t.Fatal(err)
		}
		h, err := gpu.AllocHost[byte](dev, 100) // of a size that is not kept
		if err != nil {
			t.Fatal(err)
		}
		buffers, hosts = append(buffers, b), append(hosts, h)
	}
	rt, err := ring.New(dev, ring.Config{})
	if err != nil {
		t.Fatal(err)
	}
	ctx := within(t, 60*time.Second)
	var stop atomic.Bool
	var asking sync.WaitGroup
	worst := make([]atomic.Int64, actors)
	for k := range actors {
		a, err := SpawnEcho(ctx, rt, ring.Options{})
		if err != nil {
			t.Fatal(err)
		}
		asking.Go(func() {
			i := uint32(0)
			for ; !stop.Load(); i++ {
				begin := time.Now()
				r, err := a.Ask(ctx, Message{[16]uint32{i, 15: i}})
				if err != nil || r.Words[0] != i+1 || r.Words[15] != i+1 {
					t.Errorf("actor %d, message %d: %d, %v", k, i, r.Words[0], err)
					return
				}
				if took := int64(time.Since(begin)); took > worst[k].Load() {
					worst[k].Store(took)
				}
			}
			if info := a.Info(); info.Accepted != uint64(i) || info.Queued != 0 {
				t.Errorf("actor %d: %d messages were accepted and %d are queued of %d", k, info.Accepted, info.Queued, i)
			}
		})
	}
	for _, op := range append(operations(ctx, dev),
		operation{"memory of before there were actors", always, closing(buffers)},
		operation{"memory of the host of before", always, closing(hosts)},
	) {
		for k := range worst {
			worst[k].Store(0)
		}
		before := pausesOf(rt)
		var first, rest time.Duration
		for i := range times {
			begin := time.Now()
			if err := op.do(); err != nil {
				t.Errorf("%s: %v", op.name, err)
			}
			took := time.Since(begin)
			if took > slowness*5*time.Second {
				t.Errorf("%s took %v", op.name, took)
			}
			if i == 0 {
				first = took
			} else {
				rest += took / time.Duration(times-1)
			}
		}
		longest := time.Duration(0)
		for k := range worst {
			longest = max(longest, time.Duration(worst[k].Load()))
		}
		pauses := pausesOf(rt) - before
		if op.pauses == never && pauses > 0 || op.pauses == always && pauses < uint64(times) {
			t.Errorf("%s: %d pauses in %d times", op.name, pauses, times)
		}
		t.Logf("%-48s first %10v, then %10v; %3d pauses; longest ask %v", op.name, first, rest, pauses, longest)
	}
	stop.Store(true)
	asking.Wait()
	for _, p := range rt.Stats().Pauses {
		t.Logf("pauses for %q: %+v", p.Cause, p.Duration)
		if times > 1 && p.Duration.P50 > maxPause(p.Cause) {
			t.Errorf("half of the pauses for %q took more than %v", p.Cause, p.Duration.P50)
		}
	}
	if err := errors.Join(rt.Close(), dev.Close()); err != nil {
		t.Error(err)
	}
}

// pausesOf counts the pauses of a runtime's actors.
func pausesOf(rt *ring.Runtime) (n uint64) {
	for _, p := range rt.Stats().Pauses {
		n += p.Duration.Count
	}
	return n
}
