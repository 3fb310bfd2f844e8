//go:build amd64 || arm64

package callsite

// Caller returns the return address of the function that calls it: the place
// where that function was called, as [runtime.CallersFrames] takes it. The
// function must not be inlined.
func Caller() uintptr
