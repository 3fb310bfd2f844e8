package ptxvm

import (
	"errors"
	"fmt"
	"unsafe"
)

// Adopt makes memory of the caller's part of the address space, all of it
// initialised as the checks see it, until Free of the address that it returns.
// The caller keeps it where it is, and orders its own accesses and those of
// launches. It does not count towards the limit. The memory is aligned to 16 bytes.
func (m *Memory) Adopt(bytes []byte, name string) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.direct:
		return 0, errors.New("ptxvm: a direct memory has all memory of the process")
	case len(bytes) == 0 || uint64(len(bytes)) > maxAllocation:
		return 0, fmt.Errorf("ptxvm: adoption of %d bytes", len(bytes))
	case uintptr(unsafe.Pointer(unsafe.SliceData(bytes)))&15 != 0:
		return 0, errors.New("ptxvm: adoption of memory that is not aligned to 16 bytes")
	}
	m.used += int64(len(bytes)) // Free takes it off again
	m.limit += int64(len(bytes))
	a := &allocation{name: name, size: uint64(len(bytes)), bytes: bytes, init: newInitialised(len(bytes)), adopted: true}
	a.init.setRange(0, a.size)
	m.place(a)
	return a.base, nil
}
