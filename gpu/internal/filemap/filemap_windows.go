package filemap

import (
	"os"
	"syscall"
	"unsafe"
)

// fileMapCopy is FILE_MAP_COPY: a copy-on-write view.
const fileMapCopy = 1

// Map maps a file copy-on-write.
func Map(f *os.File, size int64) ([]byte, error) {
	h, err := syscall.CreateFileMapping(syscall.Handle(f.Fd()), nil, syscall.PAGE_WRITECOPY, uint32(size>>32), uint32(size), nil)
	if err != nil {
		return nil, os.NewSyscallError("CreateFileMapping", err)
	}
	defer syscall.CloseHandle(h) // the view keeps the mapping open
	addr, err := syscall.MapViewOfFile(h, fileMapCopy, 0, 0, uintptr(size))
	if err != nil {
		return nil, os.NewSyscallError("MapViewOfFile", err)
	}
	return unsafe.Slice(*(**byte)(unsafe.Pointer(&addr)), size), nil // memory of the system, not of Go: size bytes of it stay mapped until Unmap
}

// Unmap removes a mapping.
func Unmap(b []byte) error {
	return os.NewSyscallError("UnmapViewOfFile", syscall.UnmapViewOfFile(uintptr(unsafe.Pointer(unsafe.SliceData(b)))))
}
