// Package fakecupti substitutes CUPTI in tests. It keeps the records that a test adds, in the
// layout of cupti_activity.h, and returns them as CUPTI does: in buffers that callbacks
// provide and take.
package fakecupti

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"quern.dev/internal/callsite"
)

// Library implements cupti.Library.
type Library struct {
	// Fail has the result codes of functions that fail.
	Fail map[string]int
	// Missing are the names of functions that the library does not have.
	Missing []string
	// OnPop is called when a mark ends.
	OnPop func(l *Library, mark uint64)
	// Epoch is the clock's time in nanoseconds at its start.
	Epoch uint64

	mu        sync.Mutex
	names     []string
	callbacks []any
	request   func(*unsafe.Pointer, *uintptr, *uintptr)
	complete  func(unsafe.Pointer, uint32, unsafe.Pointer, uintptr, uintptr)
	marks     map[uintptr][]uint64 // by goroutine, which is locked to a thread
	enabled   map[uintptr]bool
	disabled  []uintptr // functions of the driver
	texts     map[string][]byte

	records [][]byte // not yet delivered
	sizes   map[unsafe.Pointer][]uintptr
	dropped int

	// Sampled are samples that the next calls return, and Positions the lines of instructions, by
	// function and offset.
	Sampled   []Sample
	Positions map[string]Position
	sampling  map[uintptr]*samplingBuffer // by context; nil before it is configured

	subscribed   bool
	subscribedBy int
	calls        atomic.Int64
}

// Calls returns the number of calls so far.
func (l *Library) Calls() int64 { return l.calls.Load() }

var began = time.Now()

// Now returns the time of the clock.
func (l *Library) Now() uint64 { return l.Epoch + uint64(time.Since(began)) }

// Lookup returns the number of a function.
func (l *Library) Lookup(name string) uintptr {
	l.mu.Lock()
	defer l.mu.Unlock()
	if slices.Contains(l.Missing, name) {
		return 0
	}
	l.names = append(l.names, name)
	return uintptr(len(l.names))
}

// Callback keeps a function.
func (l *Library) Callback(f any) uintptr {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.callbacks = append(l.callbacks, f)
	return uintptr(len(l.callbacks))
}

// Memory returns memory that is not freed.
func (l *Library) Memory(size int) (unsafe.Pointer, error) {
	b := make([]uint64, size/8)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.blocks(b)
	return unsafe.Pointer(unsafe.SliceData(b)), nil
}

var kept [][]uint64

func (l *Library) blocks(b []uint64) { kept = append(kept, b) }

// Subscriptions returns how often the library was subscribed to, and whether it is now.
func (l *Library) Subscriptions() (count int, now bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.subscribedBy, l.subscribed
}

// Enabled returns the kinds of activity that are enabled, in order, and the number of
// functions of the driver that are not recorded.
func (l *Library) Enabled() (kinds []uintptr, quiet int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for k, on := range l.enabled {
		if on {
			kinds = append(kinds, k)
		}
	}
	slices.Sort(kinds)
	return kinds, len(l.disabled)
}

func pointer[T any](word uintptr) *T { return *(**T)(unsafe.Pointer(&word)) }

// Call calls a function.
func (l *Library) Call(function uintptr, args []uintptr) uintptr {
	l.calls.Add(1)
	l.mu.Lock()
	name := l.names[function-1]
	if code := l.Fail[name]; code != 0 {
		l.mu.Unlock()
		return uintptr(code)
	}
	defer l.mu.Unlock()
	switch name {
	case "cuptiGetVersion":
		*pointer[uint32](args[0]) = 130000
	case "cuptiGetResultString":
		*pointer[*byte](args[1]) = l.cString("CUPTI_ERROR_FAKE")
	case "cuptiGetTimestamp":
		*pointer[uint64](args[0]) = l.Now()
	case "cuptiSubscribe":
		if l.subscribed {
			return 39
		}
		l.subscribed = true
		l.subscribedBy++
		*pointer[uintptr](args[0]) = 7
	case "cuptiUnsubscribe":
		l.subscribed = false
	case "cuptiGetCallbackName":
		*pointer[*byte](args[2]) = l.cString(map[uintptr]string{307: "cuLaunchKernel", 277: "cuMemcpyHtoDAsync_v2"}[args[1]])
	case "cuptiActivityRegisterCallbacks":
		l.request = l.callbacks[args[0]-1].(func(*unsafe.Pointer, *uintptr, *uintptr))
		l.complete = l.callbacks[args[1]-1].(func(unsafe.Pointer, uint32, unsafe.Pointer, uintptr, uintptr))
	case "cuptiActivityEnable", "cuptiActivityDisable":
		if l.enabled == nil {
			l.enabled = map[uintptr]bool{}
		}
		l.enabled[args[0]] = name == "cuptiActivityEnable"
	case "cuptiActivityEnableDriverApi":
		l.disabled = append(l.disabled, args[0])
	case "cuptiActivityPushExternalCorrelationId":
		if l.marks == nil {
			l.marks = map[uintptr][]uint64{}
		}
		g := callsite.Goroutine()
		l.marks[g] = append(l.marks[g], uint64(args[1]))
	case "cuptiActivityPopExternalCorrelationId":
		g := callsite.Goroutine()
		marks := l.marks[g]
		if len(marks) == 0 {
			return 18
		}
		l.marks[g] = marks[:len(marks)-1]
		if l.OnPop != nil {
			l.mu.Unlock()
			l.OnPop(l, marks[len(marks)-1])
			l.mu.Lock()
		}
	case "cuptiActivityFlushAll":
		l.flush()
	case "cuptiActivityGetNextRecord":
		return l.next(pointer[byte](args[0]), pointer[unsafe.Pointer](args[2]))
	case "cuptiActivityGetNumDroppedRecords":
		*pointer[uintptr](args[2]) = uintptr(l.dropped)
		l.dropped = 0
	default:
		if function, ok := samplingFunctions[name]; ok {
			return function(l, args[0])
		}
		return 999
	}
	return 0
}

