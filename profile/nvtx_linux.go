package profile

import (
	"runtime"

	"github.com/ebitengine/purego"
)

// openNVTX opens the library, or returns nil if it is missing.
func openNVTX() *nvtx {
	runtime.LockOSThread() // the C library keeps the last error per thread
	defer runtime.UnlockOSThread()
	for _, name := range []string{"libnvtx3interop.so.1", "libnvtx3interop.so", "libnvToolsExt.so.1"} {
		handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL)
		if err != nil {
			continue
		}
		start, err1 := purego.Dlsym(handle, "nvtxRangeStartA")
		end, err2 := purego.Dlsym(handle, "nvtxRangeEnd")
		if err1 == nil && err2 == nil {
			return &nvtx{rangeStart: start, rangeEnd: end, call: func(function uintptr, args ...uintptr) uintptr {
				r, _, _ := purego.SyscallN(function, args...)
				return r
			}}
		}
	}
	return nil
}
