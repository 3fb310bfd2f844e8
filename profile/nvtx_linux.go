package profile

import "quern.dev/internal/dynlib"

// openNVTX opens the library, or returns nil if it is missing.
func openNVTX() *nvtx {
	for _, name := range []string{"libnvtx3interop.so.1", "libnvtx3interop.so", "libnvToolsExt.so.1"} {
		lib, err := dynlib.Open(name)
		if err != nil {
			continue
		}
		start, end := lib.Lookup("nvtxRangeStartA"), lib.Lookup("nvtxRangeEnd")
		if start != 0 && end != 0 {
			return &nvtx{rangeStart: start, rangeEnd: end, call: func(function uintptr, args ...uintptr) uintptr {
				return lib.Call(function, args)
			}}
		}
	}
	return nil
}
