//go:build unix && !aix && !solaris

package gpu

import (
	"os"
	"syscall"
)

// mapFile maps a file so that pages that are written become the process's own.
func mapFile(f *os.File, size int64) ([]byte, error) {
	b, err := syscall.Mmap(int(f.Fd()), 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|noReserve)
	return b, os.NewSyscallError("mmap", err)
}

func unmapFile(b []byte) error { return os.NewSyscallError("munmap", syscall.Munmap(b)) }
