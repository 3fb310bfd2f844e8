package dlpack

import (
	"runtime"
	"sync"
	"unsafe"
)

// Kinds of devices (DLDeviceType).
const (
	CPU      = 1
	CUDA     = 2
	CUDAHost = 3
)

// Codes of types (DLDataTypeCode).
const (
	Int     = 0
	UInt    = 1
	Float   = 2
	BFloat  = 4
	Complex = 5
	Bool    = 6
)

// ReadOnly is the flag of a tensor that must not be written.
const ReadOnly = 1

// Major is the version of DLManagedTensorVersioned that is understood.
const Major = 1

// Device is a DLDevice.
type Device struct{ Type, ID int32 }

// DataType is a DLDataType.
type DataType struct {
	Code, Bits uint8
	Lanes      uint16
}

// Tensor is a DLTensor. The arrays have Dims elements; Strides, in elements, may
// be nil for an array in the order of rows.
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

// Read returns what a managed tensor says of itself.
func Read(p unsafe.Pointer, versioned bool) Versioned {
	if versioned {
		return *(*Versioned)(p)
	}
	m := (*Managed)(p)
	return Versioned{Major: Major, Context: m.Context, Deleter: m.Deleter, Tensor: m.Tensor}
}

// Lengths returns one of the arrays of a tensor, nil if there is none.
func (t *Tensor) Lengths(array *int64) []int64 {
	if array == nil || t.Dims <= 0 {
		return nil
	}
	return unsafe.Slice(array, t.Dims)
}

// given is the tensors that consumers have: what keeps each where it is, and what
// its deleter does.
var given struct {
	sync.Mutex
	tensors map[unsafe.Pointer]*gift
}

type gift struct {
	pins   runtime.Pinner
	delete func()
}

// New makes a managed tensor, whose deleter calls the function.
func New(t Tensor, shape, strides []int64, versioned bool, onDelete func()) (unsafe.Pointer, error) {
	deleter, err := deleterAddress()
	if err != nil {
		return nil, err
	}
	g := &gift{delete: onDelete}
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
	given.Lock()
	defer given.Unlock()
	if given.tensors == nil {
		given.tensors = make(map[unsafe.Pointer]*gift)
	}
	given.tensors[p] = g
	return p, nil
}

// Outstanding returns the number of tensors of New that have not ended.
func Outstanding() int {
	given.Lock()
	defer given.Unlock()
	return len(given.tensors)
}

// ended is the deleter of all tensors that New makes.
func ended(p unsafe.Pointer) uintptr {
	given.Lock()
	g := given.tensors[p]
	delete(given.tensors, p)
	given.Unlock()
	if g != nil {
		g.delete()
		g.pins.Unpin()
	}
	return 0
}
