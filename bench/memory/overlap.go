package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"quern.dev/bench/kernels"
	"quern.dev/gpu"
)

func init() { register("overlap", measureOverlap) }

const (
	overlapElements = 4 << 20 // of an item: 16 MiB
	overlapItems    = 200
	overlapLanes    = 4
	overlapRounds   = 5
)

// stages is what an item needs: a copy in of all its elements, launches over all
// of them, a copy out of some.
type stages struct {
	dev      *gpu.Device
	launches int
	out      int // elements
	lanes    [overlapLanes]overlapLane
}

type overlapLane struct {
	in, out *gpu.HostBuffer[float32]
	x, y    *gpu.Buffer[float32]
}

// measureOverlap compares pipelines with the slowest of their stages alone.
func measureOverlap(r *run) (err error) {
	p := &stages{dev: r.dev, launches: 1, out: overlapElements}
	defer func() { err = errors.Join(err, p.close()) }()
	if err := p.open(); err != nil {
		return err
	}
	up, err := r.alone("upload of an item", p, p.upload)
	if err != nil {
		return err
	}
	one, err := r.alone("a kernel of an item", p, p.compute)
	if err != nil {
		return err
	}
	for _, c := range []struct {
		name     string
		launches float64
		out      int
	}{
		{"kernels as long as the copies", up.Seconds() / one.Seconds(), overlapElements},
		{"kernels twice as long as the copies", 2 * up.Seconds() / one.Seconds(), overlapElements},
		{"one kernel, a short result", 1, overlapElements / 64},
		{"one kernel, a result as long as the item", 1, overlapElements},
	} {
		p.launches, p.out = max(1, int(c.launches+0.5)), c.out
		if err := r.pipeline(c.name, p); err != nil {
			return err
		}
	}
	return r.slices(p)
}

// pipeline measures the stages of p apart and together.
func (r *run) pipeline(name string, p *stages) error {
	fmt.Printf("  %s: %d launches, result of %d KiB\n", name, p.launches, p.out*4>>10)
	slowest := time.Duration(0)
	for _, stage := range []struct {
		name string
		do   func(*gpu.Stream, *overlapLane) error
	}{{"  upload", p.upload}, {"  kernels", p.compute}, {"  download", p.download}} {
		took, err := r.alone(stage.name, p, stage.do)
		if err != nil {
			return err
		}
		slowest = max(slowest, took)
	}
	inTurn, err := r.alone("  one after the other", p, p.all)
	if err != nil {
		return err
	}
	took, err := median(overlapRounds, func() error { return p.overlap(r.ctx) })
	if err != nil {
		return err
	}
	took /= overlapItems
	r.show("  overlapped", micros(took), "us/item")
	r.show("  faster than one after the other", inTurn.Seconds()/took.Seconds(), "x")
	r.atLeast("overlap of the slowest stage: "+name, slowest.Seconds()/took.Seconds(), 0.9, "")
	return nil
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// alone measures one stage of all items on one stream, for each item.
func (r *run) alone(name string, p *stages, do func(*gpu.Stream, *overlapLane) error) (time.Duration, error) {
	s := p.dev.DefaultStream()
	took, err := median(overlapRounds, func() error {
		for i := range overlapItems {
			if err := do(s, &p.lanes[i%overlapLanes]); err != nil {
				return err
			}
		}
		return s.Synchronize(r.ctx)
	})
	took /= overlapItems
	r.show(name, micros(took), "us/item")
	return took, err
}

func (p *stages) open() error {
	for i := range p.lanes {
		l := &p.lanes[i]
		var errs [4]error
		l.in, errs[0] = gpu.AllocHost[float32](p.dev, overlapElements)
		l.out, errs[1] = gpu.AllocHost[float32](p.dev, overlapElements)
		l.x, errs[2] = gpu.Alloc[float32](p.dev, overlapElements)
		l.y, errs[3] = gpu.Alloc[float32](p.dev, overlapElements)
		if err := errors.Join(errs[:]...); err != nil {
			return err
		}
		for j := range l.in.Data() {
			l.in.Data()[j] = 1
		}
	}
	return nil
}

func (p *stages) close() error {
	var errs []error
	for _, l := range p.lanes {
		errs = append(errs, l.in.Close(), l.out.Close(), l.x.Close(), l.y.Close())
	}
	return errors.Join(errs...)
}

func (p *stages) upload(s *gpu.Stream, l *overlapLane) error { return gpu.CopyInAsync(s, l.x, l.in) }

func (p *stages) compute(s *gpu.Stream, l *overlapLane) error {
	if err := gpu.Zero(s, l.y); err != nil {
		return err
	}
	for range p.launches {
		if err := kernels.LaunchSaxpy(s, gpu.Linear(overlapElements), 2, l.x, l.y); err != nil {
			return err
		}
	}
	return nil
}

func (p *stages) download(s *gpu.Stream, l *overlapLane) error {
	return gpu.CopyOutAsync(s, l.out.Slice(0, p.out), l.y.Slice(0, p.out))
}

func (p *stages) all(s *gpu.Stream, l *overlapLane) error {
	return errors.Join(p.upload(s, l), p.compute(s, l), p.download(s, l))
}

// overlap passes all items through a pipeline and checks the results.
func (p *stages) overlap(ctx context.Context) error {
	work := func(s *gpu.Stream, i, _ int) (func() (*gpu.HostBuffer[float32], error), error) {
		l := &p.lanes[i]
		return func() (*gpu.HostBuffer[float32], error) { return l.out, nil }, p.all(s, l)
	}
	want := float32(2 * p.launches)
	for out, err := range gpu.Overlap(ctx, p.dev, overlapLanes, items(overlapItems), work) {
		if err != nil {
			return err
		}
		if first, last := out.Data()[0], out.Data()[p.out-1]; first != want || last != want {
			return fmt.Errorf("the result is %v ... %v, want %v", first, last, want)
		}
	}
	return nil
}

func items(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// slices measures a pipeline that takes Go slices.
func (r *run) slices(p *stages) error {
	host := make([]float32, 16*overlapElements)
	for i := range host {
		host[i] = 1
	}
	passes := overlapItems / 16
	took, err := median(overlapRounds, func() error {
		chunks := func(yield func([]float32) bool) {
			for range passes {
				for c := range slices.Chunk(host, overlapElements) {
					if !yield(c) {
						return
					}
				}
			}
		}
		for out, err := range gpu.OverlapSlices(r.ctx, p.dev, overlapLanes, overlapElements, overlapElements, chunks,
			func(s *gpu.Stream, out, in *gpu.Buffer[float32]) (*gpu.Buffer[float32], error) {
				return out, errors.Join(gpu.Zero(s, out), kernels.LaunchSaxpy(s, gpu.Linear(in.Len()), 2, in, out))
			}) {
			if err != nil {
				return err
			}
			if out[overlapElements-1] != 2 {
				return fmt.Errorf("the result is %v, want 2", out[overlapElements-1])
			}
		}
		return nil
	})
	r.show("slices of Go memory, with their buffers", micros(took/time.Duration(16*passes)), "us/item")
	return err
}
