package fakecuda

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"

	"quern.dev/internal/driver"
	"quern.dev/internal/ptxvm"
)

// entry is a function of the library.
type entry struct {
	inContext bool // needs a current context
	run       func(l *Library, a []uintptr) int
}

// functions holds the library's functions by name.
var functions = map[string]entry{}

// register adds functions to the library.
func register(entries map[string]entry) { maps.Copy(functions, entries) }

func init() {
	register(map[string]entry{
		"cuInit":             {run: initialize},
		"cuDriverGetVersion": {run: version},
		"cuGetErrorName":     {run: errorName},
		"cuGetErrorString":   {run: errorString},

		"cuDeviceGetCount":             {run: func(l *Library, a []uintptr) int { return set(a[0], int32(l.Devices)) }},
		"cuDeviceGet":                  {run: func(_ *Library, a []uintptr) int { return set(a[0], int32(a[1])) }},
		"cuDeviceGetName":              {run: deviceName},
		"cuDeviceGetAttribute":         {run: deviceAttribute},
		"cuDeviceTotalMem_v2":          {run: func(l *Library, a []uintptr) int { return set(a[0], uint64(l.capacity())) }},
		"cuDevicePrimaryCtxRetain":     {run: func(_ *Library, a []uintptr) int { return set(a[0], a[1]+1) }},
		"cuDevicePrimaryCtxRelease_v2": {run: releaseContext},
		"cuCtxSetCurrent":              {run: setCurrent},

		"cuMemGetInfo_v2":              {true, memoryInfo},
		"cuMemAlloc_v2":                {true, func(l *Library, a []uintptr) int { return l.allocate(a[0], a[1]) }},
		"cuMemFree_v2":                 {true, func(l *Library, a []uintptr) int { return l.release(a[0]) }},
		"cuMemHostAlloc":               {true, func(l *Library, a []uintptr) int { return l.allocateHost(a[0], a[1]) }},
		"cuMemFreeHost":                {true, func(l *Library, a []uintptr) int { return l.release(a[0]) }},
		"cuMemHostGetDevicePointer_v2": {true, func(_ *Library, a []uintptr) int { return set(a[0], a[1]) }},
		"cuMemcpyHtoDAsync_v2":         {true, move},
		"cuMemcpyDtoHAsync_v2":         {true, move},
		"cuMemcpyDtoDAsync_v2":         {true, move},
		"cuMemsetD8Async":              {true, fill[uint8]},
		"cuMemsetD16Async":             {true, fill[uint16]},
		"cuMemsetD32Async":             {true, fill[uint32]},

		"cuStreamCreate":      {true, func(l *Library, a []uintptr) int { return l.add(a[0], stream{}) }},
		"cuStreamDestroy_v2":  {true, destroy},
		"cuStreamSynchronize": {true, known[stream]},
		"cuStreamQuery":       {true, known[stream]},
		"cuStreamWaitEvent":   {true, known[stream]},

		"cuEventCreate":      {true, func(l *Library, a []uintptr) int { return l.add(a[0], new(event)) }},
		"cuEventDestroy_v2":  {true, destroy},
		"cuEventRecord":      {true, record},
		"cuEventQuery":       {true, known[*event]},
		"cuEventSynchronize": {true, known[*event]},
		"cuEventElapsedTime": {true, elapsed},

		"cuModuleLoadDataEx":                          {true, loadModule},
		"cuModuleUnload":                              {true, unloadModule},
		"cuModuleGetFunction":                         {true, getFunction},
		"cuFuncGetAttribute":                          {true, functionAttribute},
		"cuFuncSetAttribute":                          {true, func(*Library, []uintptr) int { return Success }},
		"cuOccupancyMaxActiveBlocksPerMultiprocessor": {true, occupancy},
		"cuLaunchKernel":                              {run: func(l *Library, a []uintptr) int { return l.launch(a, false) }},
		"cuLaunchCooperativeKernel":                   {run: func(l *Library, a []uintptr) int { return l.launch(a, true) }},
	})
}

// set stores a result.
func set[T any](to uintptr, v T) int {
	*at[T](to) = v
	return Success
}

func initialize(l *Library, _ []uintptr) int {
	if l.Devices == 0 {
		return NoDevice
	}
	return Success
}

func version(l *Library, a []uintptr) int {
	v := l.Version
	if v == 0 {
		v = 13000
	}
	return set(a[0], int32(v))
}

func errorName(l *Library, a []uintptr) int {
	name, ok := resultNames[int(a[0])]
	if !ok {
		return InvalidValue
	}
	return set(a[1], l.cString(name))
}

func errorString(l *Library, a []uintptr) int {
	if _, ok := resultNames[int(a[0])]; !ok {
		return InvalidValue
	}
	return set(a[1], l.cString(fmt.Sprintf("text of code %d", a[0])))
}

func deviceName(_ *Library, a []uintptr) int {
	copy(bytes(a[0], a[1]), fmt.Sprintf("Fake GPU %d\x00", a[2]))
	return Success
}

// deviceAttributes holds attributes by CUdevice_attribute.
var deviceAttributes = map[uintptr]int32{
	1: 1024, 2: 1024, 3: 1024, 4: 64, // threads per block, extents of a block
	5: 1<<31 - 1, 6: 65535, 7: 65535, // extents of a grid
	8: 48 << 10, 97: 227 << 10, // shared memory per block, default and maximum
	10: 32, 13: 1000000, 16: 4, 38: 1 << 20, // warp, clock, multiprocessors, L2
	75: 9, 76: 0, // compute capability
	39: 2048, 106: 32, 82: 64 << 10, 81: 228 << 10, // per multiprocessor: threads, blocks, registers, shared memory
}

