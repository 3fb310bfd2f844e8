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
	overlapElements = 4 << 20 // per item: 16 MiB
	overlapItems    = 400     // on a GPU
	overlapFew      = 8       // on other devices, where nothing overlaps
	overlapLanes    = 4
	overlapRounds   = 3

	// The kernel of an item is a matrix product of this size. It computes more than it
	// moves, so kernels of several lanes do not compete for the caches.
	overlapSize = 512
)

// stages describes the work of an item: a copy in of all its elements, launches over some
// of them, and a copy out of some results.
type stages struct {
	dev      *gpu.Device
	items    int
	launches int
	out      int // elements
	lanes    [overlapLanes]overlapLane
}

type overlapLane struct {
	in, out *gpu.HostBuffer[float32]
	x, y    *gpu.Buffer[float32]
}

// measureOverlap compares pipelines with their slowest stage alone.
func measureOverlap(r *run) (err error) {
	p := &stages{dev: r.dev, items: overlapFew, launches: 1, out: overlapElements}
	if r.dev.Backend() == gpu.CUDA {
		p.items = overlapItems
	}
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
		{"long kernels", 2 * up.Seconds() / one.Seconds(), overlapElements},
		{"kernels as long as the upload, half as much back", up.Seconds() / one.Seconds(), overlapElements / 2},
		{"short kernels, short results", 1, overlapElements / 16},
		{"short kernels, as much back", 1, overlapElements},
	} {
		p.launches, p.out = max(1, int(c.launches+0.5)), c.out
		if err := r.pipeline(c.name, p); err != nil {
			return err
		}
	}
	return r.slices(p)
}

// pipeline measures the stages of p separately and together. Copies in both directions
// that saturate the link count as one stage, because each one alone is faster than both
// together.
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
	both, err := r.bothCopies(p)
	if err != nil {
		return err
	}
	inTurn, err := r.alone("  sequential", p, p.all)
	if err != nil {
		return err
	}
	took, err := median(overlapRounds, func() error { return p.overlap(r.ctx) })
	if err != nil {
		return err
	}
	took /= time.Duration(p.items)
	r.show("  overlapped", micros(took), "us/item")
	r.show("  faster than sequential", inTurn.Seconds()/took.Seconds(), "x")
	if p.out == overlapElements && both > slowest {
		r.show("  of the slowest stage alone", slowest.Seconds()/took.Seconds(), "")
		r.atLeast("overlap of both copies: "+name, both.Seconds()/took.Seconds(), 0.9, "")
		return nil
	}
	r.atLeast("overlap of the slowest stage: "+name, slowest.Seconds()/took.Seconds(), 0.9, "")
	return nil
}

// bothCopies measures the time per item of copies in both directions at once.
func (r *run) bothCopies(p *stages) (took time.Duration, err error) {
	in, err := p.dev.NewStream(r.ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	out := p.dev.DefaultStream()
	took, err = median(overlapRounds, func() error {
		for i := range p.items {
			l, other := &p.lanes[i%overlapLanes], &p.lanes[(i+1)%overlapLanes]
			if err := errors.Join(p.upload(in, l), p.download(out, other)); err != nil {
				return err
			}
		}
		return errors.Join(in.Synchronize(r.ctx), out.Synchronize(r.ctx))
	})
	took /= time.Duration(p.items)
	r.show("  both copies at once", micros(took), "us/item")
	return took, err
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// alone measures the time per item of one stage of all items on one stream.
func (r *run) alone(name string, p *stages, do func(*gpu.Stream, *overlapLane) error) (time.Duration, error) {
	s := p.dev.DefaultStream()
	took, err := median(overlapRounds, func() error {
		for i := range p.items {
			if err := do(s, &p.lanes[i%overlapLanes]); err != nil {
				return err
			}
		}
		return s.Synchronize(r.ctx)
	})
	took /= time.Duration(p.items)
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
	const n, elements = overlapSize, overlapSize * overlapSize
	a, b, c := l.x.Slice(0, elements), l.x.Slice(elements, 2*elements), l.y.Slice(0, elements)
	for range p.launches {
		if err := kernels.LaunchTileMatmul(s, gpu.Plane(n, n), n, n, n, a, b, c); err != nil {
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
	work := func(s *gpu.Stream, i, item int) (func() ([]float32, error), error) {
		l := &p.lanes[i]
		for j := range overlapSize { // the first row of the first matrix; all other elements are 1
			l.in.Data()[j] = float32(item)
		}
		return func() ([]float32, error) { return l.out.Data(), nil }, p.all(s, l)
	}
	item := 0
	for out, err := range gpu.Overlap(ctx, p.dev, overlapLanes, items(p.items), work) {
		if err != nil {
			return err
		}
		first, last := out[0], out[overlapSize*overlapSize-1]
		if want := float32(item * overlapSize); first != want || last != overlapSize {
			return fmt.Errorf("the product of item %d begins with %v and ends with %v, want %v and %v", item, first, last, want, overlapSize)
		}
		item++
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

// slices measures a pipeline of Go slices.
func (r *run) slices(p *stages) error {
	host := make([]float32, 16*overlapElements)
	for i := range host {
		host[i] = 1
	}
	passes := max(1, p.items/16)
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
	r.show("Go slices, including their buffers", micros(took/time.Duration(16*passes)), "us/item")
	return err
}
