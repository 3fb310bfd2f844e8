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

// HostBuffer is an array in page-locked host memory. GPUs copy from and to it themselves:
// faster than from and to a Go slice, and while the program continues. It can be used with
// all devices of its back end. On the CPU and the simulator it is ordinary memory.
//
// Page-locked memory is not available to other programs. Use it for data that is copied many
// times.
//
// A HostBuffer is safe for concurrent use; so are its elements while they are not written.
type HostBuffer[T any] struct {
	part *Buffer[T] // in host memory
}

// hostMemory is an allocation of host memory.
type hostMemory struct {
	at   unsafe.Pointer // nil if the size is 0
	size int64          // of the pages from lockPages; 0 for other memory

	device     driver.Memory  // address of mappedSize bytes for kernels
	mappedSize int64          // 0 if the memory is not mapped
	registered bool           // the program's own memory
	pins       runtime.Pinner // keeps the memory in place, if it is Go's

	mu     sync.Mutex
	passed map[*Stream]fence // by stream: the last use of the memory
}

// hostRanges is the page-locked memory of the process.
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

// fence is a point in the work of a stream. It holds a lease of the stream's device.
type fence struct {
	dev *Device
	drv driver.Event
}

func (f fence) close() error { return errors.Join(f.drv.Close(), f.dev.release()) }

// AllocHost allocates a host buffer of n elements. Its contents are undefined. The caller
// closes it. The error matches [ErrPinned] if the memory cannot be page-locked.
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

// RegisterHost makes a host buffer of the memory of data: a Go slice, or other writable
// memory. The slice does not move while the buffer is open. Memory can be registered only
// once at a time. Registration takes about as long as a copy of the data, so it pays off for
// data that is copied several times.
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

// hostMemory makes a memory for host memory, which get allocates.
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

// pinnedError makes a driver's error match ErrPinned and adds advice for size bytes, if
// the device page-locks memory.
func (d *Device) pinnedError(size int64, err error) error {
	if _, ok := errors.AsType[*Error](err); !ok || d.able.direct {
		return err
	}
	return fmt.Errorf("%w: %w; %s", err, ErrPinned, memlock.Advice(size))
}

func (h *hostMemory) noun() string         { return "host buffer" }
func (h *hostMemory) lent() bool           { return false }
func (h *hostMemory) free(m *memory) error { return h.release(m.dev) }

// release waits until all streams have passed their copies, and frees the memory.
func (h *hostMemory) release(d *Device) error {
	if h.at == nil {
		return nil
	}
	reached := h.device != driver.Memory{} // mapped for kernels; unmapping waits for them
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

// Data returns the elements, or nil if the buffer is closed. The slice must not be used after
// the buffer is closed, unless it was registered. Elements that an asynchronous copy writes
// are valid after a wait for the stream; elements that it reads must not change before
// that.
func (h *HostBuffer[T]) Data() []T {
	b := h.buffer()
	if b.acquire(b.Device()) != nil {
		return nil
	}
	defer b.mem.release()
	return unsafe.Slice((*T)(h.at()), b.length)
}

// Slice returns the elements lo to hi-1 as a host buffer that shares the memory of h. It is
// valid until h is closed, and need not be closed itself. If the range is not in h, the
// result has no elements, and each use of it returns an error.
func (h *HostBuffer[T]) Slice(lo, hi int) *HostBuffer[T] {
	if b := h.buffer(); b != nil {
		return &HostBuffer[T]{b.Slice(lo, hi)}
	}
	return nil
}

// Close waits until all streams have passed the copies that use the memory, and frees the
// memory or ends its registration. Closing the result of Slice invalidates only that part.
// Closing again does nothing.
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

// at returns the address of the elements.
func (h *HostBuffer[T]) at() unsafe.Pointer { return unsafe.Add(h.part.mem.host().at, h.part.offset) }

// CopyInAsync copies src to dst, which has the same length, in the order of the stream. It
// returns at once. The elements of src must not change until a wait for the stream.
func CopyInAsync[T any](s *Stream, dst *Buffer[T], src *HostBuffer[T]) error {
	return copyAsync("copy in", s, dst, src, driver.GraphIn)
}

// CopyOutAsync copies src to dst, which has the same length, in the order of the stream. It
// returns at once. The elements of dst are valid after a wait for the stream.
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
	o := s.trace(hostCopyKind(kind == driver.GraphIn), b.bytes())
	if kind == driver.GraphIn {
		err = copyInAsync(s.drv, b.at(), h.at(), b.bytes())
	} else {
		err = copyOutAsync(s.drv, h.at(), b.at(), b.bytes())
	}
	if o.end(err) != nil {
		return driverError(doing, err)
	}
	return driverError(doing, h.part.mem.host().used(s))
}

// used records that work which was added to the stream before uses the memory. The caller
// has acquired the stream and the memory.
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

// fence returns the fence of a stream.
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
