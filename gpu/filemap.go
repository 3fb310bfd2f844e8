package gpu

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	"quern.dev/gpu/internal/filemap"
)

// Mapped is a file in the address space of the process, as a source of copies
// that need no memory for the file: its elements are read when they are copied,
// by several cores. It is safe for concurrent use.
type Mapped[T any] struct {
	mu    sync.Mutex
	data  []T
	bytes []byte // of the mapping, nil if the elements are Go memory
}

// OpenMapped maps a file, which is to be closed. The file holds the elements as
// the processor does, one after the other, and nothing else; its size is a
// multiple of theirs. It must not become shorter until it is closed. On systems
// without mapped files it is read.
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
		return invalid("%s is no regular file", path)
	case size%each != 0:
		return invalid("%s has %d bytes, which is no multiple of the %d of an element", path, size, each)
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

// Data returns the elements, nil if the file is closed. The slice must not be used
// after that. What is written to it stays in the process.
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
