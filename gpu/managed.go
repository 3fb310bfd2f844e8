package gpu

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"quern.dev/internal/driver"
)

// Managed is an array that host and device access at the same address. With a GPU, pages move
// to the side that uses them; [Managed.Prefetch] moves them in advance. On the CPU and the
// simulator nothing moves.
//
// Host and device take turns: [Managed.Host] waits for the device. Its slice must not be used
// between the next launch with [Managed.Buffer] and the next call of Host. A Managed is
// otherwise safe for concurrent use.
type Managed[T any] struct {
	own  *Buffer[T] // all of it; frees the memory
	data []T
}

// Advice is how managed memory will be used.
type Advice uint8

// Kinds of advice.
const (
	// AdviseNone withdraws earlier advice.
	AdviseNone = Advice(driver.AdviceNone)
	// AdviseReadMostly lets each side keep a copy, as long as nobody writes.
	AdviseReadMostly = Advice(driver.AdviceReadMostly)
	// AdvisePreferDevice keeps the memory on the device when the host uses it.
	AdvisePreferDevice = Advice(driver.AdvicePreferDevice)
	// AdvisePreferHost keeps the memory on the host when the device uses it.
	AdvisePreferHost = Advice(driver.AdvicePreferHost)
	// AdviseAccessedByHost lets the host access the memory without moving it.
	AdviseAccessedByHost = Advice(driver.AdviceAccessedByHost)
)

// managedMemory is the storage of managed memory.
type managedMemory struct {
	onDevice bool // all of it, as far as known; guarded by the device's managedTotal
}

// managedTotal counts the managed memory of a device. Managed memory takes no device
// memory until it is used there.
type managedTotal struct {
	mu       sync.Mutex
	reserved int64 // bytes
	onDevice int64 // of these
}

// AllocManaged allocates a managed array of n elements. Its contents are undefined. The caller
// closes it.
//
// All managed arrays together must fit the device's free memory, although a GPU could move
// pages back and forth. If they do not, the error matches [ErrOutOfMemory]. On devices
// without managed memory it matches [errors.ErrUnsupported].
func AllocManaged[T any](d *Device, n int) (*Managed[T], error) {
	size, err := sizeOf[T](n)
	if err != nil {
		return nil, driverError("alloc managed", err)
	}
	m, p, err := d.allocManaged(size)
	if err != nil {
		return nil, err
	}
	x := &Managed[T]{own: &Buffer[T]{mem: m, length: n}}
	if n > 0 {
		x.data = unsafe.Slice((*T)(p), n)
	}
	return x, nil
}

func (d *Device) allocManaged(size int64) (*memory, unsafe.Pointer, error) {
	if err := d.acquire(); err != nil {
		return nil, nil, driverError("alloc managed", err)
	}
	m := &memory{dev: d, size: size, storage: new(managedMemory)}
	var p unsafe.Pointer
	if size > 0 {
		var err error
		if m.drv, p, err = d.reserveManaged(size); err != nil {
			return nil, nil, errors.Join(driverError(fmt.Sprintf("alloc managed %d bytes", size), err), d.release())
		}
	}
	m, err := d.adopt("alloc managed", m)
	return m, p, err
}

// reserveManaged allocates managed memory if the device has space for it.
func (d *Device) reserveManaged(size int64) (driver.Memory, unsafe.Pointer, error) {
	t := &d.managed
	t.mu.Lock()
	defer t.mu.Unlock()
	free, total, err := d.drv.Memory()
	if err != nil {
		return driver.Memory{}, nil, err
	}
	promised := t.reserved - t.onDevice
	if total > 0 && size > free-promised {
		return driver.Memory{}, nil, &driver.Error{
			Op: "allocate", Name: "out of memory", Err: driver.ErrOutOfMemory,
			Text: fmt.Sprintf("%d bytes of %d are free, and managed arrays that are not on the device yet need %d of them", free, total, promised),
		}
	}
	m, p, err := allocManaged(d.drv, size)
	if errors.Is(err, errors.ErrUnsupported) {
		return m, nil, fmt.Errorf("the device has no managed memory: %w", err)
	}
	if err == nil {
		t.reserved += size
	}
	return m, p, err
}

func (g *managedMemory) noun() string { return "managed array" }
func (g *managedMemory) lent() bool   { return false }

