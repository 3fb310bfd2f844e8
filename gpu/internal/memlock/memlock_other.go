//go:build !linux || mips64 || mips64le

package memlock

// limit returns the number of bytes that the process may lock, if there is a limit.
func limit() (uint64, bool) { return 0, false }

// HostMemory returns the size of the host's memory in bytes, if it is known.
func HostMemory() (uint64, bool) { return 0, false }
