package kernel

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"quern.dev/internal/mma"
)

// The operations of this file multiply matrices with the tensor cores of a GPU
// (compute capability 8.0 and later). Before 8.9, 8-bit floats are converted to
// Float16 for it. Like warp operations, all threads of the
// warp must call them together. The kernel's directive must declare a block of
// whole warps, for example block=128.
//
// A warp multiplies A, with 16 rows and K columns, by B, with K rows and 8
// columns, and adds the product to a 16x8 matrix. K elements take 32 bytes. Each
// of the three matrices is a fragment: every one of the 32 threads holds an array
// with the elements that the hardware assigns to it.

// MatrixElement is any element type of the matrices that MMA multiplies. For
// float32, only the upper 11 of the 24 significant bits are used (the TF32
// format), rounded to nearest.
type MatrixElement interface {
	Float16 | BFloat16 | Float8E4M3 | Float8E5M2 | float32 | float64 | int8 | uint8
}

// MatrixA is a thread's share of a 16xK matrix, the left factor of [MMA]. For
// float64 these are column l%4 of rows l/4 and l/4+8 in lane l: words 0 and 1 are
// the lower halves of the two elements, words 2 and 3 the upper ones.
type MatrixA[T MatrixElement] [4]uint32

// MatrixB is a thread's share of a Kx8 matrix, the right factor of [MMA]. For
// float64 this is row l%4 of column l/4 in lane l, the lower half first.
type MatrixB[T MatrixElement] [2]uint32

// Accumulator is a thread's share of a 16x8 matrix to which products are added.
// It has four elements; Row and Column give their positions. C is int32 for
// products of int8 and uint8, float64 for products of float64, and float32 for all
// others. The zero value is a matrix of zeros.
type Accumulator[C float32 | float64 | int32] [4]C

// Row returns the row, 0 to 15, of the accumulator's element i in thread t.
// Elements 0 and 1 are in the same row; 2 and 3 are 8 rows below.
func (Accumulator[C]) Row(t Thread, i int) int { return t.Lane()>>2 + i>>1<<3 }

// Column returns the column, 0 to 7, of the accumulator's element i in thread t.
// Elements 0 and 1 are adjacent and start at an even column; so do 2 and 3.
func (Accumulator[C]) Column(t Thread, i int) int { return t.Lane()&3<<1 + i&1 }

// MatrixColumns returns K, the number of columns of a matrix A with elements of
// type T: 16 for Float16 and BFloat16, 8 for float32, 4 for float64, 32 for types of
// 8 bits.
func MatrixColumns[T MatrixElement]() int { return max(8*matrixWord[T](), 4) }

// MMA returns a*b + c. The element types of A and B must be equal, or int8 and
// uint8, or both 8-bit floats.
//
// Integer sums wrap around and are the same on every device. On the CPU and in
// Each, a float result is c plus the K products in increasing order of k,
// computed in float64 and rounded once. A GPU adds in a different order and with
// fewer bits: the results differ by at most (K+1) * 2**-23 times the sum of the
// magnitudes of c and the products. Products of float64 are added in increasing
// order of k, with one rounding for each; a GPU may use another order, so 2**-52
// replaces 2**-23. For 8-bit floats a GPU may keep only 13 bits after the leading bit
// of the largest term, so 2**-13 replaces 2**-23.
func MMA[A, B MatrixElement, C float32 | float64 | int32](t Thread, a MatrixA[A], b MatrixB[B], c Accumulator[C]) Accumulator[C] {
	fa, fb := matrixFormat[A](), matrixFormat[B]()
	mustMultiply[C](fa, fb)
	type factors struct {
		a [4]uint32
		b [2]uint32
	}
	var as mma.A
	var bs mma.B
	for lane, f := range gatherWhole(t, "MMA", factors{a, b}) {
		as[lane], bs[lane] = f.a, f.b
	}
	return mma.MultiplyLane(fa, fb, t.Lane(), &as, &bs, c)
}

// LoadMatrixA reads a 16xK matrix A from shared memory. The elements of a row are
// adjacent and take 32 bytes. Each thread points to 16 of these bytes: lane l
// points to half l/16 of row l%16. R must match T: it is an array of 16 bytes of T,
// such as [8]Float16, [16]int8 or [4]float32.
//
// The placement of the halves affects only the speed. Lanes 0 to 7, 8 to 15 and
// so on each read eight halves, in one access if these lie in different 16-byte
// parts of 128 bytes.
func LoadMatrixA[T MatrixElement, R MatrixLine](t Thread, line *R) MatrixA[T] {
	return loadMatrix[T](t, "LoadMatrixA", line, false)
}

// LoadMatrixATransposed reads a 16x16 matrix A from shared memory, where the
// elements of a column are adjacent. Lane l points to half l/16 of column l%16. T
// must have 16 bits.
func LoadMatrixATransposed[T Float16 | BFloat16, R MatrixLine](t Thread, line *R) MatrixA[T] {
	m := loadMatrix[T](t, "LoadMatrixATransposed", line, true)
	return MatrixA[T]{m[0], m[2], m[1], m[3]}
}

// LoadMatrixB reads two adjacent 16x8 matrices B from shared memory, where the
// elements of a row are adjacent. Lane l points to half l/16 of row l%16; the
// first half belongs to the left matrix, the second to the right one. T must have
// 16 bits.
func LoadMatrixB[T Float16 | BFloat16, R MatrixLine](t Thread, line *R) (left, right MatrixB[T]) {
	m := loadMatrix[T](t, "LoadMatrixB", line, true)
	return MatrixB[T]{m[0], m[1]}, MatrixB[T]{m[2], m[3]}
}

