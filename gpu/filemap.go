package gpu

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"quern.dev/gpu/internal/filemap"
)

// Mapped is a memory-mapped file to copy from. The file takes no memory of the process:
// several cores read the elements while they are copied. A Mapped is safe for concurrent
// use.
type Mapped[T any] struct {
	mu    sync.Mutex
	data  []T
	bytes []byte // of the mapping; nil if the elements are in Go memory
}

// OpenMapped maps a file. The caller closes it. The file contains only the elements, in the
// processor's format. It must not be truncated while it is open. On systems without mapped
// files, OpenMapped reads the file.
func OpenMapped[T any](path string) (*Mapped[T], error) {
	m := new(Mapped[T])
	if err := m.open(path); err != nil {
		return nil, fmt.Errorf("gpu: open mapped file: %w", err)
	}
	return m, nil
}

func (m *Mapped[T]) open(path string) error {
	if err := checkType[T](); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var zero T
	size, each := info.Size(), int64(unsafe.Sizeof(zero))
	switch {
	case !info.Mode().IsRegular():
		return invalid("%s is not a regular file", path)
	case size%each != 0:
		return invalid("%s has %d bytes, which is not a multiple of the element size %d", path, size, each)
	case size == 0:
		return nil
	}
	if m.bytes, err = filemap.Map(f, size); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("%s: %w", path, err)
	}
	if m.bytes != nil {
		m.data = unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(m.bytes))), size/each)
		return nil
	}
	m.data = make([]T, size/each)
	n, err := f.ReadAt(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(m.data))), size), 0)
	if int64(n) < size {
		return err
	}
	return nil
}

// Data returns the elements, or nil if the file is closed. The slice must not be used after the
// file is closed. Writes to it do not change the file.
func (m *Mapped[T]) Data() []T {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.data
}

// Len returns the number of elements, 0 if the file is closed.
func (m *Mapped[T]) Len() int { return len(m.Data()) }

// Close ends the mapping. Closing again does nothing.
func (m *Mapped[T]) Close() error {
	if m == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	bytes := m.bytes
	m.data, m.bytes = nil, nil
	if bytes == nil {
		return nil
	}
	if err := filemap.Unmap(bytes); err != nil {
		return fmt.Errorf("gpu: close mapped file: %w", err)
	}
	return nil
}
