package random

import (
	"math"

	"quern.dev/gpu"
	"quern.dev/kernel"
)

// gamma is a gamma distribution with scale 1, prepared for the method of Marsaglia
// and Tsang, "A simple method for generating gamma variables" (2000). A shape below
// 1 is drawn as a shape that is larger by 1, times u^(1/shape).
type gamma struct {
	D, C    float64
	Inverse float64 // 1/shape if shape is below 1, otherwise 0
}

func newGamma(shape float64) gamma {
	g := gamma{}
	if shape < 1 {
		g.Inverse = 1 / shape
		shape++
	}
	g.D = shape - 1.0/3
	g.C = 1 / math.Sqrt(9*g.D)
	return g
}

// draw returns x and e, where x*exp(-e) is from the distribution. They are apart
// because the product may underflow. i counts from the start of the stream, and the
// draw uses groups of index i from part on.
func (g gamma) draw(src Source, i uint64, part uint32) (x, e float64) {
	for end := part + 1<<14; part < end; part += 2 {
		n, _ := normals64(src.group64(i, part))
		a, b := src.group64(i, part+1)
		v := 1 + float64(g.C*n)
		if v <= 0 {
			continue
		}
		v = float64(v*v) * v
		u, n2 := open64(a), float64(n*n)
		x = g.D * v
		if u < 1-float64(float64(0.0331*n2)*n2) || log64(u) < float64(0.5*n2)+float64(g.D*((1-v)+log64(v))) {
			return x, g.Inverse * exponential64(b)
		}
	}
	return g.D, 0 // after 2^13 rejections, each with a probability below 1/20
}

// Gamma returns a number from the gamma distribution with the given shape, which is
// positive, and scale 1. It is computed in float64.
func (s Source) Gamma(i uint64, shape float64) float64 {
	return newGamma(shape).value(s, i+s.Offset)
}

func (g gamma) value(src Source, i uint64) float64 {
	x, e := g.draw(src, i, 0)
	if e == 0 {
		return x
	}
	return x * exp64(-e)
}

// Beta returns a number from the beta distribution on [0, 1] with the given shape
// parameters, which are positive. It is computed in float64.
func (s Source) Beta(i uint64, a, b float64) float64 {
	return betaValue(s, i+s.Offset, newGamma(a), newGamma(b))
}

// betaValue returns x/(x+y) for x and y from gamma distributions.
func betaValue(src Source, i uint64, ga, gb gamma) float64 {
	x, ex := ga.draw(src, i, 0)
	y, ey := gb.draw(src, i, 1<<15)
	return 1 / (1 + float64(y/x*exp64(ex-ey)))
}

//quern:kernel instantiate=float32,float64
func fillGamma[T Float](t kernel.Thread, src Source, g gamma, scale float64, dst []T) {
	if i := t.Global(); i < len(dst) {
		dst[i] = T(scale * g.value(src, src.Offset+uint64(i)))
	}
}

//quern:kernel instantiate=float32,float64
func fillBeta[T Float](t kernel.Thread, src Source, a, b gamma, dst []T) {
	if i := t.Global(); i < len(dst) {
		dst[i] = T(betaValue(src, src.Offset+uint64(i), a, b))
	}
}

// Gamma fills dst with numbers from the gamma distribution, whose mean is
// shape*scale. Element i is scale*src.Gamma(i, shape), rounded to T.
func Gamma[T Float](s *gpu.Stream, src Source, dst *gpu.Buffer[T], shape, scale float64) error {
	const op = "Gamma"
	if err := check(op, s, src, dst); err != nil {
		return err
	}
	if !positive(shape) {
		return invalid(op, "shape", "is %v; it must be positive and finite", shape)
	}
	if !positive(scale) {
		return invalid(op, "scale", "is %v; it must be positive and finite", scale)
	}
	if dst.Len() == 0 {
		return nil
	}
	return failed(op, LaunchFillGamma(s, gpu.Linear(dst.Len()), src, newGamma(shape), scale, dst))
}

// Beta fills dst with numbers from the beta distribution on [0, 1] with shape
// parameters a and b. Element i is src.Beta(i, a, b), rounded to T.
func Beta[T Float](s *gpu.Stream, src Source, dst *gpu.Buffer[T], a, b float64) error {
	const op = "Beta"
	if err := check(op, s, src, dst); err != nil {
		return err
	}
	if !positive(a) {
		return invalid(op, "a", "is %v; it must be positive and finite", a)
	}
	if !positive(b) {
		return invalid(op, "b", "is %v; it must be positive and finite", b)
	}
	if dst.Len() == 0 {
		return nil
	}
	return failed(op, LaunchFillBeta(s, gpu.Linear(dst.Len()), src, newGamma(a), newGamma(b), dst))
}
