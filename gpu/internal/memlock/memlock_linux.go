//go:build linux && !mips64 && !mips64le

package memlock

import "syscall"

// rlimitMemlock is RLIMIT_MEMLOCK, which package syscall does not have.
const rlimitMemlock = 8

// limit returns the number of bytes that the process may lock, if there is a limit.
func limit() (uint64, bool) {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(rlimitMemlock, &r); err != nil || r.Cur == ^uint64(0) {
		return 0, false
	}
	return r.Cur, true
}

// HostMemory returns the size of the host's memory in bytes, if it is known.
func HostMemory() (uint64, bool) {
	var i syscall.Sysinfo_t
	if err := syscall.Sysinfo(&i); err != nil {
		return 0, false
	}
	return uint64(i.Totalram) * uint64(i.Unit), true
}
