//go:build !linux || mips64 || mips64le

package memlock

// limit returns how many bytes the process may lock, if that is limited.
func limit() (uint64, bool) { return 0, false }

// HostMemory returns how many bytes of memory the host has, if that is known.
func HostMemory() (uint64, bool) { return 0, false }
