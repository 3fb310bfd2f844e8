package sparse

import (
	"context"
	"math"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

// The numbers of a solver that are on the device, as elements of a []float64.
const (
	cgAlpha = iota
	cgBeta
	cgRho        // r*z
	cgTarget     // square of the residual's norm at which the solution is accepted
	cgNorm       // b*b
	cgDone       // how the iteration has ended, or running
	cgIterations // until done
	cgStates
)

const checkInterval = 8 // iterations between two looks at the device's state

// startCG sets the state for the first iteration: rho, and whether x is the solution
// already.
//
//quern:kernel block=32
func startCG(t kernel.Thread, n int, tolerance float64, bb, rr, rz, state, history []float64) {
	b, r, z := total(t, n, bb), total(t, n, rr), total(t, n, rz)
	if t.ThreadIdx.X == 0 {
		state[cgAlpha], state[cgBeta], state[cgRho] = 0, 0, z
		state[cgTarget], state[cgNorm] = tolerance*tolerance*b, b
		state[cgDone], state[cgIterations] = running, 0
		if r <= state[cgTarget] {
			state[cgDone] = converged
		} else if !(r <= math.MaxFloat64) {
			state[cgDone] = notANumber
		}
		history[0] = r
	}
}

// alphaCG sets alpha to rho/(p*q), or to 0 if the iteration has ended.
//
//quern:kernel block=32
func alphaCG(t kernel.Thread, n int, pq, state []float64) {
	d := total(t, n, pq)
	if t.ThreadIdx.X == 0 {
		state[cgAlpha] = 0
		if state[cgDone] == running {
			if d > 0 {
				state[cgAlpha] = state[cgRho] / d
			} else if d <= 0 {
				state[cgDone] = indefinite
			} else {
				state[cgDone] = notANumber
			}
		}
	}
}

// stepCG moves x and the residual along p.
//
//quern:kernel instantiate=float32,float64
func stepCG[T Float](t kernel.Thread, state []float64, p, q, x, r []T) {
	alpha := T(state[cgAlpha])
	if i := t.Global(); i < len(x) && alpha != 0 {
		x[i] += alpha * p[i]
		r[i] -= alpha * q[i]
	}
}

// betaCG finds whether x is the solution, and how the next direction depends on the
// last one.
//
//quern:kernel block=32
func betaCG(t kernel.Thread, n, iteration int, rr, rz, state, history []float64) {
	r, z := total(t, n, rr), total(t, n, rz)
	if t.ThreadIdx.X > 0 || state[cgDone] != running {
		return
	}
	state[cgIterations] = float64(iteration)
	history[iteration] = r
	switch {
	case r <= state[cgTarget]:
		state[cgDone] = converged
	case !(r <= math.MaxFloat64):
		state[cgDone] = notANumber
	case !(z > 0):
		state[cgDone] = indefinite
	}
	state[cgBeta] = z / state[cgRho]
	state[cgRho] = z
}

// turnCG sets the next direction.
//
//quern:kernel instantiate=float32,float64
func turnCG[T Float](t kernel.Thread, state []float64, z, p []T) {
	if i := t.Global(); i < len(p) && state[cgDone] == running {
		p[i] = z[i] + T(state[cgBeta])*p[i]
	}
}

// CG solves a*x = b for a symmetric positive definite matrix by the method of conjugate
// gradients (Hestenes and Stiefel, 1952). x has the first guess, and gets the solution.
//
// CG waits for the device: it looks at the residual every few iterations, and the
// iterations after the one that has converged change nothing. Sums of products are
// accumulated in float64. The residual is the one that the method tracks, which may
// differ from b - a*x by rounding.
//
// If the tolerance is not reached, CG returns a [ConvergenceError]. The squares of the norm of b and
// of the residual at the tolerance must be in the range of float64: a smaller b that is not 0 is
// refused, and with a larger one, or infinities, there is no convergence.
func CG[T Float](ctx context.Context, s *gpu.Stream, a CSR[T], b, x *gpu.Buffer[T], o *Options[T], work ...*gpu.Workspace) (Result, error) {
	const op = "CG"
	c, err := checkSystem(op, a, b, x, o)
	if err != nil {
		return Result{}, err
	}
	scratch, err := gpu.OpenScratch(s, work)
	if err != nil {
		return Result{}, failed(op, err)
	}
	defer scratch.Close()
	n, backend := a.Rows, s.Device().Backend()
	m := takeProduct[T](scratch, backend, a.size())
	p, q, r := gpu.Take[T](scratch, n), gpu.Take[T](scratch, n), gpu.Take[T](scratch, n)
	z := r
	if c.Preconditioner != nil {
		z = gpu.Take[T](scratch, n)
	}
	square, products := takeDots(scratch, backend, n, 1), takeDots(scratch, backend, n, 1)
	inner := takeDots(scratch, backend, n, 1)
	state := gpu.Take[float64](scratch, cgStates)
	history := gpu.Take[float64](scratch, c.MaxIterations+1)
	if run, err := scratch.Ready(); !run || n == 0 {
		return Result{}, failed(op, err)
	}

	rz := square.partial
	warp := gpu.Linear(32)
	// residuals computes z, r*r and r*z.
	residuals := func() error {
		if err := runDots(s, &square, 1, r, r); err != nil || c.Preconditioner == nil {
			return err
		}
		if err := c.Preconditioner.apply(s, z, r); err != nil {
			return err
		}
		return runDots(s, &inner, 1, r, z)
	}
	if c.Preconditioner != nil {
		rz = inner.partial
	}
	begin := func() error {
		if err := residual(s, &m, a, b, x, r); err != nil {
			return err
		}
		if err := runDots(s, &products, 1, b, b); err != nil {
			return err
		}
		if err := residuals(); err != nil {
			return err
		}
		if err := LaunchStartCG(s, warp, square.blocks, c.Tolerance, products.partial, square.partial, rz, state, history); err != nil {
			return err
		}
		return gpu.Copy(s, p, z)
	}
	iterate := func(iteration int) error {
		if err := m.run(s, 1, a, p, 0, q); err != nil {
			return err
		}
		if err := runDots(s, &products, 1, p, q); err != nil {
			return err
		}
		if err := LaunchAlphaCG(s, warp, products.blocks, products.partial, state); err != nil {
			return err
		}
		if err := LaunchStepCG(s, gpu.Linear(n), state, p, q, x, r); err != nil {
			return err
		}
		if err := residuals(); err != nil {
			return err
		}
		if err := LaunchBetaCG(s, warp, square.blocks, iteration, square.partial, rz, state, history); err != nil {
			return err
		}
		return LaunchTurnCG(s, gpu.Linear(n), state, z, p)
	}
	if err := begin(); err != nil {
		return Result{}, failed(op, err)
	}
	var now [cgStates]float64
	for iteration := 0; ; {
		if err := gpu.Download(ctx, s, now[:], state); err != nil {
			return Result{}, failed(op, err)
		}
		if iteration == 0 {
			if r, ended, err := c.begin(ctx, s, op, b, x, now[cgNorm], &now[cgDone]); ended || err != nil {
				return r, err
			}
		}
		if now[cgDone] != running || iteration == c.MaxIterations {
			break
		}
		for last := min(iteration+checkInterval, c.MaxIterations); iteration < last; {
			iteration++
			if err := iterate(iteration); err != nil {
				return Result{}, failed(op, err)
			}
		}
	}
	return c.result(ctx, s, op, int(now[cgDone]), int(now[cgIterations]), now[cgNorm], history)
}