// free also removes the memory from the device's count.
func (g *managedMemory) free(m *memory) error {
	t := &m.dev.managed
	t.mu.Lock()
	t.reserved -= m.size
	if g.onDevice {
		t.onDevice -= m.size
	}
	t.mu.Unlock()
	return deviceMemory{}.free(m)
}

// moved records the current location of the memory.
func (g *managedMemory) moved(m *memory, onDevice bool) {
	t := &m.dev.managed
	t.mu.Lock()
	defer t.mu.Unlock()
	if g.onDevice == onDevice {
		return
	}
	g.onDevice = onDevice
	if onDevice {
		t.onDevice += m.size
	} else {
		t.onDevice -= m.size
	}
}

// Len returns the number of elements.
func (x *Managed[T]) Len() int { return x.buffer().Len() }

// Device returns the device of the array.
func (x *Managed[T]) Device() *Device { return x.buffer().Device() }

// Buffer returns a new view of the array for launches and copies. It is valid until x is
// closed, and need not be closed itself.
func (x *Managed[T]) Buffer() *Buffer[T] {
	b := x.buffer()
	return b.Slice(0, b.Len())
}

func (x *Managed[T]) buffer() *Buffer[T] {
	if x == nil {
		return nil
	}
	return x.own
}

// check returns an error if the array cannot be used.
func (x *Managed[T]) check() error {
	switch {
	case x == nil:
		return invalid("managed array is nil")
	case x.own == nil:
		return invalid("managed array was not made by AllocManaged")
	default:
		return nil
	}
}

// Host waits for the work of all streams of the device and returns the elements.
// The slice must not be used after x is closed. If a kernel failed, Host returns the slice and
// the [*KernelError]. Cancelling ctx ends the wait.
func (x *Managed[T]) Host(ctx context.Context) ([]T, error) {
	const doing = "host view"
	if err := x.check(); err != nil {
		return nil, driverError(doing, err)
	}
	b := x.own
	if err := b.acquire(b.Device()); err != nil {
		return nil, driverError(doing, err)
	}
	defer b.mem.release()
	err := partOf(doing, b.mem.dev.Synchronize(ctx))
	if _, ok := errors.AsType[*KernelError](err); err != nil && !ok {
		return nil, err
	}
	b.mem.storage.(*managedMemory).moved(b.mem, false)
	return x.data, err
}

// Prefetch moves the array to the device in the order of the stream. The stream must be of
// the same device.
func (x *Managed[T]) Prefetch(s *Stream) error { return x.prefetch("prefetch", s, false) }

// PrefetchHost moves the array to the host, in the order of the stream.
func (x *Managed[T]) PrefetchHost(s *Stream) error { return x.prefetch("prefetch to host", s, true) }

func (x *Managed[T]) prefetch(doing string, s *Stream, toHost bool) error {
	if err := s.acquire(); err != nil {
		return driverError(doing, err)
	}
	defer s.release()
	if err := x.check(); err != nil {
		return driverError(doing, err)
	}
	b := x.own
	if err := b.acquireOn(s, reads); err != nil {
		return driverError(doing, err)
	}
	defer b.mem.release()
	if b.length == 0 {
		return nil
	}
	if m, ok := s.dev.drv.(driver.ManagedMover); ok {
		if err := m.Prefetch(s.drv, b.at(), b.bytes(), toHost); err != nil {
			return driverError(doing, err)
		}
	}
	b.mem.storage.(*managedMemory).moved(b.mem, !toHost)
	return nil
}

// Advise tells a GPU's driver how the array will be used. It affects only the speed.
func (x *Managed[T]) Advise(a Advice) error {
	const doing = "advise"
	if err := x.check(); err != nil {
		return driverError(doing, err)
	}
	b := x.own
	if err := b.acquire(b.Device()); err != nil {
		return driverError(doing, err)
	}
	defer b.mem.release()
	if a > AdviseAccessedByHost {
		return driverError(doing, invalid("unknown advice %d", a))
	}
	if b.length == 0 {
		return nil
	}
	if m, ok := b.mem.dev.drv.(driver.ManagedMover); ok {
		return driverError(doing, m.Advise(b.at(), b.bytes(), driver.Advice(a)))
	}
	return nil
}

// Close frees the memory once the work that uses it is done. Closing again does
// nothing.
func (x *Managed[T]) Close() error {
	if x == nil {
		return nil
	}
	return x.own.Close()
}
