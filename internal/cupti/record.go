package cupti

import (
	"strings"
	"unsafe"
)

// Kind is the kind of a record.
type Kind uint8

// Kinds of records.
const (
	Kernel Kind = iota + 1
	Copy
	Fill
	Call     // of a function of the driver, on the host
	External // relates Correlation to the mark External
)

// Kinds of activity (CUpti_ActivityKind).
const (
	activityCopy       = 1
	activityFill       = 2
	activityDriver     = 4
	activityKernel     = 10 // concurrent kernels
	activityPeerCopy   = 22
	activityExternal   = 39
	externalKindCustom = 3 // CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0
)

// enabled are the activities that a session records. Every kind but the first may be missing.
var enabled = []uintptr{activityKernel, activityCopy, activityPeerCopy, activityFill, activityDriver, activityExternal}

// Direction is the direction of a copy.
type Direction uint8

// Directions of copies.
const (
	Within  Direction = iota // a device
	In                       // from the host
	Out                      // to the host
	Between                  // devices
	Host                     // within the host
)

// directions are by CUpti_ActivityMemcpyKind.
var directions = [...]Direction{1: In, 2: Out, 3: In, 4: Out, 9: Host, 10: Between}

// Record is one activity.
type Record struct {
	Kind        Kind
	Correlation uint32 // of the driver's call
	Start, End  uint64 // nanoseconds of CUPTI's clock; zero if the activity has not ended
	Device      uint32
	Stream      uint32 // CUPTI's number of the stream
	Name        string // of the kernel, or of the function
	Bytes       uint64
	Direction   Direction
	Grid, Block [3]int32
	Registers   uint16
	Thread      uint32 // of the operating system, that made the call
	External    uint64 // the mark
}

// read reads the record at p. It returns false if the record is of another kind.
func (s *Session) read(p unsafe.Pointer, r *Record) bool {
	*r = Record{}
	switch at[uint32](p, 0) {
	case activityKernel:
		r.Kind = Kernel
		r.Registers = at[uint16](p, 6)
		r.Start, r.End = at[uint64](p, 16), at[uint64](p, 24)
		r.Device, r.Stream = at[uint32](p, 40), at[uint32](p, 48)
		r.Grid, r.Block = at[[3]int32](p, 52), at[[3]int32](p, 64)
		r.Correlation = at[uint32](p, 92)
		r.Name = s.text(at[*byte](p, 104))
	case activityCopy:
		r.Kind = Copy
		r.Direction = direction(at[uint8](p, 4))
		r.Bytes = at[uint64](p, 8)
		r.Start, r.End = at[uint64](p, 16), at[uint64](p, 24)
		r.Device, r.Stream, r.Correlation = at[uint32](p, 32), at[uint32](p, 40), at[uint32](p, 44)
	case activityPeerCopy:
		r.Kind, r.Direction = Copy, Between
		r.Bytes = at[uint64](p, 8)
		r.Start, r.End = at[uint64](p, 16), at[uint64](p, 24)
		r.Device, r.Stream, r.Correlation = at[uint32](p, 32), at[uint32](p, 40), at[uint32](p, 60)
	case activityFill:
		r.Kind = Fill
		r.Bytes = at[uint64](p, 8)
		r.Start, r.End = at[uint64](p, 16), at[uint64](p, 24)
		r.Device, r.Stream, r.Correlation = at[uint32](p, 32), at[uint32](p, 40), at[uint32](p, 44)
	case activityDriver:
		r.Kind = Call
		r.Name = s.function(at[uint32](p, 4))
		r.Start, r.End = at[uint64](p, 8), at[uint64](p, 16)
		r.Thread, r.Correlation = at[uint32](p, 28), at[uint32](p, 32)
	case activityExternal:
		if at[uint32](p, 4) != externalKindCustom {
			return false
		}
		r.Kind = External
		r.External, r.Correlation = at[uint64](p, 8), at[uint32](p, 16)
	default:
		return false
	}
	return true
}

// at returns the field of a record at an offset. Records are aligned to 8 bytes.
func at[T any](record unsafe.Pointer, offset uintptr) T {
	return *(*T)(unsafe.Add(record, offset))
}

func direction(kind uint8) Direction {
	if int(kind) < len(directions) {
		return directions[kind]
	}
	return Within
}

// mostNames limits the number of names that are kept.
const mostNames = 1 << 14

// text returns a C string. CUPTI may free it when the record has been read.
func (s *Session) text(p *byte) string {
	if p == nil {
		return ""
	}
	b := cString(p)
	if name, ok := s.names[string(b)]; ok {
		return name
	}
	name := string(b)
	if len(s.names) < mostNames {
		s.names[name] = name
	}
	return name
}

func cString(p *byte) []byte {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(p), n)) != 0 {
		n++
	}
	return unsafe.Slice(p, n)
}

// domainDriver is the domain of the driver's functions (CUPTI_CB_DOMAIN_DRIVER_API).
const domainDriver = 1

// function returns the name of a function of the driver, such as "cuLaunchKernel".
func (s *Session) function(id uint32) string {
	if name, ok := s.functions[id]; ok {
		return name
	}
	name := "driver call"
	var at struct{ text *byte }
	if s.api.call(getCallbackName, domainDriver, uintptr(id), uintptr(unsafe.Pointer(&at))) == nil && at.text != nil {
		name = strings.TrimSuffix(strings.TrimSuffix(string(cString(at.text)), "_ptsz"), "_v2")
	}
	s.functions[id] = name
	return name
}
