//go:build !linux || mips64 || mips64le

package gpu

// memlockLimit returns how many bytes the process may lock, if that is limited.
func memlockLimit() (uint64, bool) { return 0, false }

// hostMemorySize returns how many bytes of memory the host has, if that is known.
func hostMemorySize() (uint64, bool) { return 0, false }
