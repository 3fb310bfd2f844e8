package ptxvm

import (
	"errors"
	"fmt"
	"unsafe"
)

// Adopt maps bytes of the caller into the address space until Free is called with the
// returned address. The checks treat all of it as initialized. bytes must be aligned to 16
// bytes and must not move. It does not count toward the limit. The caller orders its own
// accesses against those of launches.
func (m *Memory) Adopt(bytes []byte, name string) (uint64, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.direct:
		return 0, errors.New("ptxvm: adopt: a direct memory already contains all memory of the process")
	case len(bytes) == 0 || uint64(len(bytes)) > maxAllocation:
		return 0, fmt.Errorf("ptxvm: adopt: %d bytes: want at least one byte and at most the size of an allocation", len(bytes))
	case uintptr(unsafe.Pointer(unsafe.SliceData(bytes)))&15 != 0:
		return 0, errors.New("ptxvm: adopt: the memory is not aligned to 16 bytes")
	}
	m.used += int64(len(bytes)) // Free subtracts both again
	m.limit += int64(len(bytes))
	a := &allocation{name: name, size: uint64(len(bytes)), bytes: bytes, init: newInitialized(len(bytes)), adopted: true}
	a.init.setRange(0, a.size)
	m.place(a)
	return a.base, nil
}
