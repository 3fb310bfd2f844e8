package gpu

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"quern.dev/internal/driver"
)

// IPCHandle names a buffer of a GPU for the other processes of the machine. It
// can be sent to them as it is, in JSON for example.
type IPCHandle struct {
	Memory []byte `json:"memory"` // CUDA's name of the allocation (CUipcMemHandle), 64 bytes
	Offset int64  `json:"offset"` // of the first element in it, bytes
	Size   int64  `json:"size"`   // of the elements, bytes
}

// IPCHandle returns a name of the buffer, under which [OpenIPC] and other
// libraries open the same memory in another process. Buffers of a pool, those that
// were made beside actors, and those of devices that are not GPUs have none.
//
// The processes order their work themselves: one waits for its stream before it
// tells the other. The buffer stays open while the other process uses it.
// Allocations of less than 2 MiB may share a block of the driver's; the other
// process then reaches that block.
func (b *Buffer[T]) IPCHandle() (IPCHandle, error) {
	const doing = "ipc handle"
	if err := b.acquire(b.Device()); err != nil {
		return IPCHandle{}, driverError(doing, err)
	}
	defer b.mem.release()
	d, ok := b.mem.dev.drv.(driver.SharedMemory)
	if !ok {
		return IPCHandle{}, driverError(doing, cannotShare(b.mem.dev))
	}
	switch {
	case b.length == 0:
		return IPCHandle{}, driverError(doing, invalid("an empty buffer has no name in other processes"))
	case b.mem.block != nil && b.mem.dev.beside.has(b.mem.block.pool):
		return IPCHandle{}, driverError(doing, invalid("a buffer that was made beside actors has no name in other processes; make it before there are actors"))
	case b.mem.block != nil:
		return IPCHandle{}, driverError(doing, invalid("a buffer of a pool has no name in other processes; use Alloc"))
	}
	h, offset, err := d.Share(b.at())
	if err != nil {
		return IPCHandle{}, driverError(doing, err)
	}
	return IPCHandle{Memory: h[:], Offset: offset, Size: b.bytes()}, nil
}

// OpenIPC makes a buffer, which is to be closed, of memory that another process
// has named. It is valid until that process frees the memory.
func OpenIPC[T any](d *Device, h IPCHandle) (*Buffer[T], error) {
	const doing = "open ipc handle"
	var zero T
	if err := checkType[T](); err != nil {
		return nil, driverError(doing, err)
	}
	size, align := int64(unsafe.Sizeof(zero)), int64(unsafe.Alignof(zero))
	switch {
	case len(h.Memory) != driver.HandleSize:
		return nil, driverError(doing, invalid("the handle names memory with %d bytes, want %d", len(h.Memory), driver.HandleSize))
	case h.Offset < 0 || h.Offset%align != 0:
		return nil, driverError(doing, invalid("the handle's offset of %d bytes is not that of an element, a multiple of %d", h.Offset, align))
	case h.Size <= 0 || h.Size%size != 0:
		return nil, driverError(doing, invalid("the handle's size of %d bytes is not that of elements of %d", h.Size, size))
	}
	if err := d.check(); err != nil {
		return nil, driverError(doing, err)
	}
	shared, ok := d.drv.(driver.SharedMemory)
	if !ok {
		return nil, driverError(doing, cannotShare(d))
	}
	m, err := d.borrow(doing, h.Size, func() (driver.Memory, func() error, error) {
		start, err := shared.OpenShared(driver.Handle(h.Memory))
		return start.Offset(h.Offset), func() error { return shared.CloseShared(start) }, err
	})
	if err != nil {
		return nil, err
	}
	return &Buffer[T]{mem: m, length: int(h.Size / size)}, nil
}

func cannotShare(d *Device) error {
	return fmt.Errorf("%w: memory of %s has no name in other processes", errors.ErrUnsupported, d.id)
}

// borrow makes a memory of what somebody else has allocated, which get returns
// with what gives it back.
func (d *Device) borrow(doing string, size int64, get func() (driver.Memory, func() error, error)) (*memory, error) {
	if err := d.acquire(); err != nil {
		return nil, driverError(doing, err)
	}
	at, giveBack, err := get()
	if err != nil {
		return nil, errors.Join(driverError(doing, err), d.release())
	}
	return d.adopt(doing, &memory{dev: d, drv: at, size: size, giveBack: giveBack})
}

// drain waits for the work of all streams. Their faults are left to the program's
// own waits.
func (d *Device) drain() error {
	var errs []error
	for _, s := range d.workingStreams() {
		if _, err := s.enter(); err != nil { // also one that records a graph, and has work of before
			continue // closing it waits
		}
		errs = append(errs, s.drv.Synchronize(context.Background()))
		s.release()
	}
	return errors.Join(errs...)
}
