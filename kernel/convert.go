package kernel

import "unsafe"

// ToInteger truncates x toward zero. Values outside the range of To become the
// nearest value of To; NaN becomes 0.
//
// In a kernel, the conversion To(x) does the same on every device. In other Go
// code, the result of converting an out-of-range value depends on the processor.
// Use ToInteger for values that may be out of range in functions that kernels
// share with other Go code, and in kernels that tests run with [Each].
func ToInteger[To Integer, From Float](x From) To {
	lowest, highest := To(0), ^To(0)
	if highest < 0 { // a signed type
		lowest = 1 << (8*unsafe.Sizeof(lowest) - 1)
		highest = ^lowest
	}
	switch {
	case x <= From(lowest):
		return lowest
	case x >= From(highest): // From(highest) may round up to highest+1
		return highest
	case x != x:
		return 0
	}
	return To(x)
}
