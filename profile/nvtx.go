package profile

import (
	"os"
	"runtime"
	"sync"
	"unsafe"
)

// nvtx is NVIDIA's library for annotations, which passes them to the tool that is attached to
// the program.
type nvtx struct {
	call       func(function uintptr, args ...uintptr) uintptr
	rangeStart uintptr // nvtxRangeStartA
	rangeEnd   uintptr // nvtxRangeEnd
}

// ranges returns the library, or nil if no tool is attached: tools set one of these
// variables. Ranges do not belong to threads, unlike those of nvtxRangePush, because a
// goroutine may change its thread.
var ranges = sync.OnceValue(func() *nvtx {
	if os.Getenv("NVTX_INJECTION64_PATH") == "" && os.Getenv("CUDA_INJECTION64_PATH") == "" {
		return nil
	}
	return openNVTX()
})

// begin begins a range and returns its number.
func (n *nvtx) begin(name string) uint64 {
	text := append([]byte(name), 0)
	var pins runtime.Pinner
	defer pins.Unpin()
	pins.Pin(&text[0])
	return uint64(n.call(n.rangeStart, uintptr(unsafe.Pointer(&text[0]))))
}

func (n *nvtx) end(number uint64) { n.call(n.rangeEnd, uintptr(number)) }
