package cuda

import (
	"fmt"
	"sync"
	"unsafe"

	"quern.dev/internal/diskcache"
)

// Library is NVIDIA's driver library, or a substitute for tests.
type Library interface {
	// Lookup returns the address of a function, or 0 if there is no function of that
	// name.
	Lookup(name string) uintptr
	// Call calls the function at an address. It does not retain args.
	Call(function uintptr, args []uintptr) uintptr
}

// open opens the library once per process.
var open = sync.OnceValues(openLibrary)

// symbol identifies a function of the library.
type symbol int

const (
	cuInit symbol = iota
	cuDriverGetVersion
	cuGetErrorName
	cuGetErrorString
	cuDeviceGetCount
	cuDeviceGet
	cuDeviceGetName
	cuDeviceGetAttribute
	cuDeviceTotalMem
	cuDevicePrimaryCtxRetain
	cuDevicePrimaryCtxRelease
	cuCtxSetCurrent
	cuMemGetInfo
	cuMemAlloc
	cuMemFree
	cuMemHostAlloc
	cuMemFreeHost
	cuMemHostGetDevicePointer
	cuMemcpyHtoDAsync
	cuMemcpyDtoHAsync
	cuMemcpyDtoDAsync
	cuMemsetD8Async
	cuMemsetD16Async
	cuMemsetD32Async
	cuStreamCreate
	cuStreamDestroy
	cuStreamSynchronize
	cuStreamQuery
	cuStreamWaitEvent
	cuEventCreate
	cuEventDestroy
	cuEventRecord
	cuEventQuery
	cuEventSynchronize
	cuEventElapsedTime
	cuModuleLoadDataEx
	cuModuleUnload
	cuModuleGetFunction
	cuFuncGetAttribute
	cuFuncSetAttribute
	cuOccupancyMaxActiveBlocks
	cuLaunchKernel
	cuArrayCreate
	cuArrayDestroy
	cuTexObjectCreate
	cuTexObjectDestroy
	cuMemcpy2DAsync
	cuLaunchCooperativeKernel

	symbolCount
)

// symbolNames are the names in the library. The version suffixes select the functions
// with 64-bit sizes and current semantics.
var symbolNames = [symbolCount]string{
	cuInit:                     "cuInit",
	cuDriverGetVersion:         "cuDriverGetVersion",
	cuGetErrorName:             "cuGetErrorName",
	cuGetErrorString:           "cuGetErrorString",
	cuDeviceGetCount:           "cuDeviceGetCount",
	cuDeviceGet:                "cuDeviceGet",
	cuDeviceGetName:            "cuDeviceGetName",
	cuDeviceGetAttribute:       "cuDeviceGetAttribute",
	cuDeviceTotalMem:           "cuDeviceTotalMem_v2",
	cuDevicePrimaryCtxRetain:   "cuDevicePrimaryCtxRetain",
	cuDevicePrimaryCtxRelease:  "cuDevicePrimaryCtxRelease_v2",
	cuCtxSetCurrent:            "cuCtxSetCurrent",
	cuMemGetInfo:               "cuMemGetInfo_v2",
	cuMemAlloc:                 "cuMemAlloc_v2",
	cuMemFree:                  "cuMemFree_v2",
	cuMemHostAlloc:             "cuMemHostAlloc",
	cuMemFreeHost:              "cuMemFreeHost",
	cuMemHostGetDevicePointer:  "cuMemHostGetDevicePointer_v2",
	cuMemcpyHtoDAsync:          "cuMemcpyHtoDAsync_v2",
	cuMemcpyDtoHAsync:          "cuMemcpyDtoHAsync_v2",
	cuMemcpyDtoDAsync:          "cuMemcpyDtoDAsync_v2",
	cuMemsetD8Async:            "cuMemsetD8Async",
	cuMemsetD16Async:           "cuMemsetD16Async",
	cuMemsetD32Async:           "cuMemsetD32Async",
	cuStreamCreate:             "cuStreamCreate",
	cuStreamDestroy:            "cuStreamDestroy_v2",
	cuStreamSynchronize:        "cuStreamSynchronize",
	cuStreamQuery:              "cuStreamQuery",
	cuStreamWaitEvent:          "cuStreamWaitEvent",
	cuEventCreate:              "cuEventCreate",
	cuEventDestroy:             "cuEventDestroy_v2",
	cuEventRecord:              "cuEventRecord",
	cuEventQuery:               "cuEventQuery",
	cuEventSynchronize:         "cuEventSynchronize",
	cuEventElapsedTime:         "cuEventElapsedTime",
	cuModuleLoadDataEx:         "cuModuleLoadDataEx",
	cuModuleUnload:             "cuModuleUnload",
	cuModuleGetFunction:        "cuModuleGetFunction",
	cuFuncGetAttribute:         "cuFuncGetAttribute",
	cuFuncSetAttribute:         "cuFuncSetAttribute",
	cuOccupancyMaxActiveBlocks: "cuOccupancyMaxActiveBlocksPerMultiprocessor",
	cuLaunchKernel:             "cuLaunchKernel",
	cuArrayCreate:              "cuArrayCreate_v2",
	cuArrayDestroy:             "cuArrayDestroy",
	cuTexObjectCreate:          "cuTexObjectCreate",
	cuTexObjectDestroy:         "cuTexObjectDestroy",
	cuMemcpy2DAsync:            "cuMemcpy2DAsync_v2",
	cuLaunchCooperativeKernel:  "cuLaunchCooperativeKernel",
}

