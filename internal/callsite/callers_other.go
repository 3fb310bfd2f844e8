//go:build !amd64 && !arm64

package callsite

import "runtime"

// Callers stores the return addresses of the calling function and of its callers in pcs,
// as [runtime.CallersFrames] accepts them, and returns how many there are.
func Callers(pcs []uintptr) int { return runtime.Callers(3, pcs) }

// Goroutine returns a number that no two running goroutines share, or 0 if the processor's
// is not known.
func Goroutine() uintptr { return 0 }
