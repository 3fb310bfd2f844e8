package gpu

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"quern.dev/gpu/internal/addrs"
	"quern.dev/gpu/internal/memlock"
	"quern.dev/internal/driver"
)

// HostBuffer is an array in page-locked memory of the host, which GPUs copy from
// and to themselves: faster than from and to a Go slice, and while the program
// does something else. It can be used with all devices of its back end. On the
// CPU and the simulator it is ordinary memory.
//
// Page-locked memory is taken from all other programs: use it for what is copied
// again and again.
//
// A HostBuffer is safe for concurrent use; its elements are while nobody writes
// them.
type HostBuffer[T any] struct {
	part *Buffer[T] // its memory is the host's
}

// hostMemory is the part of a memory that is the host's.
type hostMemory struct {
	at   unsafe.Pointer // nil if the size is 0
	size int64          // of what lockPages returned, 0 if it is not from there

	device     driver.Memory  // where kernels find mappedSize bytes of it
	mappedSize int64          // 0 if nobody has asked
	registered bool           // the program's own memory
	pins       runtime.Pinner // keeps it, if it is Go's

	mu     sync.Mutex
	passed map[*Stream]fence // by streams that have used the memory
}

// hostRanges is where the process has page-locked memory.
var hostRanges addrs.Table[memory]

// reserveHost adds memory to hostRanges.
func reserveHost(at unsafe.Pointer, size int64) error {
	if !hostRanges.Reserve(at, size) {
		return invalid("part of the memory belongs to another host buffer")
	}
	return nil
}

// findHost returns the page-locked memory that contains size bytes at an address,
// acquired, or nil.
func findHost(at unsafe.Pointer, size int64) *memory {
	return hostRanges.Find(at, size, func(m *memory) bool { return m.lease.Acquire() })
}

// fence is a point that a stream has yet to pass. It holds the stream's device.
type fence struct {
	dev *Device
	drv driver.Event
}

func (f fence) close() error { return errors.Join(f.drv.Close(), f.dev.release()) }

// AllocHost makes a host buffer of n elements, which is to be closed. Its
// contents are undefined. An error that matches [ErrPinned] means that the memory
// cannot be page-locked.
func AllocHost[T any](d *Device, n int) (*HostBuffer[T], error) {
	size, err := sizeOf[T](n)
	if err != nil {
		return nil, driverError("alloc host", err)
	}
	m, err := d.hostMemory("alloc host", size, func(h *hostMemory) error {
		p, err := d.lockPages(size)
		if err != nil {
			return err
		}
		h.at, h.size = p.at, p.size
		return reserveHost(h.at, size)
	})
	if err != nil {
		return nil, err
	}
	return &HostBuffer[T]{&Buffer[T]{mem: m, length: n}}, nil
}