// optionalNames are the names of functions that not every supported driver has.
var optionalNames []string

// optional returns the symbol of a function that the driver may lack. Use it in
// package-level variables only.
func optional(name string) symbol {
	optionalNames = append(optionalNames, name)
	return symbolCount + symbol(len(optionalNames)-1)
}

func (s symbol) name() string {
	if s < symbolCount {
		return symbolNames[s]
	}
	return optionalNames[s-symbolCount]
}

// api is an open library with the addresses of its functions.
type api struct {
	lib  Library
	addr []uintptr // by symbol; 0 for a missing optional function

	codes *diskcache.Cache // of machine code; nil disables caching
}

// has reports whether the driver has all of the functions.
func (a *api) has(symbols ...symbol) bool {
	for _, s := range symbols {
		if a.addr[s] == 0 {
			return false
		}
	}
	return true
}

// minimumVersion is the oldest CUDA version of the driver that has every required
// function: cuDevicePrimaryCtxRelease_v2 came with 11.0.
const minimumVersion = 11000

// newAPI looks up the functions and initializes the driver. The error says why GPUs
// cannot be used.
func newAPI(lib Library) (*api, int, error) {
	a := &api{lib: lib, addr: make([]uintptr, int(symbolCount)+len(optionalNames))}
	missing := ""
	for s, name := range symbolNames {
		if a.addr[s] = lib.Lookup(name); a.addr[s] == 0 && missing == "" {
			missing = name
		}
	}
	for i, name := range optionalNames {
		a.addr[int(symbolCount)+i] = lib.Lookup(name)
	}
	version := int32(0)
	if a.addr[cuDriverGetVersion] != 0 {
		if err := a.call(cuDriverGetVersion, uintptr(unsafe.Pointer(&version))); err != nil {
			return nil, 0, err
		}
		if version < minimumVersion {
			return nil, 0, fmt.Errorf("the NVIDIA driver is too old: it supports CUDA %s, needed is %s or later (driver 450)",
				versionText(version), versionText(minimumVersion))
		}
	}
	if missing != "" {
		return nil, 0, fmt.Errorf("the NVIDIA driver library has no function %s", missing)
	}
	if err := a.call(cuInit, 0); err != nil {
		return nil, 0, explainInit(err)
	}
	return a, int(version), nil
}

// versionText formats a version such as 12040 as 12.4.
func versionText(v int32) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }
