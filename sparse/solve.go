package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"

	"quern.dev/gpu"
)

// Options are the options of the iterative solvers. The zero value, or nil, is valid.
type Options[T Float] struct {
	// Tolerance is the norm of the residual b - a*x, relative to that of b, at which a
	// solution is accepted. 0 means 1e-6 for float32 and 1e-10 for float64.
	Tolerance float64

	// MaxIterations limits the products with a. 0 means the number of rows, or at least
	// 100.
	MaxIterations int

	// Preconditioner speeds up convergence. nil means none.
	Preconditioner Preconditioner[T]

	// Restart is the number of iterations after which [GMRES] begins again. It needs as
	// many vectors of memory. 0 means 30; the largest is 128.
	Restart int
}

const maxRestart = 128

// Preconditioner is an approximate inverse of a matrix: a [Jacobi] or an [ILU0].
type Preconditioner[T Float] interface {
	rows() int
	ready(op string) error
	// apply computes z from r.
	apply(s *gpu.Stream, z, r *gpu.Buffer[T]) error
}

// Result describes how a solver has ended.
type Result struct {
	Iterations int     // products with the matrix, without the first residual
	Residual   float64 // norm of b - a*x as the solver has tracked it, relative to that of b
	// History has the residual before the first iteration, and after each one.
	History []float64
}

// ConvergenceError reports that a solver has not reached its tolerance. x has what it
// has reached.
type ConvergenceError struct {
	Op        string // the solver
	Result    Result
	Tolerance float64
	Reason    string // why the solver ended, such as "the limit of iterations is reached"
}

// Error returns, for example, "sparse: CG: not converged after 100 iterations: the
// relative residual is 0.003, not 1e-06: the limit of iterations is reached".
func (e *ConvergenceError) Error() string {
	return fmt.Sprintf("sparse: %s: not converged after %d iterations: the relative residual is %.3g, not %.3g: %s",
		e.Op, e.Result.Iterations, e.Result.Residual, e.Tolerance, e.Reason)
}

// How an iteration has ended.
const (
	running = iota
	converged
	indefinite
	notANumber
	brokenDown
)

// reasons are those for which a solver has not converged.
var reasons = [...]string{
	running:    "the limit of iterations is reached; allow more, or use a preconditioner",
	indefinite: "the matrix, or the preconditioner, is not symmetric and positive definite",
	notANumber: "the residual is not a number; the matrix or the vectors have infinities or NaN, or are too large",
	brokenDown: "the iteration has broken down; the matrix or the preconditioner is singular",
}

// settings are the options of a call, checked.
type settings[T Float] struct{ Options[T] }

func checkSystem[T Float](op string, a CSR[T], b, x *gpu.Buffer[T], o *Options[T]) (c settings[T], err error) {
	if o != nil {
		c.Options = *o
	}
	if err := a.check(op, "a"); err != nil {
		return c, err
	}
	switch {
	case a.Rows != a.Cols:
		return c, invalid(op, "a", "is %d x %d; it must be square", a.Rows, a.Cols)
	case b == nil || b.Len() != a.Rows:
		return c, invalid(op, "b", "has %d elements, but a has %d rows", b.Len(), a.Rows)
	case x == nil || x.Len() != a.Rows:
		return c, invalid(op, "x", "has %d elements, but a has %d columns", x.Len(), a.Rows)
	case !(c.Tolerance >= 0) || math.IsInf(c.Tolerance, 0):
		return c, invalid(op, "Tolerance", "is %v; it must be finite and not negative", c.Tolerance)
	case c.MaxIterations < 0 || c.MaxIterations > 1<<24:
		return c, invalid(op, "MaxIterations", "is %d; it must not be negative, and at most 2^24", c.MaxIterations)
	case c.Restart < 0 || c.Restart > maxRestart:
		return c, invalid(op, "Restart", "is %d; it must not be negative, and at most %d", c.Restart, maxRestart)
	}
	if err := checkResult(op, "x", x, a.storage(), "b", b, false); err != nil {
		return c, err
	}
	if p := c.Preconditioner; p != nil {
		if err := p.ready(op); err != nil {
			return c, err
		}
		if p.rows() != a.Rows {
			return c, invalid(op, "Preconditioner", "has %d rows, but a has %d", p.rows(), a.Rows)
		}
	}
	if c.Tolerance == 0 {
		c.Tolerance = 1e-10
		if _, ok := any(b).(*gpu.Buffer[float32]); ok {
			c.Tolerance = 1e-6
		}
	}
	if c.MaxIterations == 0 {
		c.MaxIterations = min(max(a.Rows, 100), 1<<24)
	}
	if c.Restart == 0 {
		c.Restart = 30
	}
	return c, nil
}

// result returns how a solver has ended. history has squares of norms, and norm is the
// square of that of b.
func (c *settings[T]) result(ctx context.Context, s *gpu.Stream, op string, end, iterations int, norm float64, history *gpu.Buffer[float64]) (Result, error) {
	r := Result{Iterations: iterations, History: make([]float64, iterations+1)}
	if err := gpu.Download(ctx, s, r.History, history.Slice(0, iterations+1)); err != nil {
		return Result{}, failed(op, err)
	}
	for i, square := range r.History {
		if square > 0 || norm > 0 {
			r.History[i] = math.Sqrt(square / norm)
		}
	}
	r.Residual = r.History[iterations]
	if end != converged {
		return r, &ConvergenceError{op, r, c.Tolerance, reasons[end]}
	}
	return r, nil
}

// begin looks at the squared norm of b before the first iteration. It reports whether b, and so the solution, is 0, and
// changes the state if the norm is infinite, which no residual is above.
func (c *settings[T]) begin(ctx context.Context, s *gpu.Stream, op string, b, x *gpu.Buffer[T], norm float64, state *float64) (r Result, ended bool, err error) {
	zero, err := c.isZero(ctx, s, op, b, norm)
	if err != nil {
		return Result{}, false, err
	}
	if zero && *state == running {
		return Result{History: []float64{0}}, true, failed(op, gpu.Zero(s, x))
	}
	if math.IsInf(norm, 0) {
		*state = notANumber
	}
	return Result{}, false, nil
}

// isZero reports whether b is 0, whose squared norm is given. It returns an error if b is not 0,
// but so small that the squares of residuals vanish before the tolerance is reached.
func (c *settings[T]) isZero(ctx context.Context, s *gpu.Stream, op string, b *gpu.Buffer[T], norm float64) (bool, error) {
	const precision, smallest = 0x1p-106, 0x1p-1022 // squares: of float64's precision, and a normal number
	if !(norm*max(c.Tolerance*c.Tolerance, precision) < smallest) {
		return false, nil
	}
	part := make([]T, min(b.Len(), 1<<16))
	for at := 0; at < b.Len(); at += len(part) {
		n := min(len(part), b.Len()-at)
		if err := gpu.Download(ctx, s, part[:n], b.Slice(at, at+n)); err != nil {
			return false, failed(op, err)
		}
		if slices.ContainsFunc(part[:n], func(v T) bool { return v != 0 }) {
			return false, invalid(op, "b", "is so small that the squares of residuals vanish; multiply b and the first guess by a number, and divide the solution by it")
		}
	}
	return true, nil
}

// residual computes r = b - a*x.
func residual[T Float](s *gpu.Stream, m *product[T], a CSR[T], b, x, r *gpu.Buffer[T]) error {
	if err := gpu.Copy(s, r, b); err != nil {
		return err
	}
	return m.run(s, -1, a, x, 1, r)
}
