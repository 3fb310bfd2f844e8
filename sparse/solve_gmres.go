package sparse

import (
	"context"
	"math"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

// The numbers of GMRES that are on the device, as elements of a []float64.
const (
	gmScale      = iota // makes the next vector of the basis a unit vector
	gmColumns           // of the Hessenberg matrix that count
	gmNorm              // b*b
	gmTarget            // square of the residual's norm at which the solution is accepted
	gmDone              // how the iteration has ended, or running
	gmIterations        // until done
	gmStates
)

// hessenberg is the layout of the small matrices in a []float64, for a given restart m:
// H by columns of m+1 numbers, then the cosines and sines of m rotations, the right side
// of m+1 numbers, the coefficients of m vectors, and a column of m+1 numbers.
type hessenberg struct{ M int }

func (h hessenberg) at(i, j int) int { return j*(h.M+1) + i }
func (h hessenberg) cos(j int) int   { return h.M*(h.M+1) + j }
func (h hessenberg) sin(j int) int   { return h.M*(h.M+1) + h.M + j }
func (h hessenberg) right(i int) int { return h.M*(h.M+1) + 2*h.M + i }
func (h hessenberg) y(j int) int     { return h.right(h.M+1) + j }
func (h hessenberg) new(i int) int   { return h.y(h.M) + i }
func (h hessenberg) size() int       { return h.new(h.M + 1) }

// startGMRES begins a cycle with the residual. first says that it is the first one,
// where bb has the partial sums of b*b.
//
//quern:kernel block=32
func startGMRES(t kernel.Thread, h hessenberg, n int, first bool, tolerance float64, bb, rr, state, small, history []float64) {
	b, r := total(t, n, bb), total(t, n, rr)
	if t.ThreadIdx.X > 0 {
		return
	}
	if first {
		state[gmNorm], state[gmTarget] = b, tolerance*tolerance*b
		state[gmDone], state[gmIterations] = running, 0
		history[0] = r
	}
	state[gmColumns] = 0
	if r <= state[gmTarget] {
		state[gmDone] = converged
	} else if !(r <= math.MaxFloat64) {
		state[gmDone] = notANumber
	}
	norm := math.Sqrt(r)
	state[gmScale] = 0
	if norm > 0 {
		state[gmScale] = 1 / norm
	}
	small[h.right(0)] = norm
}

// unitGMRES scales a vector of the basis.
//
//quern:kernel instantiate=float32,float64
func unitGMRES[T Float](t kernel.Thread, state []float64, w, v []T) {
	if i := t.Global(); i < len(v) {
		v[i] = T(float64(w[i]) * state[gmScale])
	}
}

// sumGMRES adds up the partial sums of the products of a vector of the basis with the
// new one. Block v does it for vector v. The second pass adds the sums to the column.
//
//quern:kernel block=32
func sumGMRES(t kernel.Thread, h hessenberg, n, column int, second bool, partial, small []float64) {
	v := t.BlockIdx.X
	sum := total(t, n, partial[v*n:])
	if t.ThreadIdx.X == 0 {
		small[h.new(v)] = sum
		if second {
			sum += small[h.at(v, column)]
		}
		small[h.at(v, column)] = sum
	}
}

// subtractGMRES makes the new vector orthogonal to the basis.
//
//quern:kernel instantiate=float32,float64
func subtractGMRES[T Float](t kernel.Thread, h hessenberg, vectors int, small []float64, basis, w []T) {
	if i := t.Global(); i < len(w) {
		sum := 0.0
		for v := range vectors {
			sum += small[h.new(v)] * float64(basis[v*len(w)+i])
		}
		w[i] = T(float64(w[i]) - sum)
	}
}

// rotateGMRES ends an iteration: it turns the new column of the Hessenberg matrix into
// one of a triangular matrix.
//
//quern:kernel block=32
func rotateGMRES(t kernel.Thread, h hessenberg, n, column, iteration int, ww, state, small, history []float64) {
	norm := math.Sqrt(total(t, n, ww))
	if t.ThreadIdx.X > 0 {
		return
	}
	state[gmScale] = 0
	if norm > 0 {
		state[gmScale] = 1 / norm
	}
	if state[gmDone] != running {
		return
	}
	x := small[h.at(0, column)]
	for j := range column {
		y := small[h.at(j+1, column)]
		c, s := small[h.cos(j)], small[h.sin(j)]
		small[h.at(j, column)] = c*x + s*y
		x = c*y - s*x
	}
	length := math.Sqrt(x*x + norm*norm)
	state[gmIterations] = float64(iteration)
	if !(length > 0) {
		state[gmDone] = brokenDown
		if length != length {
			state[gmDone] = notANumber
		}
		history[iteration] = history[iteration-1]
		return
	}
	c, s := x/length, norm/length
	small[h.cos(column)], small[h.sin(column)] = c, s
	small[h.at(column, column)] = length
	g := small[h.right(column)]
	small[h.right(column)], small[h.right(column+1)] = c*g, -s*g
	state[gmColumns] = float64(column + 1)
	r := (s * g) * (s * g)
	history[iteration] = r
	if r <= state[gmTarget] {
		state[gmDone] = converged
	} else if !(r <= math.MaxFloat64) {
		state[gmDone] = notANumber
	}
}

// solveGMRES finds the coefficients of the basis's vectors.
//
//quern:kernel block=32
func solveGMRES(t kernel.Thread, h hessenberg, state, small []float64) {
	if t.ThreadIdx.X > 0 {
		return
	}
	n := int(state[gmColumns])
	for j := n - 1; j >= 0; j-- {
		sum := small[h.right(j)]
		for k := j + 1; k < n; k++ {
			sum -= small[h.at(j, k)] * small[h.y(k)]
		}
		small[h.y(j)] = sum / small[h.at(j, j)]
	}
}

// combineGMRES adds the basis's vectors, times their coefficients, to u, or sets u to
// their sum.
//
//quern:kernel instantiate=float32,float64
func combineGMRES[T Float](t kernel.Thread, h hessenberg, add bool, state, small []float64, basis, u []T) {
	if i := t.Global(); i < len(u) {
		sum := 0.0
		for v := range int(state[gmColumns]) {
			sum += small[h.y(v)] * float64(basis[v*len(u)+i])
		}
		if add {
			sum += float64(u[i])
		}
		u[i] = T(sum)
	}
}

// addVector computes x += y.
//
//quern:kernel instantiate=float32,float64
func addVector[T Float](t kernel.Thread, y, x []T) {
	if i := t.Global(); i < len(x) {
		x[i] += y[i]
	}
}

// GMRES solves a*x = b by the method of minimal residuals with restarts (Saad and
// Schultz, 1986), preconditioned from the right. The matrix need not be symmetric. x
// has the first guess, and gets the solution. It takes o.Restart+3 vectors of
// temporary memory; each vector is made orthogonal to the others twice.
//
// GMRES waits for the device: it looks at the residual every few iterations. If the
// tolerance is not reached, it returns a [ConvergenceError]. b has the limits of [CG].
func GMRES[T Float](ctx context.Context, s *gpu.Stream, a CSR[T], b, x *gpu.Buffer[T], o *Options[T], work ...*gpu.Workspace) (Result, error) {
	const op = "GMRES"
	c, err := checkSystem(op, a, b, x, o)
	if err != nil {
		return Result{}, err
	}
	scratch, err := gpu.OpenScratch(s, work)
	if err != nil {
		return Result{}, failed(op, err)
	}
	defer scratch.Close()
	n, backend, h := a.Rows, s.Device().Backend(), hessenberg{min(c.Restart, max(a.Rows, 1), c.MaxIterations)}
	g := gmres[T]{
		a: a, b: b, x: x, h: h, tolerance: c.Tolerance, preconditioner: c.Preconditioner,
		m:       takeProduct[T](scratch, backend, a.size()),
		basis:   gpu.Take[T](scratch, n*(h.M+1)),
		w:       gpu.Take[T](scratch, n),
		inner:   takeDots(scratch, backend, n, h.M+1),
		norm:    takeDots(scratch, backend, n, 1),
		state:   gpu.Take[float64](scratch, gmStates),
		small:   gpu.Take[float64](scratch, h.size()),
		history: gpu.Take[float64](scratch, c.MaxIterations+1),
	}
	if c.Preconditioner != nil {
		g.z = gpu.Take[T](scratch, n)
	}
	if run, err := scratch.Ready(); !run || n == 0 {
		return Result{}, failed(op, err)
	}
	for v := range h.M + 1 {
		g.vectors = append(g.vectors, g.basis.Slice(v*n, (v+1)*n))
	}
	var now [gmStates]float64
	for iteration := 0; ; {
		if err := g.start(s, iteration == 0); err != nil {
			return Result{}, failed(op, err)
		}
		if err := gpu.Download(ctx, s, now[:], g.state); err != nil {
			return Result{}, failed(op, err)
		}
		if iteration == 0 {
			if r, ended, err := c.begin(ctx, s, op, b, x, now[gmNorm], &now[gmDone]); ended || err != nil {
				return r, err
			}
		}
		for column := 0; column < h.M && iteration < c.MaxIterations && now[gmDone] == running; {
			for last := min(column+checkInterval, h.M); column < last && iteration < c.MaxIterations; column++ {
				iteration++
				if err := g.iterate(s, column, iteration); err != nil {
					return Result{}, failed(op, err)
				}
			}
			if err := gpu.Download(ctx, s, now[:], g.state); err != nil {
				return Result{}, failed(op, err)
			}
		}
		if now[gmColumns] > 0 {
			if err := g.update(s); err != nil {
				return Result{}, failed(op, err)
			}
		}
		if now[gmDone] != running || iteration == c.MaxIterations {
			break
		}
	}
	return c.result(ctx, s, op, int(now[gmDone]), int(now[gmIterations]), now[gmNorm], g.history)
}

// gmres is the memory of a call of GMRES.
type gmres[T Float] struct {
	a              CSR[T]
	b, x           *gpu.Buffer[T]
	h              hessenberg
	tolerance      float64
	preconditioner Preconditioner[T]
	m              product[T]
	basis, w, z    *gpu.Buffer[T]
	vectors        []*gpu.Buffer[T] // of basis
	inner, norm    dots
	state, small   *gpu.Buffer[float64]
	history        *gpu.Buffer[float64]
}

// start begins a cycle.
func (g *gmres[T]) start(s *gpu.Stream, first bool) error {
	if err := residual(s, &g.m, g.a, g.b, g.x, g.w); err != nil {
		return err
	}
	if err := runDots(s, &g.norm, 1, g.w, g.w); err != nil {
		return err
	}
	if err := runDots(s, &g.inner, 1, g.b, g.b); err != nil {
		return err
	}
	if err := LaunchStartGMRES(s, gpu.Linear(32), g.h, g.norm.blocks, first, g.tolerance, g.inner.partial, g.norm.partial, g.state, g.small, g.history); err != nil {
		return err
	}
	return LaunchUnitGMRES(s, gpu.Linear(g.a.Rows), g.state, g.w, g.vectors[0])
}

// iterate makes the vector after the given one, and its column of the Hessenberg
// matrix.
func (g *gmres[T]) iterate(s *gpu.Stream, column, iteration int) error {
	v := g.vectors[column]
	if g.preconditioner != nil {
		if err := g.preconditioner.apply(s, g.z, v); err != nil {
			return err
		}
		v = g.z
	}
	if err := g.m.run(s, 1, g.a, v, 0, g.w); err != nil {
		return err
	}
	for pass := range 2 {
		if err := runDots(s, &g.inner, column+1, g.basis, g.w); err != nil {
			return err
		}
		if err := LaunchSumGMRES(s, gpu.Linear(32*(column+1)), g.h, g.inner.blocks, column, pass == 1, g.inner.partial, g.small); err != nil {
			return err
		}
		if err := LaunchSubtractGMRES(s, gpu.Linear(g.a.Rows), g.h, column+1, g.small, g.basis, g.w); err != nil {
			return err
		}
	}
	if err := runDots(s, &g.norm, 1, g.w, g.w); err != nil {
		return err
	}
	if err := LaunchRotateGMRES(s, gpu.Linear(32), g.h, g.norm.blocks, column, iteration, g.norm.partial, g.state, g.small, g.history); err != nil {
		return err
	}
	return LaunchUnitGMRES(s, gpu.Linear(g.a.Rows), g.state, g.w, g.vectors[column+1])
}

// update adds what the cycle has found to x.
func (g *gmres[T]) update(s *gpu.Stream) error {
	if err := LaunchSolveGMRES(s, gpu.Linear(32), g.h, g.state, g.small); err != nil {
		return err
	}
	if g.preconditioner == nil {
		return LaunchCombineGMRES(s, gpu.Linear(g.a.Rows), g.h, true, g.state, g.small, g.basis, g.x)
	}
	if err := LaunchCombineGMRES(s, gpu.Linear(g.a.Rows), g.h, false, g.state, g.small, g.basis, g.w); err != nil {
		return err
	}
	if err := g.preconditioner.apply(s, g.z, g.w); err != nil {
		return err
	}
	return LaunchAddVector(s, gpu.Linear(g.a.Rows), g.z, g.x)
}
