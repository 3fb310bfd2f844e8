//go:build linux && !mips64 && !mips64le

package gpu

import "syscall"

// rlimitMemlock is RLIMIT_MEMLOCK, which package syscall does not have.
const rlimitMemlock = 8

// memlockLimit returns how many bytes the process may lock, if that is limited.
func memlockLimit() (uint64, bool) {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(rlimitMemlock, &r); err != nil || r.Cur == ^uint64(0) {
		return 0, false
	}
	return r.Cur, true
}
