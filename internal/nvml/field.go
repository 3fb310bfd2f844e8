package nvml

import (
	"math"
	"unsafe"
)

// FieldID identifies a value that [Device.Fields] reads (NVML_FI_DEV_...).
type FieldID uint32

// The fields that are read.
const (
	FieldMemoryTemperature FieldID = 82  // degrees Celsius
	FieldNVLinkTransmit    FieldID = 138 // KiB of data since the driver was loaded
	FieldNVLinkReceive     FieldID = 139
	FieldPCIeTransmit      FieldID = 197 // bytes since the driver was loaded; wraps
	FieldPCIeReceive       FieldID = 198
)

// AllLinks is the scope of the sum over all NVLinks.
const AllLinks = math.MaxUint32

// Types of values (nvmlValueType_t).
const (
	typeFloat64 = iota
	typeUint32
	typeUlong // 64 bits on the platforms of this package
	typeUint64
	typeInt64
	typeInt32
	typeUint16
)

// FieldValue is nvmlFieldValue_t.
type FieldValue struct {
	ID      FieldID
	Scope   uint32
	When    int64 // microseconds since 1970
	Latency int64 // microseconds
	Type    uint32
	Code    Code
	Value   [8]byte
}

// Number returns the value. It is not known if the GPU does not report it.
func (f *FieldValue) Number() (v float64, known bool) {
	if f.Code != Success {
		return 0, false
	}
	p := unsafe.Pointer(&f.Value)
	switch f.Type {
	case typeFloat64:
		v = *(*float64)(p)
	case typeUint32:
		v = float64(*(*uint32)(p))
	case typeUlong, typeUint64:
		v = float64(*(*uint64)(p))
	case typeInt64:
		v = float64(*(*int64)(p))
	case typeInt32:
		v = float64(*(*int32)(p))
	case typeUint16:
		v = float64(*(*uint16)(p))
	default:
		return 0, false
	}
	return v, !math.IsNaN(v)
}

// Counter returns the value of a counter of 64 bits. Counters of 32 bits are not known: fast
// links wrap them several times per second.
func (f *FieldValue) Counter() (v uint64, known bool) {
	if f.Code != Success {
		return 0, false
	}
	switch f.Type {
	case typeUlong, typeUint64, typeInt64:
		return *(*uint64)(unsafe.Pointer(&f.Value)), true
	}
	return 0, false
}

// Fields reads the values of list, each of which has its own result code.
func (d *Device) Fields(list []FieldValue) error {
	if len(list) == 0 {
		return nil
	}
	for i := range list {
		list[i].Code = NotSupported // if the driver does not know the field
	}
	return d.api.call(fieldValues, d.handle, uintptr(len(list)), uintptr(unsafe.Pointer(&list[0])))
}
