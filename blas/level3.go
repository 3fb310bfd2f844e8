package blas

import (
	"fmt"

	"quern.dev/blas/internal/kernels"
	"quern.dev/gpu"
)

// Uplo says which triangle of a matrix is used. The values are those of gonum's blas.Uplo.
type Uplo byte

// The triangles. Both include the diagonal.
const (
	Upper Uplo = 'U'
	Lower Uplo = 'L'
)

// Diag says what the diagonal of a triangular matrix is. The values are those of gonum's
// blas.Diag.
type Diag byte

// The diagonals: stored in the matrix, or 1 and not read.
const (
	NonUnit Diag = 'N'
	Unit    Diag = 'U'
)

// Side says on which side of the unknowns a matrix is. The values are those of gonum's
// blas.Side.
type Side byte

// The sides.
const (
	Left  Side = 'L'
	Right Side = 'R'
)

// String returns "Upper" or "Lower".
func (u Uplo) String() string { return nameOf("Uplo", byte(u), 'U', "Upper", 'L', "Lower") }

// String returns "NonUnit" or "Unit".
func (d Diag) String() string { return nameOf("Diag", byte(d), 'N', "NonUnit", 'U', "Unit") }

// String returns "Left" or "Right".
func (s Side) String() string { return nameOf("Side", byte(s), 'L', "Left", 'R', "Right") }

func nameOf(typ string, v, a byte, nameA string, b byte, nameB string) string {
	switch v {
	case a:
		return nameA
	case b:
		return nameB
	}
	return fmt.Sprintf("%s(%d)", typ, v)
}

// Symmetric is a symmetric matrix of N rows and columns. Only one triangle of it is
// accessed. Element (i, j) of that triangle is Data[i*Stride+j].
type Symmetric[T any] struct {
	N, Stride int
	Data      *gpu.Buffer[T]
	Uplo      Uplo
}

// Triangular is a triangular matrix of N rows and columns. Only one triangle of it is
// accessed. Element (i, j) of that triangle is Data[i*Stride+j].
type Triangular[T any] struct {
	N, Stride int
	Data      *gpu.Buffer[T]
	Uplo      Uplo
	Diag      Diag
}

func (u Uplo) check(op, arg string) error {
	if u != Upper && u != Lower {
		return invalid(op, arg, "is %d; use Upper or Lower", byte(u))
	}
	return nil
}

// Syrk computes the triangle C.Uplo of C = alpha*A*Aᵀ + beta*C, or with a transposition of
// C = alpha*Aᵀ*A + beta*C. C must not share elements with A.
func Syrk[T Float](s *gpu.Stream, tA Transpose, alpha T, a General[T], beta T, c Symmetric[T], work ...*gpu.Workspace) error {
	const op = "Syrk"
	whole := General[T]{c.N, c.N, c.Stride, c.Data}
	for _, err := range [...]error{tA.check(op, "the transposition of A"), c.Uplo.check(op, "the triangle of C"), a.check(op, "A"), whole.check(op, "C")} {
		if err != nil {
			return err
		}
	}
	n, k := a.shape(tA)
	switch {
	case c.N != n:
		return invalid(op, "C", "has %d rows and columns, but op(A) has %d rows", c.N, n)
	case overlap(a.Data, a.Batch().region(), c.Data, whole.Batch().region()):
		return invalid(op, "C", "shares elements with A")
	}
	tB := Trans
	if tA != NoTrans {
		tB = NoTrans
	}
	quads := a.Stride%4 == 0
	flags := flagsOf(tA, tB, quads, quads, c.Stride%4 == 0) | kernels.Lower
	if c.Uplo == Upper {
		flags += kernels.Upper - kernels.Lower
	}
	x := gemmArguments[T]{
		m: n, n: n, k: k, batch: 1, flags: flags, lda: a.Stride, ldb: a.Stride, ldc: c.Stride,
		alpha: alpha, beta: beta, a: a.Data, b: a.Data, c: c.Data,
	}
	return wrap(op, x.run(s, plan[T], work))
}

