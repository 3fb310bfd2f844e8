//go:build !quern

package kernels

import "unsafe"

// hasAVX2 reports whether the processor and the system support AVX2 and FMA.
var hasAVX2 = detectAVX2()

func addProduct[T Float](sums []T, stride int, a, b []T, steps int) {
	if !hasAVX2 || steps == 0 {
		addProductPlain(sums, stride, a, b, steps)
		return
	}
	_, _, _ = sums[(panelA-1)*stride+panelB-1], a[steps*panelA-1], b[steps*panelB-1]
	if unsafe.Sizeof(sums[0]) == 4 {
		addProduct32(unsafe.Pointer(&sums[0]), stride, unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), steps)
	} else {
		addProduct64(unsafe.Pointer(&sums[0]), stride, unsafe.Pointer(&a[0]), unsafe.Pointer(&b[0]), steps)
	}
}

func dotOf[T Float](x, y []T) T {
	const least = 32
	if !hasAVX2 || len(x) < least || len(y) < len(x) {
		return dotOfPlain(x, y)
	}
	n := len(x) / least * least
	var sum T
	if unsafe.Sizeof(sum) == 4 {
		sum = T(dot32(unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), n))
	} else {
		sum = T(dot64(unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), n))
	}
	for i := n; i < len(x); i++ {
		sum += x[i] * y[i]
	}
	return sum
}

func dotsOf[T Float](a, b, x []T) (T, T) { return dotOf(a, x), dotOf(b, x) }

func addRows[T Float](sums, a, b, c, d []T, fa, fb, fc, fd T) {
	addMultiple(sums, a, fa)
	addMultiple(sums, b, fb)
	addMultiple(sums, c, fc)
	addMultiple(sums, d, fd)
}

func addMultiple[T Float](y, x []T, f T) {
	const least = 16
	if !hasAVX2 || len(y) < least || len(x) < len(y) {
		addMultiplePlain(y, x, f)
		return
	}
	n := len(y) / least * least
	if unsafe.Sizeof(f) == 4 {
		axpy32(unsafe.Pointer(&y[0]), unsafe.Pointer(&x[0]), n, float32(f))
	} else {
		axpy64(unsafe.Pointer(&y[0]), unsafe.Pointer(&x[0]), n, float64(f))
	}
	addMultiplePlain(y[n:], x[n:len(y)], f)
}

// detectAVX2 is in simd_amd64.s, like the functions below, which are addProduct, dotOf and
// addMultiple for lengths that are multiples of 32 and 16.
func detectAVX2() bool

//go:noescape
func addProduct32(sums unsafe.Pointer, stride int, a, b unsafe.Pointer, steps int)

//go:noescape
func addProduct64(sums unsafe.Pointer, stride int, a, b unsafe.Pointer, steps int)

//go:noescape
func dot32(x, y unsafe.Pointer, n int) float32

//go:noescape
func dot64(x, y unsafe.Pointer, n int) float64

//go:noescape
func axpy32(y, x unsafe.Pointer, n int, f float32)

//go:noescape
func axpy64(y, x unsafe.Pointer, n int, f float64)
