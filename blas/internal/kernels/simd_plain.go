//go:build quern || !amd64

package kernels

// The loops in which the kernels for the CPU device spend their time. On amd64 the program
// has others; kernels are compiled with these.

func addProduct[T Float](sums []T, stride int, a, b []T, steps int) {
	addProductPlain(sums, stride, a, b, steps)
}

func dotOf[T Float](x, y []T) T { return dotOfPlain(x, y) }

func dotsOf[T Float](a, b, x []T) (T, T) { return dotsOfPlain(a, b, x) }

func addRows[T Float](sums, a, b, c, d []T, fa, fb, fc, fd T) {
	addRowsPlain(sums, a, b, c, d, fa, fb, fc, fd)
}

func addMultiple[T Float](y, x []T, f T) { addMultiplePlain(y, x, f) }