// flush fills buffers with the records and returns them.
func (l *Library) flush() {
	if l.sizes == nil {
		l.sizes = map[unsafe.Pointer][]uintptr{}
	}
	for len(l.records) > 0 {
		var buffer unsafe.Pointer
		var size, most uintptr
		l.request(&buffer, &size, &most)
		if buffer == nil {
			l.dropped += len(l.records)
			l.records = nil
			return
		}
		used := uintptr(0)
		l.sizes[buffer] = nil
		for len(l.records) > 0 && used+uintptr(len(l.records[0])) <= size {
			copy(unsafe.Slice((*byte)(unsafe.Add(buffer, used)), len(l.records[0])), l.records[0])
			l.sizes[buffer] = append(l.sizes[buffer], used)
			used += uintptr(len(l.records[0]))
			l.records = l.records[1:]
		}
		l.complete(nil, 0, buffer, size, used)
	}
}

// next advances to the next record of a buffer.
func (l *Library) next(buffer *byte, record *unsafe.Pointer) uintptr {
	offsets := l.sizes[unsafe.Pointer(buffer)]
	i := 0
	if *record != nil {
		i, _ = slices.BinarySearch(offsets, uintptr(*record)-uintptr(unsafe.Pointer(buffer))+1)
	}
	if i >= len(offsets) {
		return 12
	}
	*record = unsafe.Add(unsafe.Pointer(buffer), offsets[i])
	return 0
}

func (l *Library) cString(s string) *byte {
	if l.texts == nil {
		l.texts = map[string][]byte{}
	}
	if l.texts[s] == nil {
		l.texts[s] = append([]byte(s), 0)
	}
	return &l.texts[s][0]
}

// record is a record under construction.
type record []byte

func (r record) u8(at int, v uint8) record   { r[at] = v; return r }
func (r record) u16(at int, v uint16) record { binary.NativeEndian.PutUint16(r[at:], v); return r }
func (r record) u32(at int, v uint32) record { binary.NativeEndian.PutUint32(r[at:], v); return r }
func (r record) u64(at int, v uint64) record { binary.NativeEndian.PutUint64(r[at:], v); return r }

func (l *Library) add(r record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = append(l.records, r)
}

// Kernel adds the record of a kernel (CUpti_ActivityKernel10).
func (l *Library) Kernel(name string, correlation, stream uint32, start, end uint64) {
	l.mu.Lock()
	text := uint64(uintptr(unsafe.Pointer(l.cString(name))))
	l.mu.Unlock()
	r := make(record, 216).u32(0, 10).u16(6, 32).u64(16, start).u64(24, end).u32(40, 0).u32(48, stream)
	for i, n := range []uint32{8, 1, 1, 256, 1, 1} {
		r.u32(52+4*i, n)
	}
	l.add(r.u32(92, correlation).u64(104, text))
}

// Copy adds the record of a copy (CUpti_ActivityMemcpy6). kind is a CUpti_ActivityMemcpyKind.
func (l *Library) Copy(kind uint8, bytes uint64, correlation, stream uint32, start, end uint64) {
	l.add(make(record, 96).u32(0, 1).u8(4, kind).u64(8, bytes).u64(16, start).u64(24, end).u32(40, stream).u32(44, correlation))
}

// PeerCopy adds the record of a copy between devices (CUpti_ActivityMemcpyPtoP4).
func (l *Library) PeerCopy(bytes uint64, correlation, stream uint32, start, end uint64) {
	l.add(make(record, 104).u32(0, 22).u8(4, 10).u64(8, bytes).u64(16, start).u64(24, end).u32(40, stream).u32(60, correlation))
}

// Fill adds the record of a fill (CUpti_ActivityMemset4).
func (l *Library) Fill(bytes uint64, correlation, stream uint32, start, end uint64) {
	l.add(make(record, 88).u32(0, 2).u64(8, bytes).u64(16, start).u64(24, end).u32(40, stream).u32(44, correlation))
}

// DriverCall adds the record of a call of the driver (CUpti_ActivityAPI).
func (l *Library) DriverCall(function, thread, correlation uint32, start, end uint64) {
	l.add(make(record, 40).u32(0, 4).u32(4, function).u64(8, start).u64(16, end).u32(28, thread).u32(32, correlation))
}

// External adds the record of a mark (CUpti_ActivityExternalCorrelation).
func (l *Library) External(mark uint64, correlation uint32) {
	l.add(make(record, 24).u32(0, 39).u32(4, 3).u64(8, mark).u32(16, correlation))
}

// Other adds a record of a kind that Quern does not read.
func (l *Library) Other() { l.add(make(record, 48).u32(0, 38)) }
