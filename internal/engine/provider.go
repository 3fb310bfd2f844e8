package engine

import (
	"unsafe"

	"quern.dev/gpu"
)

// Library is a library of a vendor.
type Library uint8

// The libraries, by subject.
const (
	BLAS Library = iota
	FFT
	Sparse

	Libraries = iota
)

// String returns the name of NVIDIA's library.
func (l Library) String() string { return [...]string{"cuBLASLt", "cuFFT", "cuSPARSE"}[l] }

// Provider computes operations with libraries of a vendor. It checks what its libraries
// support, and returns an [*Error] for other problems; the callers have checked sizes, and that
// operands do not overlap. Methods add work to the stream without waiting, and take temporary
// memory from w, or from the device's pool if w is nil. It is safe for concurrent use.
type Provider interface {
	// Version returns the name and the version of a library, or "" if it cannot be used.
	Version(d *gpu.Device, l Library) string

	// CanMultiply returns nil if Multiply can compute p.
	CanMultiply(d *gpu.Device, p Product) error
	Multiply(s *gpu.Stream, p Product, o Operands, w *gpu.Workspace) error

	// NewTransform prepares a Fourier transform. The caller closes it.
	NewTransform(d *gpu.Device, t Transform) (Transformer, error)

	// CanMultiplySparse returns nil if MultiplySparse can compute p.
	CanMultiplySparse(d *gpu.Device, p SparseProduct) error
	MultiplySparse(s *gpu.Stream, p SparseProduct, o SparseOperands, w *gpu.Workspace) error
}

// Number is the type of elements.
type Number uint8

// The types. TF32 is float32 that is multiplied with fewer bits.
const (
	Float32 Number = iota
	Float64
	TF32
	Float16
	BFloat16
	Int8
	Uint8
	Float8 // 8-bit floats of any format
)

// Product describes products of row-major matrices, C = alpha*op(A)*op(B) + beta*C, then the
// epilogue of package blas. C has elements of type int32 for integers, float64 for float64, and
// float32 otherwise.
type Product struct {
	Op      string // such as "blas.Gemm"
	Element Number // of A and B

	M, N, K, Batch            int // all positive
	TransA, TransB            bool
	StrideA, StrideB, StrideC int
	StepA, StepB, StepC       int

	Bias, BiasRows bool
	Activation     uint8 // as in package blas: none, ReLU, GELU
	Residual       bool
	StrideR, StepR int
	Beta           bool // beta is not 0
}

// Operands are the operands of a Product. Alpha and Beta have the bits of numbers of C's type.
type Operands struct {
	Alpha, Beta             uint64
	A, B, C, Bias, Residual *gpu.Buffer[byte]
}

// Transform describes Fourier transforms.
type Transform struct {
	Op      string // such as "fft.Plan.Forward"
	Kind    TransformKind
	Double  bool
	Rank    int
	Shape   [3]int // of the signal
	Batch   int
	In, Out Layout

	// Factor multiplies the results: the first Floats elements of out. 1 does nothing.
	Factor float64
	Floats int
}

// TransformKind is the type of a transform, and its direction.
type TransformKind uint8

// The kinds.
const (
	Forward TransformKind = iota // of complex numbers
	Inverse
	RealForward
	RealInverse
)

// Layout is where the elements are, as package fft describes it.
type Layout struct {
	Embed        [3]int
	Stride, Dist int
}

// Transformer computes a Transform. Close waits for its work.
type Transformer interface {
	Bytes() int // of temporary memory
	// Run adds the transforms to s. out is a buffer of real numbers, whose length is theirs;
	// work has Bytes elements. in may be overwritten if the kind is RealInverse.
	Run(s *gpu.Stream, out, in, work *gpu.Buffer[byte]) error
	Close() error
}

// SparseProduct describes C = alpha*A*B + beta*C with a matrix A in CSR form. B and C are
// vectors, or row-major matrices.
type SparseProduct struct {
	Op                  string // such as "sparse.MulVec"
	Double              bool
	Rows, Cols, Entries int
	Vector              bool
	Columns             int // of B and C
	StrideB, StrideC    int
	Transpose           bool
}

// SparseOperands are the operands of a SparseProduct. Alpha and Beta have the bits of numbers of
// the type of the elements.
type SparseOperands struct {
	Alpha, Beta  uint64
	Start, Index *gpu.Buffer[int32]
	Value, B, C  *gpu.Buffer[byte]
}

// Bytes returns a buffer as the provider takes it. Its length stays the number of elements of
// type T: the provider uses the address only. The type parameter of a Buffer is that of its
// elements only.
func Bytes[T any](b *gpu.Buffer[T]) *gpu.Buffer[byte] { return (*gpu.Buffer[byte])(unsafe.Pointer(b)) }

// Elements returns memory of a measurement as elements of type T, like Bytes.
func Elements[T any](b *gpu.Buffer[byte]) *gpu.Buffer[T] { return gpu.Reinterpret[T](b) }

// First returns the workspace of a call, or nil.
func First(work []*gpu.Workspace) *gpu.Workspace {
	if len(work) == 0 {
		return nil
	}
	return work[0]
}