func deviceAttribute(l *Library, a []uintptr) int {
	if a[1] == 75 && l.Major > 0 {
		return set(a[0], int32(l.Major))
	}
	return set(a[0], deviceAttributes[a[1]])
}

func memoryInfo(l *Library, a []uintptr) int {
	set(a[0], uint64(l.capacity()-l.used))
	return set(a[1], uint64(l.capacity()))
}

func move(l *Library, a []uintptr) int {
	if _, ok := object[stream](l, a[3]); !ok {
		return InvalidHandle
	}
	transfer(a[0], a[1], a[2])
	return Success
}

// transfer copies n bytes like the copy engines of a GPU: each aligned 64-bit word in
// one access. Kernels may access these words concurrently, but only with atomic
// operations; the race detector reports other accesses.
//
// Go 1.26.8 crashes when it inlines the copy with a constant size.
//
//go:noinline
func transfer(to, from, n uintptr) {
	if (to|from|n)%8 != 0 {
		copy(bytes(to, n), bytes(from, n))
		return
	}
	for i := uintptr(0); i < n; i += 8 {
		atomic.StoreUint64(at[uint64](to+i), atomic.LoadUint64(at[uint64](from+i)))
	}
}

func fill[T uint8 | uint16 | uint32](l *Library, a []uintptr) int {
	if _, ok := object[stream](l, a[3]); !ok {
		return InvalidHandle
	}
	var unit T
	size := uintptr(sizeOf(unit))
	if a[0]%size != 0 {
		return InvalidValue
	}
	for i := range a[2] {
		*at[T](a[0] + i*size) = T(a[1])
	}
	return Success
}

func sizeOf(v any) int {
	switch v.(type) {
	case uint8:
		return 1
	case uint16:
		return 2
	default:
		return 4
	}
}

// known checks the handle in the first argument.
func known[T any](l *Library, a []uintptr) int {
	if _, ok := object[T](l, a[0]); !ok {
		return InvalidHandle
	}
	return Success
}

func destroy(l *Library, a []uintptr) int { return l.remove(a[0]) }

func record(l *Library, a []uintptr) int {
	e, ok := object[*event](l, a[0])
	if !ok || !l.together(a[0], a[1]) {
		return InvalidHandle
	}
	e.recorded = true
	return known[stream](l, a[1:])
}

func elapsed(l *Library, a []uintptr) int {
	start, ok := object[*event](l, a[1])
	end, ok2 := object[*event](l, a[2])
	if !ok || !ok2 || !start.recorded || !end.recorded {
		return InvalidHandle
	}
	return set(a[0], float32(1.5))
}

// Option of cuModuleLoadDataEx with the address of the error buffer.
const jitErrorLog = 5

func loadModule(l *Library, a []uintptr) int {
	m, err := ptxvm.Parse(linked(goString(a[1])))
	if err == nil {
		return l.add(a[0], module{m})
	}
	for i := range a[2] {
		if *at[int32](a[3] + 4*i) == jitErrorLog {
			copy(bytes(*at[uintptr](a[4] + 8*i), 256), err.Error()+"\x00")
		}
	}
	return InvalidPTX
}

func unloadModule(l *Library, a []uintptr) int {
	m, ok := object[module](l, a[0])
	if !ok {
		return InvalidHandle
	}
	for handle, o := range l.objects {
		if f, ok := o.(function); ok && f.Module == m.Module {
			delete(l.objects, handle)
		}
	}
	return l.remove(a[0])
}

func getFunction(l *Library, a []uintptr) int {
	m, ok := object[module](l, a[1])
	if !ok {
		return InvalidHandle
	}
	name := goString(a[2])
	if m.Entry(name) == nil {
		return NotFound
	}
	return l.add(a[0], function{name: name, Module: m.Module})
}

func functionAttribute(l *Library, a []uintptr) int {
	f, ok := object[function](l, a[2])
	if !ok {
		return InvalidHandle
	}
	e := f.Entry(f.name)
	values := map[uintptr]int{0: 1024, 1: e.SharedSize, 3: e.LocalSize, 4: e.Registers}
	return set(a[0], int32(values[a[1]]))
}

// occupancy computes the occupancy from the device's attributes; registers limit
// nothing.
func occupancy(l *Library, a []uintptr) int {
	f, ok := object[function](l, a[1])
	if !ok {
		return InvalidHandle
	}
	limits := driver.DefaultLimits()
	blocks, _ := limits.ResidentBlocks(0, int(a[2]), f.Entry(f.name).SharedSize+int(a[3]))
	return set(a[0], int32(blocks))
}

func (l *Library) launch(a []uintptr, cooperative bool) int {
	f, ok := object[function](l, a[0])
	if _, ok2 := object[stream](l, a[8]); !ok || !ok2 || !l.together(a[0], a[8]) {
		return InvalidHandle
	}
	e := f.Entry(f.name)
	params := make([][]byte, len(e.Params))
	for i, p := range e.Params {
		params[i] = bytes(*at[uintptr](a[9] + 8*uintptr(i)), uintptr(p.Size))
	}
	err := f.Launch(context.Background(), f.name, ptxvm.Config{
		Grid:          [3]int{int(a[1]), int(a[2]), int(a[3])},
		Block:         [3]int{int(a[4]), int(a[5]), int(a[6])},
		DynamicShared: int(a[7]),
		Params:        params,
		Cooperative:   cooperative,
		Memory:        ptxvm.NewDirectMemory(),
	})
	if _, ok := errors.AsType[*ptxvm.Fault](err); ok {
		return IllegalAddress
	}
	if err != nil {
		return InvalidValue
	}
	return Success
}
