//go:build quern || !amd64

package kernels

// The loops in which the kernels for the CPU device spend their time. On amd64 the program
// has others; kernels are compiled with these.

func addProduct[T Float](sums []T, stride int, a, b []T, steps int) {
	addProductPlain(sums, stride, a, b, steps)
}

func dotOf[T Float](x, y []T) T { return dotOfPlain(x, y) }

// dotsOf returns the products of a and b with x. All have the same length.
func dotsOf[T Float](a, b, x []T) (T, T) {
	var s0, s1, s2, s3, u0, u1, u2, u3 T
	for i := range len(x) / 8 {
		a, b, x := (*[8]T)(a[i*8:]), (*[8]T)(b[i*8:]), (*[8]T)(x[i*8:])
		s0 += a[0] * x[0]
		u0 += b[0] * x[0]
		s1 += a[1] * x[1]
		u1 += b[1] * x[1]
		s2 += a[2] * x[2]
		u2 += b[2] * x[2]
		s3 += a[3] * x[3]
		u3 += b[3] * x[3]
		s0 += a[4] * x[4]
		u0 += b[4] * x[4]
		s1 += a[5] * x[5]
		u1 += b[5] * x[5]
		s2 += a[6] * x[6]
		u2 += b[6] * x[6]
		s3 += a[7] * x[7]
		u3 += b[7] * x[7]
	}
	for i := range len(x) % 8 {
		i += len(x) / 8 * 8
		s0 += a[i] * x[i]
		u0 += b[i] * x[i]
	}
	return (s0 + s1) + (s2 + s3), (u0 + u1) + (u2 + u3)
}

// addRows adds a multiple of each row to the sums. All have the same length.
func addRows[T Float](sums, a, b, c, d []T, fa, fb, fc, fd T) {
	a, b, c, d = a[:len(sums)], b[:len(sums)], c[:len(sums)], d[:len(sums)]
	for j, v := range sums {
		sums[j] = v + (fa*a[j] + fb*b[j]) + (fc*c[j] + fd*d[j])
	}
}

func addMultiple[T Float](y, x []T, f T) { addMultiplePlain(y, x, f) }
