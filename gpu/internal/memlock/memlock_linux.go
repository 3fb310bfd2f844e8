//go:build linux && !mips64 && !mips64le

package memlock

import "syscall"

// rlimitMemlock is RLIMIT_MEMLOCK, which package syscall does not have.
const rlimitMemlock = 8

// limit returns how many bytes the process may lock, if that is limited.
func limit() (uint64, bool) {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(rlimitMemlock, &r); err != nil || r.Cur == ^uint64(0) {
		return 0, false
	}
	return r.Cur, true
}

// HostMemory returns how many bytes of memory the host has, if that is known.
func HostMemory() (uint64, bool) {
	var i syscall.Sysinfo_t
	if err := syscall.Sysinfo(&i); err != nil {
		return 0, false
	}
	return uint64(i.Totalram) * uint64(i.Unit), true
}
