package cpu

import (
	"unsafe"

	"quern.dev/internal/driver"
)

// Memory returns the memory of the process, whichever device is in use.
func Memory() driver.GoMemory {
	_, total := memory()
	return driver.GoMemory{Limit: total}
}

// goMemory is Go memory as the memory of a device.
type goMemory struct{ driver.GoMemory }

func (m goMemory) Alloc(size int64, _ string) (driver.Memory, error) {
	p, err := m.AllocHost(size)
	return at(p), err
}

// Free does nothing: the garbage collector frees the memory.
func (goMemory) Free(driver.Memory) error { return nil }

func at(p unsafe.Pointer) driver.Memory { return driver.Memory{Addr: uint64(uintptr(p)), Host: p} }

// bytes returns the n bytes at m. Elements contain no pointers.
func bytes(m driver.Memory, n int64) []byte { return unsafe.Slice((*byte)(m.Host), n) }

func (goMemory) Read(dst []byte, src driver.Memory) error {
	copy(dst, bytes(src, int64(len(dst))))
	return nil
}

func (goMemory) Write(dst driver.Memory, src []byte) error {
	copy(bytes(dst, int64(len(src))), src)
	return nil
}

func (goMemory) Copy(dst, src driver.Memory, n int64) error {
	copy(bytes(dst, n), bytes(src, n))
	return nil
}

func (goMemory) Fill(dst driver.Memory, pattern []byte, count int64) error {
	to := bytes(dst, count*int64(len(pattern)))
	for done := copy(to, pattern); done < len(to); done *= 2 {
		copy(to[done:], to[:done])
	}
	return nil
}

// MapHost returns the same address: kernels run in the process.
func (d *device) MapHost(p unsafe.Pointer, _ int64) (driver.Memory, error) { return at(p), nil }

// UnmapHost does nothing.
func (d *device) UnmapHost(driver.Memory) error { return nil }

// AllocManaged is the same as Alloc: host and device share all memory.
func (d *device) AllocManaged(size int64) (driver.Memory, unsafe.Pointer, error) {
	m, err := d.Alloc(size)
	return m, m.Host, err
}
