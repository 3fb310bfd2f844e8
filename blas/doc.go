// Package blas has dense linear algebra on buffers, on every device: products of matrices,
// triangular systems, products with vectors, norms, and transposition. Its conventions are those
// of gonum's blas64 and blas32.
//
//	a := blas.General[float32]{Rows: m, Cols: k, Stride: k, Data: bufferA}
//	b := blas.General[float32]{Rows: k, Cols: n, Stride: n, Data: bufferB}
//	c := blas.General[float32]{Rows: m, Cols: n, Stride: n, Data: bufferC}
//	err := blas.Gemm(s, blas.NoTrans, blas.NoTrans, 1, a, b, 0, c)
//
// Functions add work to a stream and return. They do not wait, and results such as a norm stay on
// the device, in buffers of one element.
//
// # Matrices and vectors
//
// A [General] matrix is row-major: element (i, j) is Data[i*Stride+j]. A part of a matrix is a
// matrix with the same stride, whose Data is a sub-buffer. A [Vector] has an increment, which may
// be negative: then the first element is the last one in memory. A [Batch] is several matrices at
// equal distances.
//
// If beta is 0, the result is not read, so it may hold NaN. If alpha is 0, the factors are not
// read.
//
// # Products
//
// [Gemm], [GemmEpilogue] and [GemmBatched] compute in the type of their elements. [GemmTensor]
// takes matrices of Float16, BFloat16 or float32 to tensor cores, [GemmInteger] those of 8-bit
// integers, and [GemmFloat8] those of 8-bit floats; float32 loses 13 of its 24 significant bits there (TF32), so this is a function of its
// own. An [Epilogue] adds a bias, applies an activation and adds a residual before C is written.
//
// The kernel, the size of its tiles, and the number of parts that a long sum is divided into are
// chosen by the sizes and the device. On amd64, the CPU device uses AVX2 and FMA if the processor
// has them. Package cudalib makes cuBLASLt compute products of a stream, where it is installed.
//
// # Errors of results
//
// With u the unit of rounding (2**-24 for float32, 2**-53 for float64), and k the number of terms:
//
//   - An element of a product is off by at most (k+4)*u times the sum of the magnitudes of its
//     terms, with s more if the sum is divided into s parts. [GemmTensor]: (2k+4) * 2**-23;
//     [GemmFloat8]: (2k+4) * 2**-13.
//   - [Dot], [Asum]: (k/128 + 64)*u times the sum of the magnitudes. [Nrm2]: 2u of the result,
//     and (k/128 + 64) * 2**-53. No square overflows or vanishes. [Lange]: exact for MaxAbs, (k+4)*u
//     of the result for sums of k elements, and as [Nrm2] for Frobenius.
//   - [Trsm]: the residual of an element is at most (4k+16)*u times the sum of the magnitudes of
//     its terms.
//
// A function has the same result in each run on a device. Devices differ in the order of sums.
//
// # Operands that share memory
//
// The operand that is written must not share elements with others, unless a function says so.
// Functions return an error if it does. Parts of one matrix that have no element in common, such
// as two blocks of columns, are different operands.
//
// # Memory
//
// Functions that may need temporary memory take it from the pool of the device, or from a
// [gpu.Workspace], their last argument. Otherwise nothing is allocated. All functions can be
// recorded in graphs.
//
// # Errors
//
// Arguments are checked before anything is added to the stream. An [*Error] names the function, the
// argument and the rule. It matches [gpu.ErrInvalid].
package blas
