//go:build linux && !race

package fakecuda

import (
	"syscall"
	"unsafe"
)

// mostFenced is the maximum number of freed ranges that stay fenced; a process can have
// about 65,000 mappings.
const mostFenced = 10_000

// hostWords returns zeroed memory outside the Go heap, for fence.
func hostWords(n int) ([]uint64, bool) {
	b, err := syscall.Mmap(-1, 0, n*8, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return nil, false
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), n), true
}

// fence makes each later access to memory of hostWords fault, as accesses to freed
// memory of the real driver do.
func (l *Library) fence(words []uint64) {
	b := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(words))), len(words)*8)
	if err := syscall.Mprotect(b, syscall.PROT_NONE); err != nil {
		panic(err)
	}
	if l.fenced = append(l.fenced, b); len(l.fenced) > mostFenced {
		if err := syscall.Munmap(l.fenced[0]); err != nil {
			panic(err)
		}
		l.fenced = l.fenced[1:]
	}
}
