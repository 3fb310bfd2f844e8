package gpu

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	"quern.dev/internal/dlpack"
	"quern.dev/internal/driver"
	"quern.dev/kernel"
)

// DLPackFormat is one of the C structures of DLPack. Libraries in the same process
// use them to share arrays without copying.
type DLPackFormat int

// The structures of DLPack.
const (
	DLManagedTensorVersioned DLPackFormat = iota // DLPack 1.0 and later
	DLManagedTensor                              // earlier versions
)

// Capsule returns the name of a Python capsule that contains the structure.
func (f DLPackFormat) Capsule() string {
	if f == DLManagedTensor {
		return "dltensor"
	}
	return "dltensor_versioned"
}

func (f DLPackFormat) check() error {
	if f != DLManagedTensorVersioned && f != DLManagedTensor {
		return invalid("unknown DLPack format %d", f)
	}
	return nil
}

// ExportDLPack returns the address of a C structure that describes b as a row-major
// array of the given shape, or as one-dimensional if there is no shape. The address is
// for a library in the same process that consumes DLPack tensors. The library calls the
// structure's deleter once, on any thread. Until then the memory stays allocated, even
// if b is closed.
//
// The two libraries order their work themselves: either wait for the stream first, or
// make the other library's work follow it (see [Stream.Handle]). The other library must
// have finished its work when it calls the deleter. If b is closed by then, the memory
// may be reused at once if it comes from a pool or was allocated while actors were
// running. Buffers of the simulator and views of a [Unified] cannot be exported.
func ExportDLPack[T any](b *Buffer[T], f DLPackFormat, shape ...int) (unsafe.Pointer, error) {
	const doing = "export dlpack"
	if err := f.check(); err != nil {
		return nil, driverError(doing, err)
	}
	if err := b.acquire(b.Device()); err != nil {
		return nil, driverError(doing, err)
	}
	p, err := exportDLPack(b, f, shape)
	if err != nil {
		b.mem.release()
		return nil, driverError(doing, err)
	}
	return p, nil
}

func exportDLPack[T any](b *Buffer[T], f DLPackFormat, shape []int) (unsafe.Pointer, error) {
	device, err := b.mem.dev.dlDevice()
	if err != nil {
		return nil, err
	}
	kind, err := dlType(reflect.TypeFor[T]())
	if err != nil {
		return nil, err
	}
	shape, err = shapeOf(b, shape)
	if err != nil {
		return nil, err
	}
	lengths, strides := make([]int64, len(shape)), make([]int64, len(shape))
	step := int64(1)
	for d := len(shape) - 1; d >= 0; d-- {
		lengths[d], strides[d] = int64(shape[d]), step
		step *= int64(max(shape[d], 1))
	}
	t := dlpack.Tensor{Device: device, Type: kind}
	if b.length > 0 {
		t.Data = uintptr(b.at().Addr)
	}
	return dlpack.New(t, lengths, strides, f == DLManagedTensorVersioned, b.mem.release)
}

// shapeOf checks that a shape has the same number of elements as a buffer.
func shapeOf[T any](b *Buffer[T], shape []int) ([]int, error) {
	if len(shape) == 0 {
		return []int{b.length}, nil
	}
	n := 1
	for _, d := range shape {
		if d < 0 || d > 0 && n > math.MaxInt/d {
			return nil, invalid("shape %v", shape)
		}
		n *= d
	}
	if n != b.length {
		return nil, invalid("shape %v for a buffer of %s", shape, count(b.length, "element"))
	}
	return shape, nil
}

// ImportDLPack returns a buffer for a C structure that another library of the process
// has exported, and its shape. The tensor must be row-major and in memory of the
// device. Closing the buffer waits for the device's work and calls the structure's
// deleter. After an error the structure still belongs to the caller.
func ImportDLPack[T any](d *Device, f DLPackFormat, tensor unsafe.Pointer) (*Buffer[T], []int, error) {
	const doing = "import dlpack"
	if err := errors.Join(f.check(), d.check()); err != nil {
		return nil, nil, driverError(doing, err)
	}
	if tensor == nil {
		return nil, nil, driverError(doing, invalid("tensor is nil"))
	}
	versioned := f == DLManagedTensorVersioned
	managed := dlpack.Read(tensor, versioned)
	at, shape, err := importDLPack[T](d, &managed)
	if err != nil {
		return nil, nil, driverError(doing, err)
	}
	n := 1
	for _, length := range shape {
		n *= length
	}
	size, err := sizeOf[T](n)
	if err != nil {
		return nil, nil, driverError(doing, err)
	}
	m, err := d.borrow(doing, size, func() (driver.Memory, func() error, error) {
		return at, func() error { dlpack.Delete(tensor, versioned); return nil }, nil
	})
	if err != nil {
		return nil, nil, err
	}
	return &Buffer[T]{mem: m, length: n}, shape, nil
}

