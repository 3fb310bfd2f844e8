//go:build amd64 || arm64

package callsite

// Caller returns the return address of its caller: the position where that
// function was called, in the form that [runtime.CallersFrames] accepts. The
// calling function must not be inlined.
func Caller() uintptr
