package gpu

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"quern.dev/internal/driver"
	"quern.dev/internal/typestr"
)

// CUDAArrayInterface describes a GPU buffer as a row-major array of the given shape,
// or as one-dimensional if there is no shape. It returns the JSON text of the
// dictionary that Python libraries expect as __cuda_array_interface__ (version 3),
// for Python in the same process. Another process opens an [IPCHandle] and replaces
// the address in the dictionary by its own.
//
// If s is not nil, the consumer orders its work after the work that s has so far.
// Otherwise wait for that work first. Keep the buffer open while it is used.
// Otherwise wait for the work before. The buffer stays open while it is used.
func (b *Buffer[T]) CUDAArrayInterface(s *Stream, shape ...int) ([]byte, error) {
	const doing = "array interface"
	if err := b.acquire(b.Device()); err != nil {
		return nil, driverError(doing, err)
	}
	defer b.mem.release()
	d := b.mem.dev
	if d.backend != CUDA {
		return nil, driverError(doing, fmt.Errorf("%w: %s has no CUDA memory", errors.ErrUnsupported, d.id))
	}
	shape, err := shapeOf(b, shape)
	if err != nil {
		return nil, driverError(doing, err)
	}
	dictionary := struct {
		Shape   []int    `json:"shape"`
		Type    string   `json:"typestr"`
		Data    [2]any   `json:"data"` // address; whether it is read-only
		Strides *[]int   `json:"strides"`
		Stream  *uintptr `json:"stream"`
		Version int      `json:"version"`
	}{Shape: shape, Type: typestr.Of(reflect.TypeFor[T]()), Data: [2]any{b.at().Addr, false}, Version: 3}
	if s != nil {
		if err := s.acquire(); err != nil {
			return nil, driverError(doing, err)
		}
		defer s.release()
		if s.dev != d {
			return nil, driverError(doing, otherDevice("stream", s.dev, d))
		}
		handle := s.drv.(driver.NativeStream).Handle()
		dictionary.Stream = &handle
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // keeps "<f4" unescaped
	err = encoder.Encode(dictionary)
	return bytes.TrimSpace(text.Bytes()), driverError(doing, err)
}

// Handle returns the stream of a GPU as a CUstream, so that other libraries can add
// work to it or wait for it. It is 0 for other devices and after Close.
func (s *Stream) Handle() uintptr {
	if s.acquire() != nil {
		return 0
	}
	defer s.release()
	if n, ok := s.drv.(driver.NativeStream); ok {
		return n.Handle()
	}
	return 0
}
