package ringbench

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"quern.dev/gpu"
	"quern.dev/ring"
)

// disturbance is an operation that a program performs several times while actors run. Most
// of these operations wait for an idle GPU, so the actors must pause.
type disturbance struct {
	name   string
	times  int
	before func() error // runs once before there are actors; may be nil
	do     func() error
}

// disturbances returns the operations to measure, with the given numbers of buffers and
// kernels.
func disturbances(ctx context.Context, dev *gpu.Device, buffers, kernels int) []disturbance {
	var old []*gpu.Buffer[byte]
	var fresh []*gpu.Kernel // not loaded yet
	return []disturbance{
		{"a buffer", buffers, nil, func() error {
			b, err := gpu.Alloc[byte](dev, 1<<20)
			if err != nil {
				return err
			}
			return b.Close()
		}},
		{"a page-locked buffer", buffers, nil, func() error {
			h, err := gpu.AllocHost[byte](dev, 1<<16)
			if err != nil {
				return err
			}
			return h.Close()
		}},
		{"freeing an older buffer", buffers, func() error {
			for range buffers {
				b, err := gpu.Alloc[byte](dev, 1<<20)
				if err != nil {
					return err
				}
				old = append(old, b)
			}
			return nil
		}, func() error {
			b := old[0]
			old = old[1:]
			return b.Close()
		}},
		{"a mapped host buffer", buffers, nil, func() error {
			h, err := gpu.AllocHost[byte](dev, 1<<16)
			if err != nil {
				return err
			}
			_, err = h.Mapped()
			return errors.Join(err, h.Close())
		}},
		{"a new kernel", kernels, func() error {
			for range kernels {
				k, err := dev.Compile(ctx, fmt.Sprintf(`package main

import "quern.dev/kernel"

//quern:kernel
func fresh(t kernel.Thread, x []uint32) {
	if i := t.Global(); i < len(x) {
		x[i] = x[i]*%d + 1
	}
}`, rand.Uint32()), "")
				if err != nil {
					return err
				}
				fresh = append(fresh, k)
			}
			return nil
		}, func() error {
			k := fresh[0]
			fresh = fresh[1:]
			x, err := gpu.Alloc[uint32](dev, 1)
			if err != nil {
				return err
			}
			s := dev.DefaultStream()
			return errors.Join(k.Launch(s, gpu.Linear(x.Len()), x), s.Synchronize(ctx), x.Close())
		}},
	}
}

// checkPauses has actors handle asks and pause for operations that wait for an idle GPU.
func checkPauses(ctx context.Context, c *Checker) error {
	for _, d := range disturbances(ctx, c.Device, 200, 100) {
		if err := c.disturb(ctx, d); err != nil {
			return fmt.Errorf("%s: %w", d.name, err)
		}
	}
	return nil
}

// disturb measures how long the actors of a runtime pause for an operation.
func (c *Checker) disturb(ctx context.Context, d disturbance) (err error) {
	const actors = 8
	if d.before != nil {
		if err := d.before(); err != nil {
			return err
		}
	}
	rt, err := ring.New(c.Device, ring.Config{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rt.Close()) }()
	e := kinds[1].make(rt)
	if err := e.spawn(ctx, actors); err != nil {
		return err
	}
	asking, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	errs := make([]error, actors)
	for i := range actors {
		ask := e.asker(i)
		wg.Go(func() {
			for n := uint32(0); asking.Err() == nil; n++ {
				if err := ask(ctx, n); err != nil {
					errs[i] = err
					return
				}
			}
		})
	}
	var took durations
	for range d.times {
		begin := time.Now()
		if err = d.do(); err != nil {
			break
		}
		took = append(took, time.Since(begin))
	}
	stop()
	wg.Wait()
	if err = errors.Join(err, errors.Join(errs...)); err != nil {
		return err
	}
	took.sort()
	c.Add(d.name+" while 8 actors are busy, p50", micro(took.at(0.5)), "µs", [2]*Goal{})
	c.Add(d.name+" while 8 actors are busy, p99", micro(took.at(0.99)), "µs", [2]*Goal{})
	if c.Device.Backend() != gpu.CUDA { // no operation waits for an idle device
		return nil
	}
	pauses := uint64(0)
	for _, p := range rt.Stats().Pauses {
		pauses += p.Duration.Count
		c.Add(fmt.Sprintf("pause for %s (%s), p50", d.name, p.Cause), micro(p.Duration.P50), "µs", AtMost(200, 200))
		c.Add(fmt.Sprintf("pause for %s (%s), p99", d.name, p.Cause), micro(p.Duration.P99), "µs", AtMost(200, 200))
		for _, part := range []struct {
			name string
			took ring.Durations
		}{
			{"until the loops leave", p.Leaving}, {"until the launches end", p.Ending}, {"the driver's call", p.Away}, {"launching again", p.Beginning},
		} {
			c.Add("  of it "+part.name+", p50", micro(part.took.P50), "µs", [2]*Goal{})
			c.Add("  of it "+part.name+", p99", micro(part.took.P99), "µs", [2]*Goal{})
		}
	}
	c.Add(fmt.Sprintf("pauses for %d times %s", d.times, d.name), float64(pauses), "", [2]*Goal{})
	return nil
}