// RegisterHost makes the memory of data a host buffer until that is closed: a Go
// slice, which stays where it is, or memory of another origin that can be
// written. Memory can be registered once at a time. It takes about as long as
// copying the data, so it pays for what is copied several times.
func RegisterHost[T any](d *Device, data []T) (*HostBuffer[T], error) {
	const doing = "register host"
	size, err := sizeOf[T](len(data))
	if err != nil {
		return nil, driverError(doing, err)
	}
	m, err := d.hostMemory(doing, size, func(h *hostMemory) error {
		h.at, h.registered = unsafe.Pointer(unsafe.SliceData(data)), true
		if err := reserveHost(h.at, size); err != nil {
			return err
		}
		h.pins.Pin(h.at)
		err := d.able.pages.RegisterHost(h.at, size)
		if err != nil {
			h.pins.Unpin()
			hostRanges.Remove(h.at)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return &HostBuffer[T]{&Buffer[T]{mem: m, length: len(data)}}, nil
}

// hostMemory makes a memory of the host's with what get puts into it.
func (d *Device) hostMemory(doing string, size int64, get func(*hostMemory) error) (*memory, error) {
	if err := d.acquire(); err != nil {
		return nil, driverError(doing, err)
	}
	h := new(hostMemory)
	m := &memory{dev: d, size: size, storage: h}
	if size > 0 {
		if err := get(h); err != nil {
			return nil, errors.Join(d.pinnedError(size, driverError(fmt.Sprintf("%s %d bytes", doing, size), err)), d.release())
		}
		hostRanges.SetOwner(h.at, m)
	}
	return d.adopt(doing, m)
}

// pinnedError makes an error of the driver one that matches ErrPinned and says what to do
// about size bytes, if the device page-locks memory.
func (d *Device) pinnedError(size int64, err error) error {
	if _, ok := errors.AsType[*Error](err); !ok || d.able.direct {
		return err
	}
	return fmt.Errorf("%w: %w; %s", err, ErrPinned, memlock.Advice(size))
}

func (h *hostMemory) noun() string         { return "host buffer" }
func (h *hostMemory) lent() bool           { return false }
func (h *hostMemory) free(m *memory) error { return h.release(m.dev) }

// release waits until all streams have passed the copies, and frees the memory.
func (h *hostMemory) release(d *Device) error {
	if h.at == nil {
		return nil
	}
	reached := h.device != driver.Memory{} // by kernels, whose end freeing waits for
	err := errors.Join(h.wait(), h.unmap(d))
	hostRanges.Remove(h.at)
	switch {
	case h.registered:
		err = errors.Join(err, d.able.pages.UnregisterHost(h.at))
		h.pins.Unpin()
	case h.size > 0 && !reached:
		err = errors.Join(err, d.unlockPages(pages{h.at, h.size}))
	default:
		err = errors.Join(err, d.able.pages.FreeHost(h.at))
	}
	h.at = nil
	return err
}

// Len returns the number of elements.
func (h *HostBuffer[T]) Len() int { return h.buffer().Len() }

// Device returns the device that made the buffer.
func (h *HostBuffer[T]) Device() *Device { return h.buffer().Device() }

// Data returns the elements, nil if the buffer is closed. The slice must not be
// used after the buffer is closed, unless it is the one that was registered.
// Elements that an asynchronous copy writes are there once the stream was waited
// for; those that it reads must stay as they are until then.
func (h *HostBuffer[T]) Data() []T {
	b := h.buffer()
	if b.acquire(b.Device()) != nil {
		return nil
	}
	defer b.mem.release()
	return unsafe.Slice((*T)(h.at()), b.length)
}

// Slice returns the elements lo to hi-1 as a host buffer that shares h's memory.
// It need not be closed, and lives as long as h. If the range does not lie in h,
// what is returned has no elements, and every use of it is an error that says
// so.
func (h *HostBuffer[T]) Slice(lo, hi int) *HostBuffer[T] {
	if b := h.buffer(); b != nil {
		return &HostBuffer[T]{b.Slice(lo, hi)}
	}
	return nil
}

// Close waits until all streams have passed the copies that use the memory, and
// frees it, or ends the registration. Closing a part that Slice returned ends the
// use of that part only. Closing again does nothing.
func (h *HostBuffer[T]) Close() error { return h.buffer().Close() }

func (h *HostBuffer[T]) buffer() *Buffer[T] {
	if h == nil {
		return nil
	}
	return h.part
}

// acquire begins a use of the buffer with device d, which h.part.mem.release ends.
func (h *HostBuffer[T]) acquire(d *Device) error {
	b := h.buffer()
	switch {
	case h == nil:
		return invalid("host buffer is nil")
	case b == nil:
		return invalid("host buffer was not made by AllocHost, RegisterHost or AcquireHost")
	}
	own := b.Device()
	if own != nil && own != d && own.backend != d.backend {
		return otherDevice("host buffer", own, d)
	}
	return b.acquire(own)
}

// at returns where the elements are.
func (h *HostBuffer[T]) at() unsafe.Pointer { return unsafe.Add(h.part.mem.host().at, h.part.offset) }

// CopyInAsync copies src to dst, which has as many elements, in the order of the
// stream, and returns at once. The elements of src must stay as they are until
// the stream was waited for.
func CopyInAsync[T any](s *Stream, dst *Buffer[T], src *HostBuffer[T]) error {
	return copyAsync("copy in", s, dst, src, driver.GraphIn)
}

// CopyOutAsync copies src to dst, which has as many elements, in the order of the
// stream, and returns at once. The elements have arrived when the stream was
// waited for.
func CopyOutAsync[T any](s *Stream, dst *HostBuffer[T], src *Buffer[T]) error {
	return copyAsync("copy out", s, src, dst, driver.GraphOut)
}

func copyAsync[T any](doing string, s *Stream, b *Buffer[T], h *HostBuffer[T], kind driver.GraphKind) error {
	c, err := s.enter()
	if err != nil {
		return driverError(doing, err)
	}
	defer s.release()
	if err := b.acquireOn(s, access(kind == driver.GraphIn)); err != nil {
		return driverError(doing, err)
	}
	defer b.mem.release()
	if err := h.acquire(s.dev); err != nil {
		return driverError(doing, err)
	}
	defer h.part.mem.release()
	if b.length != h.part.length {
		return driverError(doing, invalid("host buffer of %s for a buffer of %d", count(h.part.length, "element"), b.length))
	}
	if b.length == 0 {
		return nil
	}
	if c != nil {
		return driverError(doing, c.hostCopy(s, kind, b.at(), h.at(), b.bytes(), b.mem, h.part.mem))
	}
	if kind == driver.GraphIn {
		err = copyInAsync(s.drv, b.at(), h.at(), b.bytes())
	} else {
		err = copyOutAsync(s.drv, h.at(), b.at(), b.bytes())
	}
	if err != nil {
		return driverError(doing, err)
	}
	return driverError(doing, h.part.mem.host().used(s))
}

// used notes that work of the stream, asked for before, uses the memory. The
// stream and the memory are acquired.
func (h *hostMemory) used(s *Stream) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	f, err := h.fence(s)
	if err == nil {
		err = s.drv.Record(f.drv)
	}
	if err != nil {
		return errors.Join(err, s.drv.Synchronize(context.Background()))
	}
	return nil
}

// fence returns the stream's.
func (h *hostMemory) fence(s *Stream) (fence, error) {
	if f, ok := h.passed[s]; ok {
		return f, nil
	}
	for s, f := range h.passed {
		if s.lease.Closed() {
			if done, err := f.drv.Done(); done && err == nil {
				f.close()
				delete(h.passed, s)
			}
		}
	}
	if !s.dev.lease.Acquire() {
		return fence{}, closedError("device " + s.dev.id)
	}
	drv, err := s.dev.drv.NewEvent(false)
	if err != nil {
		return fence{}, errors.Join(err, s.dev.release())
	}
	if h.passed == nil {
		h.passed = make(map[*Stream]fence)
	}
	f := fence{s.dev, drv}
	h.passed[s] = f
	return f, nil
}

// wait waits until the streams have passed their last use.
func (h *hostMemory) wait() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var errs []error
	for _, f := range h.passed {
		errs = append(errs, f.drv.Synchronize(context.Background()), f.close())
	}
	h.passed = nil
	return errors.Join(errs...)
}
