//go:build unix && !aix && !solaris

package filemap

import (
	"os"
	"syscall"
)

// Map maps a file copy-on-write.
func Map(f *os.File, size int64) ([]byte, error) {
	b, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|noReserve)
	return b, os.NewSyscallError("mmap", err)
}

// Unmap removes a mapping.
func Unmap(b []byte) error { return os.NewSyscallError("munmap", syscall.Munmap(b)) }
