package gpu

import (
	"context"
	"errors"
	"fmt"
	"unsafe"

	"quern.dev/internal/driver"
)

// IPCHandle identifies a buffer of a GPU to other processes on the machine. It can be
// sent to them as it is, for example in JSON.
type IPCHandle struct {
	Memory []byte `json:"memory"` // CUDA's handle of the allocation (CUipcMemHandle), 64 bytes
	Offset int64  `json:"offset"` // of the first element in the allocation, bytes
	Size   int64  `json:"size"`   // of the elements, bytes
}

// IPCHandle returns a handle with which [OpenIPC], or another library, can open the
// same memory in another process. Buffers of a pool, buffers that were made while
// actors were running, and buffers of devices that are not GPUs have no handle.
//
// The processes order their work themselves: one waits for its stream before it tells
// the other. Keep the buffer open while the other process uses it. Allocations of
// less than 2 MiB may share a block of the driver; the other process can then access
// that whole block.
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
		return IPCHandle{}, driverError(doing, invalid("an empty buffer has no IPC handle"))
	case b.mem.pooled() != nil && b.mem.dev.persistentMemory.has(b.mem.pooled().pool):
		return IPCHandle{}, driverError(doing, invalid("a buffer that was made while actors were running has no IPC handle; make it before the actors"))
	case b.mem.pooled() != nil:
		return IPCHandle{}, driverError(doing, invalid("a buffer of a pool has no IPC handle; use Alloc"))
	}
	h, offset, err := d.Share(b.at())
	if err != nil {
		return IPCHandle{}, driverError(doing, err)
	}
	return IPCHandle{Memory: h[:], Offset: offset, Size: b.bytes()}, nil
}

// OpenIPC returns a buffer for memory of another process. The caller closes it. It is
// valid until that process frees the memory.
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
		return nil, driverError(doing, invalid("the handle's offset of %d bytes is not a multiple of %d, the alignment of an element", h.Offset, align))
	case h.Size <= 0 || h.Size%size != 0:
		return nil, driverError(doing, invalid("the handle's size of %d bytes is not a multiple of the element size %d", h.Size, size))
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
	return fmt.Errorf("%w: memory of %s has no IPC handle", errors.ErrUnsupported, d.id)
}

// borrow returns a memory for what someone else has allocated. get returns that
// memory and a function that gives it back.
func (d *Device) borrow(doing string, size int64, get func() (driver.Memory, func() error, error)) (*memory, error) {
	if err := d.acquire(); err != nil {
		return nil, driverError(doing, err)
	}
	at, giveBack, err := get()
	if err != nil {
		return nil, errors.Join(driverError(doing, err), d.release())
	}
	return d.adopt(doing, &memory{dev: d, drv: at, size: size, storage: borrowed(giveBack)})
}

// drain waits for the work of all streams. It leaves their faults to the program's
// own waits.
func (d *Device) drain() error {
	var errs []error
	for _, s := range d.workingStreams() {
		if _, err := s.enter(); err != nil { // also of a stream that is recording a graph, for its earlier work
			continue // closing the stream waits
		}
		errs = append(errs, s.drv.Synchronize(context.Background()))
		s.release()
	}
	return errors.Join(errs...)
}
