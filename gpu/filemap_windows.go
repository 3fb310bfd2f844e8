package gpu

import (
	"os"
	"syscall"
	"unsafe"
)

// fileMapCopy is FILE_MAP_COPY: pages that are written become the process's own.
const fileMapCopy = 1

func mapFile(f *os.File, size int64) ([]byte, error) {
	h, err := syscall.CreateFileMapping(syscall.Handle(f.Fd()), nil, syscall.PAGE_WRITECOPY, uint32(size>>32), uint32(size), nil)
	if err != nil {
		return nil, os.NewSyscallError("CreateFileMapping", err)
	}
	defer syscall.CloseHandle(h) // the view keeps the mapping
	addr, err := syscall.MapViewOfFile(h, fileMapCopy, 0, 0, uintptr(size))
	if err != nil {
		return nil, os.NewSyscallError("MapViewOfFile", err)
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), size), nil // the system's memory, not Go's: size bytes of it are mapped until unmapFile
}

func unmapFile(b []byte) error {
	return os.NewSyscallError("UnmapViewOfFile", syscall.UnmapViewOfFile(uintptr(unsafe.Pointer(unsafe.SliceData(b)))))
}
