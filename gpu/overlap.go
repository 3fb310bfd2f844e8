package gpu

import (
	"cmp"
	"context"
	"errors"
	"iter"
)

// defaultLanes is enough for a copy in each direction, a kernel, and an item that
// waits its turn while the host gets to the next.
const defaultLanes = 4

// Overlap passes items through the device on several streams, so that the upload
// of one, the kernels of another and the download of a third go on at the same
// time, and yields the results in the order of the items. The throughput is that
// of the slowest of the three, or of in, if the copies are asynchronous
// ([CopyInAsync], [CopyOutAsync]).
//
// work asks s for all that is to be done with an item: copies to the device,
// launches, copies back. It does not wait, and the copies use page-locked memory.
// What it returns is called when all of that is done, and returns the result; nil
// stands for the zero value. Items with the same lane, from 0 to lanes-1, have the
// same stream and follow each other: the result of one has been yielded, and the
// loop's body has ended, before work is called with the next. So each lane needs
// its own buffers, and a result may lie in them, valid until the next iteration:
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
// Zero lanes are 4. More of them help where items take different times.
//
// The first error is yielded after the results of the items before, and ends the
// sequence: that of a kernel, of work, of a result, or of ctx. Cancelling ctx ends
// the waits. However the loop ends, what was asked for is done before it does, and
// the streams are closed. Nothing runs on other goroutines: on the CPU and the
// simulator the steps follow each other.
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

// pipeline is the work of an Overlap. Item i is on lane i modulo their number.
type pipeline[Out any] struct {
	doing     string
	ctx       context.Context
	yield     func(Out, error) bool
	lanes     []lane[Out]
	begun     int // items so far
	delivered int // results so far
}

// lane is a stream with the result of the item that is on it.
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
// sequence goes on.
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

// drain delivers what was begun.
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

// close waits for what was begun, and closes the streams.
func (p *pipeline[Out]) close() error {
	var errs []error
	for _, l := range p.lanes {
		errs = append(errs, l.stream.Close())
	}
	p.lanes = nil
	return partOf(p.doing, errors.Join(errs...))
}