// Trsm solves op(A)*X = alpha*B for X, or X*op(A) = alpha*B with A on the right side, and
// writes X to B. A is triangular; a zero on its diagonal gives infinities or NaN. If alpha is 0,
// neither A nor B is read. B must not share elements with A.
func Trsm[T Float](s *gpu.Stream, side Side, tA Transpose, alpha T, a Triangular[T], b General[T]) error {
	const op = "Trsm"
	whole := General[T]{a.N, a.N, a.Stride, a.Data}
	for _, err := range [...]error{tA.check(op, "the transposition of A"), a.Uplo.check(op, "the triangle of A"), whole.check(op, "A"), b.check(op, "B")} {
		if err != nil {
			return err
		}
	}
	switch n := b.Rows; {
	case side != Left && side != Right:
		return invalid(op, "the side of A", "is %d; use Left or Right", byte(side))
	case a.Diag != Unit && a.Diag != NonUnit:
		return invalid(op, "the diagonal of A", "is %d; use NonUnit or Unit", byte(a.Diag))
	case side == Left && n != a.N:
		return invalid(op, "B", "has %d rows, but A has %d", n, a.N)
	case side == Right && b.Cols != a.N:
		return invalid(op, "B", "has %d columns, but A has %d", b.Cols, a.N)
	case b.Rows == 0 || b.Cols == 0:
		return nil
	case overlap(a.Data, whole.Batch().region(), b.Data, b.Batch().region()):
		return invalid(op, "B", "shares elements with A")
	}
	if alpha == 0 {
		x := gemmArguments[T]{m: b.Rows, n: b.Cols, batch: 1, ldc: b.Stride, c: b.Data}
		return wrap(op, x.run(s, plan[T], nil))
	}
	transposed := (tA != NoTrans) != (side == Right)
	e := equations[T]{s, side, tA, a, b, transposed, (a.Uplo == Lower) != transposed}
	return wrap(op, e.solve(0, a.N, alpha))
}

// equations are M*X = B with a triangular matrix M: op(A), or its transpose if A is on the
// right side, because then the rows of B are the right-hand sides.
type equations[T Float] struct {
	s          *gpu.Stream
	side       Side
	tA         Transpose
	a          Triangular[T]
	b          General[T]
	transposed bool // M is the transpose of what is stored
	forward    bool // M is a lower triangle, so the first equation has one unknown
}

// solve solves the equations from to to-1 for the unknowns with the same numbers; all that are
// solved before are inserted. The right-hand sides are multiplied by alpha first.
func (e equations[T]) solve(from, to int, alpha T) error {
	n := to - from
	if n <= kernels.TrsmBlock {
		return e.solveBlock(from, n, alpha)
	}
	half := (n/2 + kernels.TrsmBlock - 1) / kernels.TrsmBlock * kernels.TrsmBlock
	first, second := [2]int{from, from + half}, [2]int{from + half, to}
	if !e.forward {
		first, second = [2]int{to - half, to}, [2]int{from, to - half}
	}
	if err := e.solve(first[0], first[1], alpha); err != nil {
		return err
	}
	if err := e.insert(first, second, alpha); err != nil {
		return err
	}
	return e.solve(second[0], second[1], 1)
}

// insert subtracts the products of known unknowns from the right-hand sides of the equations
// rest, which are multiplied by alpha first.
func (e equations[T]) insert(known, rest [2]int, alpha T) error {
	// The block of A is in the rows rest and the columns known of M.
	row, column := rest[0], known[0]
	if e.transposed {
		row, column = column, row
	}
	block := row*e.a.Stride + column
	x := gemmArguments[T]{batch: 1, alpha: -1, beta: alpha, k: known[1] - known[0], ldc: e.b.Stride, c: e.b.Data, bias: e.b.Data, residual: e.b.Data}
	if e.side == Left {
		x.m, x.n = rest[1]-rest[0], e.b.Cols
		x.a, x.offA, x.lda = e.a.Data, block, e.a.Stride
		x.b, x.offB, x.ldb = e.b.Data, known[0]*e.b.Stride, e.b.Stride
		x.offC = rest[0] * e.b.Stride
		x.flags = flagsOf(e.tA, NoTrans, x.lda%4 == 0 && x.offA%4 == 0, x.ldb%4 == 0, x.ldc%4 == 0)
	} else {
		x.m, x.n = e.b.Rows, rest[1]-rest[0]
		x.a, x.offA, x.lda = e.b.Data, known[0], e.b.Stride
		x.b, x.offB, x.ldb = e.a.Data, block, e.a.Stride
		x.offC = rest[0]
		x.flags = flagsOf(NoTrans, e.tA, x.lda%4 == 0 && x.offA%4 == 0, x.ldb%4 == 0 && x.offB%4 == 0, x.ldc%4 == 0 && x.offC%4 == 0)
	}
	return plan[T](e.s.Device(), x.m, x.n, x.k, 1, x.flags, 1).launch(e.s, x, x.c)
}

// solveBlock solves n equations with a single launch.
func (e equations[T]) solveBlock(from, n int, alpha T) error {
	rowA, columnA := e.a.Stride, 1
	if e.transposed {
		rowA, columnA = columnA, rowA
	}
	rowB, columnB, lines := e.b.Stride, 1, e.b.Cols
	if e.side == Right {
		rowB, columnB, lines = 1, e.b.Stride, e.b.Rows
	}
	offA, offB := from*(e.a.Stride+1), from*rowB
	if !e.forward {
		offA, offB = offA+(n-1)*(e.a.Stride+1), offB+(n-1)*rowB
		rowA, columnA, rowB = -rowA, -columnA, -rowB
	}
	unit := 0
	if e.a.Diag == Unit {
		unit = 1
	}
	return kernels.LaunchTrsm(e.s, gpu.Linear(lines), n, lines, unit, offA, rowA, columnA, offB, rowB, columnB, alpha, e.a.Data, e.b.Data)
}
