package gpu

import (
	"context"
	"errors"
	"unsafe"

	"quern.dev/internal/driver"
	"quern.dev/internal/trace"
)

// CopyPeer copies src to dst, which has the same length and may be on another device of any
// kind. The stream belongs to either device and orders the copy. To order it with streams of
// the other device, use events: [Stream.Wait] accepts events of other devices.
//
// Between GPUs that access each other's memory ([Device.Linked]) the copy is direct, otherwise
// it goes through host memory. Between devices of different kinds, CopyPeer returns when the
// copy is done.
func CopyPeer[T any](s *Stream, dst, src *Buffer[T]) error {
	const doing = "copy between devices"
	if err := s.acquire(); err != nil {
		return driverError(doing, err)
	}
	defer s.release()
	if err := dst.acquireOf(dst.Device(), s, writes); err != nil {
		return driverError(doing+": destination", err)
	}
	defer dst.mem.release()
	if err := src.acquireOf(src.Device(), s, reads); err != nil {
		return driverError(doing+": source", err)
	}
	defer src.mem.release()
	to, from := dst.mem.dev, src.mem.dev
	switch {
	case s.dev != to && s.dev != from:
		return driverError(doing, s.ofNeither(to, from))
	case to == from:
		return partOf(doing, Copy(s, dst, src))
	case dst.length != src.length:
		return driverError(doing, invalid("%s to a buffer of %d", count(src.length, "element"), dst.length))
	case dst.length == 0:
		return nil
	}
	return driverError(doing, s.copyPeer(to, dst.at(), from, src.at(), dst.bytes()))
}

// ofNeither is the error for a stream of a third device.
func (s *Stream) ofNeither(to, from *Device) error {
	switch {
	case to == from:
		return otherDevice("stream", s.dev, to)
	case s.dev.id == to.id || s.dev.id == from.id:
		return invalid("stream is of neither the destination's device nor the source's (%s was opened more than once)", s.dev.id)
	default:
		return invalid("stream is of neither the destination's device nor the source's (%s, not %s or %s)", s.dev.id, to.id, from.id)
	}
}

func (s *Stream) copyPeer(to *Device, dst driver.Memory, from *Device, src driver.Memory, n int64) error {
	if p, ok := s.drv.(driver.Peers); ok {
		o := s.trace(trace.CopyPeer, n)
		if err := o.end(p.CopyPeer(to.drv, dst, from.drv, src, n)); !errors.Is(err, errors.ErrUnsupported) {
			return err
		}
	}
	if dst.Host != nil && src.Host != nil {
		o := s.trace(trace.CopyPeer, n)
		return o.end(s.drv.Copy(dst, src, n))
	}
	// The other device does its part on its own stream, between the earlier and the
	// later work of s.
	other := to.def
	if s.dev == to {
		other = from.def
	}
	if err := other.acquire(); err != nil {
		return err
	}
	defer other.release()
	if s.dev == to {
		if err := s.drv.Synchronize(context.Background()); err != nil {
			return err
		}
		return copyThroughHost(s, dst, other, src, n)
	}
	if err := copyThroughHost(other, dst, s, src, n); err != nil {
		return err
	}
	return other.drv.Synchronize(context.Background())
}

// peerPiece is the number of bytes that a copy between devices keeps in host memory
// at a time.
const peerPiece = 4 << 20

// copyThroughHost copies from one device to another, each on its own stream. The
// memory of a device may itself be host memory.
func copyThroughHost(in *Stream, dst driver.Memory, out *Stream, src driver.Memory, n int64) error {
	switch {
	case dst.Host != nil:
		return out.copyOut(dst.Host, src, n)
	case src.Host != nil:
		return in.copyIn(dst, src.Host, n)
	}
	piece := unsafe.Pointer(unsafe.SliceData(make([]byte, min(n, peerPiece))))
	for done := int64(0); done < n; done += peerPiece {
		size := min(n-done, peerPiece)
		if err := out.copyOut(piece, src.Offset(done), size); err != nil {
			return err
		}
		if err := in.copyIn(dst.Offset(done), piece, size); err != nil {
			return err
		}
	}
	return nil
}

// Linked reports whether copies between d and o need no host memory: both are GPUs that access
// each other's memory, or both are the CPU.
func (d *Device) Linked(o *Device) bool {
	if d.check() != nil || o.check() != nil {
		return false
	}
	if d == o || d.backend == CPU && o.backend == CPU {
		return true
	}
	if d.acquire() != nil {
		return false
	}
	defer d.release()
	if o.acquire() != nil {
		return false
	}
	defer o.release()
	p, ok := d.def.drv.(driver.Peers)
	return ok && p.Linked(d.drv, o.drv)
}

// waitPeer makes later work wait for an event of another device, on the device if
// both are GPUs. Otherwise one of the two devices works synchronously, so waiting
// here does not change the order.
func (s *Stream) waitPeer(e *Event) error {
	if p, ok := s.drv.(driver.Peers); ok {
		if done, err := p.WaitPeer(e.drv); done {
			return err
		}
	}
	return e.drv.Synchronize(context.Background())
}
