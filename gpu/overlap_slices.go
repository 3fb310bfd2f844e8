package gpu

import (
	"context"
	"errors"
	"iter"
)

// OverlapSlices is [Overlap] for items that are Go slices of at most n elements,
// whose results are slices of at most m: for each it copies the slice to the
// device, calls kernel to launch what is to be done with it, and copies the
// buffer that kernel returns back, which is out or a part of it, or in or a part
// of it where the kernel works in place.
//
// The buffers are of the device's pools, [Device.Pool] and [Device.HostPool]. A slice that was yielded is valid until the next
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
	data []B // instead of host, where memory cannot be page-locked
}

// lane returns the buffers of lane i, all lanes before which have been used.
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

// close frees the buffers. What could go wrong there, the device keeps reporting.
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
		return nil, invalid("the result is neither of the buffers out and in nor a part of one")
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
