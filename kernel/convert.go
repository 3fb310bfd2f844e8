package kernel

import "unsafe"

// ToInteger returns x without its fraction, and the nearest value of type To where
// that is beyond the type's range; NaN becomes 0.
//
// In a kernel it is the conversion To(x), which means this on every device. In Go
// the conversion of such values gives whatever the processor makes of them. So
// functions that kernels share with other Go code, and tests that run a kernel by
// [Each], use ToInteger where values may be out of range.
func ToInteger[To Integer, From Float](x From) To {
	lowest, highest := To(0), ^To(0)
	if highest < 0 { // a signed type
		lowest = 1 << (8*unsafe.Sizeof(lowest) - 1)
		highest = ^lowest
	}
	switch {
	case x <= From(lowest):
		return lowest
	case x >= From(highest): // which may be rounded to the number behind it
		return highest
	case x != x:
		return 0
	}
	return To(x)
}
