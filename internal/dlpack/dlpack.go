package dlpack

import (
	"runtime"
	"sync"
	"unsafe"
)

// Device types (DLDeviceType).
const (
	CPU      = 1
	CUDA     = 2
	CUDAHost = 3
)

// Type codes (DLDataTypeCode).
const (
	Int     = 0
	UInt    = 1
	Float   = 2
	BFloat  = 4
	Complex = 5
	Bool    = 6
)

// ReadOnly is the flag of tensors that must not be written.
const ReadOnly = 1

// Major is the supported major version of DLManagedTensorVersioned.
const Major = 1

// Device is a DLDevice.
type Device struct{ Type, ID int32 }

// DataType is a DLDataType.
type DataType struct {
	Code, Bits uint8
	Lanes      uint16
}

// Tensor is a DLTensor. The arrays have Dims elements. Strides are in elements
// and may be nil for row-major arrays.
type Tensor struct {
	Data       uintptr
	Device     Device
	Dims       int32
	Type       DataType
	Shape      *int64
	Strides    *int64
	ByteOffset uint64
}

// Managed is a DLManagedTensor.
type Managed struct {
	Tensor  Tensor
	Context uintptr
	Deleter uintptr
}

// Versioned is a DLManagedTensorVersioned.
type Versioned struct {
	Major, Minor uint32
	Context      uintptr
	Deleter      uintptr
	Flags        uint64
	Tensor       Tensor
}

// Read returns the description of a managed tensor.
func Read(p unsafe.Pointer, versioned bool) Versioned {
	if versioned {
		return *(*Versioned)(p)
	}
	m := (*Managed)(p)
	return Versioned{Major: Major, Context: m.Context, Deleter: m.Deleter, Tensor: m.Tensor}
}

// Lengths returns one of the tensor's arrays as a slice, or nil if it does not
// exist.
func (t *Tensor) Lengths(array *int64) []int64 {
	if array == nil || t.Dims <= 0 {
		return nil
	}
	return unsafe.Slice(array, t.Dims)
}

// exported holds the tensors that consumers own.
var exported struct {
	sync.Mutex
	tensors map[unsafe.Pointer]*export
}

// export keeps an exported tensor in place and holds its deleter.
type export struct {
	pins   runtime.Pinner
	delete func()
}

// New creates a managed tensor. Its deleter calls onDelete.
func New(t Tensor, shape, strides []int64, versioned bool, onDelete func()) (unsafe.Pointer, error) {
	deleter, err := deleterAddress()
	if err != nil {
		return nil, err
	}
	g := &export{delete: onDelete}
	t.Dims = int32(len(shape))
	if len(shape) > 0 {
		t.Shape, t.Strides = &shape[0], &strides[0]
		g.pins.Pin(t.Shape)
		g.pins.Pin(t.Strides)
	}
	var p unsafe.Pointer
	if versioned {
		p = unsafe.Pointer(&Versioned{Major: Major, Deleter: deleter, Tensor: t})
	} else {
		p = unsafe.Pointer(&Managed{Tensor: t, Deleter: deleter})
	}
	g.pins.Pin(p)
	exported.Lock()
	defer exported.Unlock()
	if exported.tensors == nil {
		exported.tensors = make(map[unsafe.Pointer]*export)
	}
	exported.tensors[p] = g
	return p, nil
}

// Outstanding returns the number of tensors created by New that have not been
// deleted.
func Outstanding() int {
	exported.Lock()
	defer exported.Unlock()
	return len(exported.tensors)
}

// deleted is the deleter of all tensors that New creates.
func deleted(p unsafe.Pointer) uintptr {
	exported.Lock()
	g := exported.tensors[p]
	delete(exported.tensors, p)
	exported.Unlock()
	if g != nil {
		g.delete()
		g.pins.Unpin()
	}
	return 0
}