// importDLPack returns the memory of a tensor's elements, and its shape.
func importDLPack[T any](d *Device, v *dlpack.Versioned) (driver.Memory, []int, error) {
	var none driver.Memory
	t := &v.Tensor
	if v.Major != dlpack.Major {
		return none, nil, invalid("unsupported DLPack version %d.%d, want %d", v.Major, v.Minor, dlpack.Major)
	}
	if v.Flags&dlpack.ReadOnly != 0 {
		return none, nil, invalid("the tensor is read-only; copy it in its library first")
	}
	device, err := d.dlDevice()
	if err != nil {
		return none, nil, err
	}
	if t.Device != device {
		return none, nil, invalid("the tensor is on device %v, not %v (type and number in DLPack)", t.Device, device)
	}
	want, err := dlType(reflect.TypeFor[T]())
	if err != nil {
		return none, nil, err
	}
	if t.Type != want {
		return none, nil, invalid("the tensor has elements of DLPack's type %v (code, bits, lanes), not %v of %v", t.Type, want, reflect.TypeFor[T]())
	}
	shape, err := rowsOf(t)
	if err != nil {
		return none, nil, err
	}
	var zero T
	address := t.Data + uintptr(t.ByteOffset)
	if address%unsafe.Alignof(zero) != 0 {
		return none, nil, invalid("the tensor's elements are not aligned to %d bytes", unsafe.Alignof(zero))
	}
	m := driver.Memory{Addr: uint64(address)}
	if device.Type == dlpack.CPU {
		m.Host = *(*unsafe.Pointer)(unsafe.Pointer(&address)) // memory of the producer, not of Go: it stays until the deleter is called
	}
	return m, shape, nil
}

// rowsOf returns the shape of a tensor. It returns an error if the tensor is not
// contiguous and row-major.
func rowsOf(t *dlpack.Tensor) ([]int, error) {
	lengths, strides := t.Lengths(t.Shape), t.Lengths(t.Strides)
	if len(lengths) != int(t.Dims) {
		return nil, invalid("a tensor of %d dimensions without a shape", t.Dims)
	}
	shape := make([]int, len(lengths))
	step := int64(1)
	for d, n := range slices.Backward(lengths) {
		if n < 0 || n > 0 && step > math.MaxInt/n {
			return nil, invalid("shape %v", lengths)
		}
		if strides != nil && n > 1 && strides[d] != step && !slices.Contains(lengths, 0) {
			return nil, invalid("shape %v with strides %v: make the elements contiguous in the tensor's library", lengths, strides)
		}
		shape[d] = int(n)
		step *= max(n, 1)
	}
	return shape, nil
}

// dlDevice returns the device in DLPack's terms.
func (d *Device) dlDevice() (dlpack.Device, error) {
	switch d.backend {
	case CPU:
		return dlpack.Device{Type: dlpack.CPU}, nil
	case CUDA:
		_, number, _ := strings.Cut(d.id, ":")
		n, err := strconv.ParseInt(number, 10, 32)
		return dlpack.Device{Type: dlpack.CUDA, ID: int32(n)}, err
	default:
		return dlpack.Device{}, fmt.Errorf("%w: other libraries cannot reach memory of %s", errors.ErrUnsupported, d.id)
	}
}

// dlType returns a type in DLPack's terms.
func dlType(t reflect.Type) (dlpack.DataType, error) {
	kind := dlpack.DataType{Bits: uint8(8 * min(t.Size(), 16)), Lanes: 1}
	switch k := t.Kind(); {
	case t == reflect.TypeFor[kernel.Float16](), k == reflect.Float32, k == reflect.Float64:
		kind.Code = dlpack.Float
	case t == reflect.TypeFor[kernel.BFloat16]():
		kind.Code = dlpack.BFloat
	case k == reflect.Bool:
		kind.Code = dlpack.Bool
	case reflect.Int <= k && k <= reflect.Int64:
		kind.Code = dlpack.Int
	case reflect.Uint <= k && k <= reflect.Uint64:
		kind.Code = dlpack.UInt
	case k == reflect.Complex64 || k == reflect.Complex128:
		kind.Code = dlpack.Complex
	default:
		return kind, invalid("DLPack has no type for %v; use buffers of numbers and a shape", t)
	}
	return kind, nil
}