// LoadMatrixBTransposed reads two adjacent Kx8 matrices B from shared memory,
// where the elements of a column are adjacent and take 32 bytes. Lane l points to
// half l/16 of column l%16; columns 8 to 15 belong to the right matrix.
func LoadMatrixBTransposed[T MatrixElement, R MatrixLine](t Thread, line *R) (left, right MatrixB[T]) {
	m := loadMatrix[T](t, "LoadMatrixBTransposed", line, false)
	return MatrixB[T]{m[0], m[2]}, MatrixB[T]{m[1], m[3]}
}

// MatrixLine is 16 bytes of a matrix in shared memory.
type MatrixLine interface {
	~[8]Float16 | ~[8]BFloat16 | ~[16]Float8E4M3 | ~[16]Float8E5M2 | ~[4]float32 | ~[16]int8 | ~[16]uint8
}

// ReadMatrixA reads a 16xK matrix A whose element in row i and column k is
// s[i*row+k*column]. It works with any memory and layout; [LoadMatrixA] is faster
// where it applies.
func ReadMatrixA[T MatrixElement](t Thread, s []T, row, column int) MatrixA[T] {
	var m MatrixA[T]
	n := matrixWord[T]()
	if n == 0 { // an element is two words
		for i := range 2 {
			bits := matrixBits(s[(t.Lane()>>2+i*8)*row+t.Lane()&3*column])
			m[i], m[i+2] = uint32(bits), uint32(bits>>32)
		}
		return m
	}
	i, k := t.Lane()>>2, t.Lane()&3*n
	for w := range m {
		m[w] = readMatrix(s, (i+w&1*8)*row+(k+w>>1*4*n)*column, column)
	}
	return m
}

// ReadMatrixB reads a Kx8 matrix B whose element in row k and column j is
// s[k*row+j*column].
func ReadMatrixB[T MatrixElement](t Thread, s []T, row, column int) MatrixB[T] {
	var m MatrixB[T]
	n := matrixWord[T]()
	if n == 0 {
		bits := matrixBits(s[t.Lane()>>2*column+t.Lane()&3*row])
		m[0], m[1] = uint32(bits), uint32(bits>>32)
		return m
	}
	j, k := t.Lane()>>2, t.Lane()&3*n
	for w := range m {
		m[w] = readMatrix(s, j*column+(k+w*4*n)*row, row)
	}
	return m
}

// readMatrix packs the elements of one word.
func readMatrix[T MatrixElement](s []T, at, step int) uint32 {
	var word uint32
	n := matrixWord[T]()
	for i := range n {
		word |= uint32(matrixBits(s[at+i*step])) << (i * 32 / n)
	}
	return word
}

// matrixWord returns the number of elements per word, 0 for float64. The compiler
// implements it and matrixBits itself.
func matrixWord[T MatrixElement]() int { return 4 / matrixFormat[T]().Size() }

// matrixBits returns the representation of x.
func matrixBits[T MatrixElement](x T) uint64 {
	switch x := any(x).(type) {
	case Float16:
		return uint64(x.Bits())
	case BFloat16:
		return uint64(x.Bits())
	case Float8E4M3:
		return uint64(x.Bits())
	case Float8E5M2:
		return uint64(x.Bits())
	case float32:
		return uint64(math.Float32bits(x))
	case float64:
		return math.Float64bits(x)
	case int8:
		return uint64(uint8(x))
	}
	return uint64(any(x).(uint8))
}

func matrixFormat[T MatrixElement]() mma.Format {
	var x T
	switch any(x).(type) {
	case Float16:
		return mma.Float16
	case BFloat16:
		return mma.BFloat16
	case Float8E4M3:
		return mma.E4M3
	case Float8E5M2:
		return mma.E5M2
	case float32:
		return mma.TF32
	case float64:
		return mma.Float64
	case int8:
		return mma.Int8
	}
	return mma.Uint8
}

// mustMultiply panics unless MMA supports the combination of types.
func mustMultiply[C float32 | float64 | int32](a, b mma.Format) {
	var c C
	_, integer := any(c).(int32)
	_, double := any(c).(float64)
	if !mma.Match(a, b) || integer != (a >= mma.Int8) || double != (a == mma.Float64) {
		panic("kernel: MMA: the matrix types do not match: both factors must have the same type, or be int8 and uint8, or 8-bit floats; the accumulator must be int32 for int8 and uint8, float64 for float64, and float32 otherwise")
	}
}

// loadMatrix returns the thread's words of the matrices to which the warp's
// threads point.
func loadMatrix[T MatrixElement, R MatrixLine](t Thread, operation string, line *R, transposed bool) [4]uint32 {
	var element T
	if reflect.TypeFor[R]().Elem() != reflect.TypeOf(element) {
		panic(fmt.Sprintf("kernel: %s: the element type is %T, but the line type is %T", operation, element, *line))
	}
	var words [4]uint32
	for i := range words {
		words[i] = binary.NativeEndian.Uint32(unsafe.Slice((*byte)(unsafe.Pointer(line)), 16)[4*i:])
	}
	lines := mma.Lines(gatherWhole(t, operation, words))
	return lines.Load(t.Lane(), transposed)
}

// gatherWhole is gather for a warp that must be complete.
func gatherWhole[T any](t Thread, operation string, v T) []T {
	values := gather(t, operation, v)
	if len(values) != warpSize {
		panic("kernel: " + operation + ": the warp has fewer than 32 threads; use a block of whole warps")
	}
	return values
}
