package p

import (
	"unsafe"

	"quern.dev/kernel"
)

//quern:kernel
func sliceLiteral(t kernel.Thread, x []int) {
	x[0] = []struct{ a, b int }{{1, 2}}[0].a
	x[1] = []int{1, 2}[t.Lane()]
	for i, v := range []struct{ a [2]int }{{}} {
		x[i] = v.a[0]
	}
	// The length of an array is constant: the operand is not evaluated.
	for i := range &[]struct{ a [2]int }{{}}[0].a {
		x[i] = 0
	}
	x[2] = (*(&[][3]int{{}}[0]))[1]
}

//quern:kernel
func panics(t kernel.Thread, x []int) {
	if x[0] == 0 {
		panic(x[0])
	}
	panic("constant" + " string")
}

//quern:kernel
func comparesWithNil(t kernel.Thread, x []int, p [4]int) {
	if x == nil || nil != x[1:] {
		x[0] = 1
	}
	if q := &p; q == nil {
		x[0] = 2
	}
}

//quern:kernel
func unsafePointers(t kernel.Thread, x []int) {
	p := unsafe.Pointer(&x[0])
	x[1] = int(*(*int32)(p))
	x[2] = int(*(*int32)(unsafe.Pointer(&x[1])))
	x[3] = int(uintptr(unsafe.Pointer(&x[1])))
}
