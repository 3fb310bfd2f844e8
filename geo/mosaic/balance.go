package mosaic

import (
	"context"
	"math"
)

// correction is the gain and the offset of a band of an image.
type correction struct{ gain, offset float64 }

// moments are sums over the cells that two images share, of a band.
type moments struct {
	i, j       int
	n, a, b    float64
	aa, bb, ab float64
}

// balance finds gains, and offsets, that make images equal where they overlap, by least squares. What overlaps do not decide
// stays near gain 1 and offset 0.
func (m *mosaic) balance(ctx context.Context, pairs [][2]int) error {
	bands := m.bands
	all := make([][]moments, len(pairs))
	err := parallel(ctx, len(pairs), func(k int) error {
		a, err := m.thumbs.get(ctx, pairs[k][0])
		if err != nil {
			return err
		}
		b, err := m.thumbs.get(ctx, pairs[k][1])
		if err != nil {
			return err
		}
		all[k] = overlapMoments(a, b, bands)
		for band := range all[k] {
			all[k][band].i, all[k][band].j = pairs[k][0], pairs[k][1]
		}
		return nil
	})
	if err != nil {
		return err
	}
	for band := range bands {
		var used []moments
		for _, p := range all {
			if p[band].n > 0 {
				used = append(used, p[band])
			}
		}
		for i, c := range solve(used, len(m.sources), m.opt.Balance == GainOffset) {
			m.corrections[i][band] = c
		}
	}
	return nil
}

func overlapMoments(a, b *thumbnail, bands int) []moments {
	out := make([]moments, bands)
	for y := max(a.Y, b.Y); y < min(a.Y+a.H, b.Y+b.H); y++ {
		for x := max(a.X, b.X); x < min(a.X+a.W, b.X+b.W); x++ {
			if !a.has(x, y) || !b.has(x, y) {
				continue
			}
			for band := range out {
				p, q := a.at(x, y, band), b.at(x, y, band)
				if math.IsNaN(p) || math.IsNaN(q) {
					continue
				}
				s := &out[band]
				s.n++
				s.a, s.b = s.a+p, s.b+q
				s.aa, s.bb, s.ab = s.aa+p*p, s.bb+q*q, s.ab+p*q
			}
		}
	}
	return out
}

// stiffness is the weight of gain 1 and offset 0, compared with the overlaps of an image.
const stiffness = 1e-4

// solve minimizes, over all pairs, the squares of gain_i a + offset_i - gain_j b - offset_j, by the method of conjugate gradients.
// Unknowns are offsets divided by the mean value, so that all have a similar size.
func solve(pairs []moments, images int, offsets bool) []correction {
	unit, n := 0.0, 0.0
	for _, p := range pairs {
		unit, n = unit+p.aa+p.bb, n+2*p.n
	}
	unit = math.Sqrt(unit / n)
	out := make([]correction, images)
	for i := range out {
		out[i].gain = 1
	}
	if !(unit > 0) || math.IsInf(unit, 0) {
		return out
	}
	// x has gains - 1, then offsets / unit.
	size := 2 * images
	weight := make([]float64, images) // of what keeps gains at 1
	for _, p := range pairs {
		weight[p.i] += stiffness * p.n
		weight[p.j] += stiffness * p.n
	}
	multiply := func(x, y []float64) {
		for i := range images {
			y[i], y[images+i] = weight[i]*x[i], weight[i]*x[images+i]
		}
		for _, p := range pairs {
			g, h, o, q := x[p.i], x[p.j], x[images+p.i], x[images+p.j]
			a, b, aa, bb, ab := p.a/unit, p.b/unit, p.aa/unit/unit, p.bb/unit/unit, p.ab/unit/unit
			d := o - q
			y[p.i] += aa*g - ab*h + a*d
			y[p.j] += bb*h - ab*g - b*d
			if offsets {
				s := a*g - b*h + p.n*d
				y[images+p.i] += s
				y[images+p.j] -= s
			}
		}
		if !offsets {
			clear(y[images:])
		}
	}
	// The residual of gain 1 and offset 0.
	x, r := make([]float64, size), make([]float64, size)
	for _, p := range pairs {
		a, b, aa, bb, ab := p.a/unit, p.b/unit, p.aa/unit/unit, p.bb/unit/unit, p.ab/unit/unit
		r[p.i] -= aa - ab
		r[p.j] -= bb - ab
		if offsets {
			r[images+p.i] -= a - b
			r[images+p.j] += a - b
		}
	}
	d, q := append([]float64(nil), r...), make([]float64, size)
	rr := dot(r, r)
	start := rr
	for k := 0; k < 20*size && rr > 1e-24*start; k++ {
		multiply(d, q)
		alpha := rr / dot(d, q)
		for i := range x {
			x[i] += alpha * d[i]
			r[i] -= alpha * q[i]
		}
		next := dot(r, r)
		for i := range d {
			d[i] = r[i] + next/rr*d[i]
		}
		rr = next
	}
	for i := range out {
		out[i] = correction{1 + x[i], x[images+i] * unit}
	}
	return out
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}
