// Package sparse multiplies with sparse matrices, converts them, solves linear systems
// with them, and reads MatrixMarket files.
//
// # Matrices
//
// A matrix is a small value that describes buffers on a device: [CSR], [CSC], [COO],
// [ELL] and [BSR]. The elements are float32 or float64, and the indices int32, so a
// matrix has less than 2^31 rows, columns and entries. Entries with the same row and
// column add up. [Entries] is a matrix in host memory:
//
//	e, _, err := sparse.ReadMarket[float64](file)
//	a, err := sparse.UploadCSR(s, e)
//	defer a.Close()
//	err = sparse.MulVec(s, false, 1, a, x, 0, y) // y = a*x
//
// The transpose of a CSR matrix is a CSC matrix with the same buffers, and
// [CSR.Transpose], [CSC.Transpose] and [COO.Transpose] change only the description.
//
// # Conversions
//
// [COOToCSR], [CSRToCOO], [CSRToCSC], [CSCToCSR], [CSRToELL], [ELLToCSR], [CSRToBSR] and
// [BSRToCSR] write to the buffers of a matrix of the right size. Where it depends on the elements,
// [CountELL], [CountBSR] and [CountBlocks] tell it.
//
// # Products
//
// [MulVec] chooses a kernel by the lengths of the rows: one thread per row, a part of a
// warp per row, or, if some rows are much longer than others, the same number of
// entries per thread (merge-based). CSR.Longest tells the length of the longest row;
// set it with [Analyze] for a matrix that was made on the device. Without it, the mean
// length decides. [MulMat] multiplies with dense matrices. The other forms have functions of
// their own, such as [MulVecCOO] and [MulMatBSR]. To multiply with the transpose of an ELL or
// BSR matrix, convert it to CSR. Package cudalib makes cuSPARSE compute the products of a
// stream, where it is installed.
//
// # Systems
//
// [SolveTriangular] solves triangular systems. [CG] and [GMRES] are iterative solvers;
// they wait for the device, take a context, and report the residual after each
// iteration. [Jacobi] and [ILU0] are preconditioners. A solver that does not reach its
// tolerance returns a [ConvergenceError].
//
// # Results
//
// Every function gives the same bits each time it is called with the same arguments on
// the same device: nothing is added with atomic operations. Devices differ by rounding,
// because they add up in different orders. The error of an element of a product is at
// most the number of its terms, times the sum of their magnitudes, times 2^-24 for
// float32 and 2^-53 for float64.
//
// # Calls
//
// Functions add work to the stream and return, except those that take a context. They
// allocate nothing once the device's pool has memory; the functions that need temporary
// memory take a [gpu.Workspace] as the last argument. Sizes are checked first: an
// [Error] names the function, the argument and the rule, and nothing is written. So it is with a
// result that shares memory with an argument, unless the function allows it. The
// indices in a matrix are checked by the kernels: one that is out of range stops the
// kernel, and the next wait returns a [gpu.KernelError]. On a GPU, [SolveTriangular]
// and [NewILU0] then wait for ever for the row that has failed, so verify matrices of
// unknown origin with [MulVec] first.
//
// Matrices may be used by several goroutines and streams at a time if none writes them.
package sparse
