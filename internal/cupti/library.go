package cupti

import (
	"fmt"
	"unsafe"
)

// LibraryVariable is the environment variable that names the file of the library.
const LibraryVariable = "QUERN_CUPTI"

// Library is CUPTI, or a substitute for tests.
type Library interface {
	// Lookup returns the address of a function, or 0 if there is no function of that name.
	Lookup(name string) uintptr
	// Call calls the function at an address. It does not retain args.
	Call(function uintptr, args []uintptr) uintptr
	// Callback returns a C function that calls f. It is never freed.
	Callback(f any) uintptr
	// Memory returns memory outside of Go's heap, which is never freed.
	Memory(size int) (unsafe.Pointer, error)
}

// symbol identifies a function of the library.
type symbol int

const (
	getVersion symbol = iota
	getResultString
	getTimestamp
	subscribe
	unsubscribe
	getCallbackName
	registerCallbacks
	enable
	disable
	flushAll
	getNextRecord
	getNumDropped
	pushExternal
	popExternal

	requiredCount

	enableDriverAPI = requiredCount // may be missing
)

// Functions for sampling. CUPTI 11.3 has them.
const (
	samplingEnable symbol = iota + enableDriverAPI + 1
	samplingDisable
	samplingConfigure
	samplingReasonCount
	samplingReasons
	samplingData
	codeChecksum
	codeLine

	symbolCount
)

var symbolNames = [symbolCount]string{
	getVersion:        "cuptiGetVersion",
	getResultString:   "cuptiGetResultString",
	getTimestamp:      "cuptiGetTimestamp",
	subscribe:         "cuptiSubscribe",
	unsubscribe:       "cuptiUnsubscribe",
	getCallbackName:   "cuptiGetCallbackName",
	registerCallbacks: "cuptiActivityRegisterCallbacks",
	enable:            "cuptiActivityEnable",
	disable:           "cuptiActivityDisable",
	flushAll:          "cuptiActivityFlushAll",
	getNextRecord:     "cuptiActivityGetNextRecord",
	getNumDropped:     "cuptiActivityGetNumDroppedRecords",
	pushExternal:      "cuptiActivityPushExternalCorrelationId",
	popExternal:       "cuptiActivityPopExternalCorrelationId",
	enableDriverAPI:   "cuptiActivityEnableDriverApi",

	samplingEnable:      "cuptiPCSamplingEnable",
	samplingDisable:     "cuptiPCSamplingDisable",
	samplingConfigure:   "cuptiPCSamplingSetConfigurationAttribute",
	samplingReasonCount: "cuptiPCSamplingGetNumStallReasons",
	samplingReasons:     "cuptiPCSamplingGetStallReasons",
	samplingData:        "cuptiPCSamplingGetData",
	codeChecksum:        "cuptiGetCubinCrc",
	codeLine:            "cuptiGetSassToSourceCorrelation",
}

// Result codes (CUptiResult) that the package handles.
const (
	success                    = 0
	errMaxLimitReached         = 12
	errNotCompatible           = 14
	errNotInitialized          = 15
	errInsufficientPrivileges  = 35
	errMultipleSubscribers     = 39
	errVirtualizedInsufficient = 40
	errUnknown                 = 999
)

// Error is a failed call of the library.
type Error struct {
	Op   string // the function
	Code int
	Text string // CUPTI's name of the code
	Hint string // what to do, or ""
}

func (e *Error) Error() string {
	if e.Hint != "" {
		return fmt.Sprintf("%s (%s: %s)", e.Hint, e.Op, e.Text)
	}
	return e.Op + ": " + e.Text
}

var hints = map[int]string{
	errMaxLimitReached:         "another tool uses CUPTI in this process",
	errMultipleSubscribers:     "another tool uses CUPTI in this process",
	errNotCompatible:           "the driver is older than this version of CUPTI",
	errNotInitialized:          "there is no NVIDIA driver that CUPTI can use",
	errInsufficientPrivileges:  "the driver allows profiling for administrators only; load the kernel module with NVreg_RestrictProfilingToAdminUsers=0, or run with CAP_SYS_ADMIN",
	errUnknown:                 "CUPTI does not work on this machine; it needs an NVIDIA GPU and its driver",
	errVirtualizedInsufficient: "the hypervisor does not allow profiling",
}
