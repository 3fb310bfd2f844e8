package gpu

import (
	"cmp"
	"context"
	"errors"
	"iter"
)

// defaultLanes is enough for a copy in each direction, a kernel, and one item that is
// waiting while the host prepares the next.
const defaultLanes = 4

// Overlap processes items on several streams of the device, so that the upload of one
// item, the kernels of another and the download of a third run at the same time. It
// yields the results in the order of the items. If the copies are asynchronous
// ([CopyInAsync], [CopyOutAsync]), the throughput is that of the slowest of the three
// stages, or of in.
//
// work adds all work for an item to s: copies to the device, launches, and copies
// back. It must not wait, and its copies should use page-locked memory. It returns a
// function that Overlap calls when this work is done, and which returns the result; a
// nil function means the zero value. lane is a number from 0 to lanes-1. Items with
// the same lane share a stream and do not overlap: before work is called for the next
// one, the result of the previous one has been yielded and the loop body has ended.
// So each lane needs its own buffers, and a result may be in these buffers; it is
// valid until the next iteration:
//
//	for sum, err := range gpu.Overlap(ctx, dev, 4, blocks, func(s *gpu.Stream, lane int, block *gpu.HostBuffer[float32]) (func() (float32, error), error) {
//		b := &buffers[lane]
//		err := errors.Join(
//			gpu.CopyInAsync(s, b.in, block),
//			LaunchSum(s, grid, b.out, b.in),
//			gpu.CopyOutAsync(s, b.host, b.out))
//		return func() (float32, error) { return b.host.Data()[0], nil }, err
//	}) { ... }
//
// Zero lanes means 4. More lanes help if items take different times.
//
// The first error ends the sequence. It is yielded after the results of the items
// before it, and comes from a kernel, from work, from the function of a result, or
// from ctx. Cancelling ctx ends the waits. However the loop ends, Overlap first waits
// for all work that was added, and closes the streams. Nothing runs on other
// goroutines. On the CPU and the simulator the steps run one after another.
func Overlap[In, Out any](ctx context.Context, d *Device, lanes int, in iter.Seq[In], work func(s *Stream, lane int, item In) (result func() (Out, error), err error)) iter.Seq2[Out, error] {
	return overlapped("overlap", ctx, d, lanes, in, work)
}

// overlapped is Overlap for the operation doing.
func overlapped[In, Out any](doing string, ctx context.Context, d *Device, lanes int, in iter.Seq[In], work func(s *Stream, lane int, item In) (result func() (Out, error), err error)) iter.Seq2[Out, error] {
	return func(yield func(Out, error) bool) {
		p := &pipeline[Out]{doing: doing, ctx: orBackground(ctx), yield: yield}
		switch {
		case in == nil:
			p.fail(driverError(doing, invalid("the items are nil")))
			return
		case work == nil:
			p.fail(driverError(doing, invalid("the function for items is nil")))
			return
		}
		if err := p.open(d, lanes); err != nil {
			p.fail(errors.Join(err, p.close()))
			return
		}
		defer p.close()
		for item := range in {
			if p.full() && !p.deliver() {
				return
			}
			i := p.begun % len(p.lanes)
			l := &p.lanes[i]
			err := driverError(doing, p.ctx.Err())
			if err == nil {
				l.result, err = work(l.stream, i, item)
			}
			if err != nil {
				if p.drain() {
					p.fail(err)
				}
				return
			}
			p.begun++
		}
		if p.drain() {
			if err := p.close(); err != nil {
				p.fail(err)
			}
		}
	}
}

// pipeline is the state of an Overlap. Item i is on lane i modulo the number of
// lanes.
type pipeline[Out any] struct {
	doing     string
	ctx       context.Context
	yield     func(Out, error) bool
	lanes     []lane[Out]
	begun     int // items added so far
	delivered int // results yielded so far
}

// lane is a stream with the result of its current item.
type lane[Out any] struct {
	stream *Stream
	result func() (Out, error)
}

func (p *pipeline[Out]) open(d *Device, lanes int) error {
	if err := d.check(); err != nil {
		return driverError(p.doing, err)
	}
	if lanes < 0 {
		return driverError(p.doing, invalid("%d lanes", lanes))
	}
	for range cmp.Or(lanes, defaultLanes) {
		s, err := d.NewStream(p.ctx)
		if err != nil {
			return partOf(p.doing, err)
		}
		p.lanes = append(p.lanes, lane[Out]{stream: s})
	}
	return nil
}

// full reports whether every lane has an item.
func (p *pipeline[Out]) full() bool { return p.begun-p.delivered == len(p.lanes) }

// deliver waits for the oldest item and yields its result. It reports whether the
// sequence continues.
func (p *pipeline[Out]) deliver() bool {
	l := &p.lanes[p.delivered%len(p.lanes)]
	if err := l.stream.Synchronize(p.ctx); err != nil {
		return p.fail(partOf(p.doing, err))
	}
	p.delivered++
	var out Out
	if l.result != nil {
		var err error
		if out, err = l.result(); err != nil {
			return p.fail(err)
		}
	}
	return p.yield(out, nil)
}

// drain delivers all items that were begun.
func (p *pipeline[Out]) drain() bool {
	for p.delivered < p.begun {
		if !p.deliver() {
			return false
		}
	}
	return true
}

// fail yields the error that ends the sequence.
func (p *pipeline[Out]) fail(err error) bool {
	var none Out
	p.yield(none, err)
	return false
}

// close waits for the work that was begun, and closes the streams.
func (p *pipeline[Out]) close() error {
	var errs []error
	for _, l := range p.lanes {
		errs = append(errs, l.stream.Close())
	}
	p.lanes = nil
	return partOf(p.doing, errors.Join(errs...))
}

// OverlapSlices is [Overlap] for items that are Go slices of at most n elements, with
// results of at most m elements. For each item it copies the slice to the device, calls
// kernel to launch the work, and copies back the buffer that kernel returns. That buffer is
// out or a part of it, or in or a part of it if the kernel works in place.
//
// The buffers come from the device's pools, [Device.Pool] and [Device.HostPool]. A yielded
// slice is valid until the next iteration. An item may be changed when the next one is
// requested.
// iteration. An item may be changed when the next one is asked for.
//
//	for y, err := range gpu.OverlapSlices(ctx, dev, 0, 1<<20, 1<<20, chunks, func(s *gpu.Stream, out, in *gpu.Buffer[float32]) (*gpu.Buffer[float32], error) {
//		out = out.Slice(0, in.Len())
//		return out, LaunchFilter(s, gpu.Linear(in.Len()), out, in)
//	}) { ... }
func OverlapSlices[A, B any](ctx context.Context, d *Device, lanes, n, m int, in iter.Seq[[]A], kernel func(s *Stream, out *Buffer[B], in *Buffer[A]) (*Buffer[B], error)) iter.Seq2[[]B, error] {
	const doing = "overlap slices"
	return func(yield func([]B, error) bool) {
		if n < 0 {
			yield(nil, driverError(doing, invalid("slices of at most %d elements; want 0 or more", n)))
			return
		}
		if m < 0 {
			yield(nil, driverError(doing, invalid("results of at most %d elements; want 0 or more", m)))
			return
		}
		buffers := &sliceLanes[A, B]{d: d, n: n, m: m}
		defer buffers.close()
		work := func(s *Stream, i int, item []A) (func() ([]B, error), error) {
			l, err := buffers.lane(s, i)
			if err != nil {
				return nil, partOf(doing, err)
			}
			if len(item) > n {
				return nil, driverError(doing, invalid("slice of %s, at most %d are allowed", count(len(item), "element"), n))
			}
			x := l.in.Slice(0, len(item))
			if err := CopyIn(s, x, item); err != nil {
				return nil, partOf(doing, err)
			}
			y, err := kernel(s, l.out, x)
			if err != nil {
				return nil, err
			}
			result, err := l.download(doing, ctx, s, y)
			return result, driverError(doing, err)
		}
		if kernel == nil {
			work = nil
		}
		for out, err := range overlapped(doing, ctx, d, lanes, in, work) {
			if !yield(out, err) {
				return
			}
		}
	}
}

// sliceLanes are the buffers of an OverlapSlices.
type sliceLanes[A, B any] struct {
	d     *Device
	n, m  int
	lanes []sliceLane[A, B]
}

type sliceLane[A, B any] struct {
	in   *Buffer[A]
	out  *Buffer[B]
	host *HostBuffer[B]
	data []B // instead of host, if memory cannot be page-locked
}

// lane returns the buffers of lane i. All lower lanes must have been used.
func (b *sliceLanes[A, B]) lane(s *Stream, i int) (*sliceLane[A, B], error) {
	if i < len(b.lanes) {
		return &b.lanes[i], nil
	}
	b.lanes = append(b.lanes, sliceLane[A, B]{})
	l := &b.lanes[i]
	var err error
	if l.in, err = Acquire[A](b.d.Pool(), s, b.n); err != nil {
		return nil, err
	}
	if l.out, err = Acquire[B](b.d.Pool(), s, b.m); err != nil {
		return nil, err
	}
	if l.host, err = AcquireHost[B](b.d.HostPool(), b.m); errors.Is(err, ErrPinned) {
		l.data, err = make([]B, b.m), nil
	}
	return l, err
}

// close frees the buffers. It drops errors, because the device reports them again
// later.
func (b *sliceLanes[A, B]) close() {
	for _, l := range b.lanes {
		l.in.Close()
		l.out.Close()
		l.host.Close()
	}
}

// download begins the copy of a result to the host.
func (l *sliceLane[A, B]) download(doing string, ctx context.Context, s *Stream, y *Buffer[B]) (func() ([]B, error), error) {
	if y == nil {
		return nil, invalid("the result is nil")
	}
	if y.mem != l.out.mem && y.mem != l.in.mem {
		return nil, invalid("the result is not out, in, or a part of one of them")
	}
	if y.Len() > l.out.Len() {
		return nil, invalid("result of %s, at most %d are allowed", count(y.Len(), "element"), l.out.Len())
	}
	if l.host == nil {
		data := l.data[:y.Len()]
		return func() ([]B, error) { return data, partOf(doing, Download(ctx, s, data, y)) }, nil
	}
	host := l.host.Slice(0, y.Len())
	return func() ([]B, error) { return host.Data(), nil }, CopyOutAsync(s, host, y)
}
