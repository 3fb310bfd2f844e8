package cuda

import "unsafe"

// Attributes of devices (CUdevice_attribute) that limit residency on a multiprocessor.
const (
	residentThreads   = 39
	residentShared    = 81
	residentRegisters = 82
	residentBlocks    = 106
)

// ResidentBlocks asks the driver, which knows the allocation units of each GPU.
func (f *function) ResidentBlocks(threads, shared int) (int, error) {
	if err := f.allowShared(f.placed + shared); err != nil {
		return 0, err
	}
	var blocks int32
	err := f.dev.call(cuOccupancyMaxActiveBlocks, uintptr(unsafe.Pointer(&blocks)), f.handle, uintptr(threads), uintptr(f.placed+shared))
	return int(blocks), err
}
