package npy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"reflect"
	"slices"
	"unsafe"

	"quern.dev/internal/typestr"
)

// Array is an array of any number of dimensions.
type Array[T Element] struct {
	Shape []int // length of each dimension; empty for a single value
	Data  []T   // in the order of rows: the last index varies fastest
}

// ShapeError means that an array cannot be written: its shape is not that of its
// data.
type ShapeError struct {
	Shape    []int
	Elements int // in the data
}

// Error says what the shape must be.
func (e *ShapeError) Error() string {
	if len(e.Shape) == 0 {
		return fmt.Sprintf("npy: Shape is empty, which is a single value, and Data has %d elements: set Shape", e.Elements)
	}
	return fmt.Sprintf("npy: Shape %v is not that of %d elements", e.Shape, e.Elements)
}

// Read reads a .npy file. It reads no further than the array, so that arrays which
// follow each other in a file can be read by turns.
func Read[T Element](r io.Reader) (Array[T], error) {
	if r == nil {
		return Array[T]{}, fmt.Errorf("npy: reader is nil: %w", fs.ErrInvalid)
	}
	return read[T](r, math.MaxInt64)
}

// ReadFile reads the named .npy file, which ends with the array.
func ReadFile[T Element](name string) (Array[T], error) {
	f, err := os.Open(name)
	if err != nil {
		return Array[T]{}, fmt.Errorf("npy: %w", err)
	}
	defer f.Close()
	size := int64(math.MaxInt64)
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		size = info.Size()
	}
	a, err := readAll[T](f, size)
	if err != nil {
		return Array[T]{}, fmt.Errorf("%s: %w", name, err)
	}
	return a, nil
}

// readAll is read for a reader that ends with the array.
func readAll[T Element](r io.Reader, size int64) (Array[T], error) {
	a, err := read[T](r, size)
	if err != nil {
		return a, err
	}
	switch n, err := io.Copy(io.Discard, io.LimitReader(r, 1)); {
	case err != nil:
		return Array[T]{}, readError("the end", err)
	case n > 0:
		return Array[T]{}, fmt.Errorf("npy: %w: there are more data than shape %v has", ErrFormat, a.Shape)
	}
	return a, nil
}

// read reads an array from a reader that has at most size bytes.
func read[T Element](r io.Reader, size int64) (Array[T], error) {
	h, err := ReadHeader(r)
	if err != nil {
		return Array[T]{}, err
	}
	want := typestr.Of(reflect.TypeFor[T]())
	order := byte('=')
	if h.Type != "" {
		order = h.Type[0]
	}
	if len(h.Type) < 2 || h.Type[1:] != want[1:] || order != '<' && order != '>' && order != '=' && order != '|' {
		return Array[T]{}, &TypeError{Have: h.Type, Want: reflect.TypeFor[T]()}
	}
	var zero T
	n, err := h.count(int(unsafe.Sizeof(zero)))
	if err != nil {
		return Array[T]{}, err
	}
	a := Array[T]{Shape: h.Shape}
	if a.Data, err = readData[T](r, n, size); err != nil {
		return Array[T]{}, err
	}
	if (order == '<' && !typestr.LittleEndian) || (order == '>' && typestr.LittleEndian) {
		swapNumbers(a.Data)
	}
	if h.Columns {
		a.Data = rows(a.Data, a.Shape)
	}
	return a, nil
}

// chunk is how many bytes are read before more room is made, where it is not
// known how many there are: a header may claim any number.
const chunk = 1 << 20

// readData reads n elements from a reader that has at most size bytes.
func readData[T Element](r io.Reader, n int, size int64) ([]T, error) {
	var zero T
	each := int(unsafe.Sizeof(zero))
	room := n
	if size == math.MaxInt64 {
		room = min(n, chunk/each)
	} else if int64(n)*int64(each) > size {
		return nil, readError("the data", io.ErrUnexpectedEOF)
	}
	data := make([]T, 0, room)
	for len(data) < n {
		if len(data) == cap(data) {
			data = slices.Grow(data, min(n-len(data), len(data)))
		}
		next := data[len(data):min(n, cap(data))]
		if err := readElements(r, next); err != nil {
			return nil, readError("the data", err)
		}
		data = data[:len(data)+len(next)]
	}
	return data, nil
}

func readElements[T Element](r io.Reader, to []T) error {
	bytes := bytesOf(to)
	if _, err := io.ReadFull(r, bytes); err != nil {
		return err
	}
	if reflect.TypeFor[T]().Kind() == reflect.Bool { // Go knows two values only
		for i, b := range bytes {
			bytes[i] = min(b, 1)
		}
	}
	return nil
}

// swapNumbers changes the order of bytes of all numbers; a complex one is two.
func swapNumbers[T Element](data []T) {
	t := reflect.TypeFor[T]()
	size := int(t.Size())
	if typestr.Kind(t) == 'c' {
		size /= 2
	}
	swapBytes(bytesOf(data), size)
}

// rows puts an array in the order of columns into the order of rows.
func rows[T Element](data []T, shape []int) []T {
	if len(data) == 0 || len(shape) < 2 {
		return data
	}
	step := make([]int, len(shape)) // of each index, in data
	step[0] = 1
	for d := 1; d < len(shape); d++ {
		step[d] = step[d-1] * shape[d-1]
	}
	out := make([]T, len(data))
	index := make([]int, len(shape))
	at := 0
	for i := range out {
		out[i] = data[at]
		for d := len(shape) - 1; d >= 0; d-- {
			index[d]++
			at += step[d]
			if index[d] < shape[d] {
				break
			}
			at -= index[d] * step[d]
			index[d] = 0
		}
	}
	return out
}

// Write writes a .npy file. A shape that is not that of the data is a
// [*ShapeError], and nothing is written.
func Write[T Element](w io.Writer, a Array[T]) error {
	if w == nil {
		return fmt.Errorf("npy: writer is nil: %w", fs.ErrInvalid)
	}
	header, err := a.header()
	if err != nil {
		return err
	}
	return write(w, header, a)
}

// header returns the bytes before the data, or why the array cannot be written.
func (a Array[T]) header() ([]byte, error) {
	h := Header{Type: typestr.Of(reflect.TypeFor[T]()), Shape: a.Shape}
	var zero T
	if n, err := h.count(int(unsafe.Sizeof(zero))); err != nil || n != len(a.Data) {
		return nil, &ShapeError{Shape: slices.Clone(a.Shape), Elements: len(a.Data)}
	}
	return h.encode()
}

func write[T Element](w io.Writer, header []byte, a Array[T]) error {
	for _, b := range [][]byte{header, bytesOf(a.Data)} {
		if _, err := w.Write(b); err != nil {
			return fmt.Errorf("npy: %w", err)
		}
	}
	return nil
}

// WriteFile writes the named .npy file, which it creates or replaces. A file that
// is there stays as it is if the shape of the array is a [*ShapeError].
func WriteFile[T Element](name string, a Array[T]) error {
	header, err := a.header()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("npy: %w", err)
	}
	if err := errors.Join(write(f, header, a), f.Close()); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}
