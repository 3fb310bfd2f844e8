package generic

import (
	"unsafe"

	"quern.dev/kernel"
)

// aligned has 16 bytes, of which 9 are used.
type aligned struct {
	Wide int64
	Flag bool
}

// sizes writes how many elements of T have 16 bytes, plus the size of four of them.
//
//quern:kernel instantiate=uint8,float32,complex128,aligned
func sizes[T any](t kernel.Thread, x []T, out []int32) {
	var four [4]T
	if i := t.Global(); i < len(out) && i < len(x) {
		v := x[i]
		out[i] = 16/int32(unsafe.Sizeof(v)) + int32(int(unsafe.Sizeof(four)))
	}
}
