package mosaic

import (
	"context"
	"math"
)

// correction is the gain and the offset of a band of an image.
type correction struct{ gain, offset float64 }

// moments are sums over the cells that two images share, of a band.
type moments struct {
	i, j    int
	n, a, b float64
	aa, bb  float64
}

// balance finds gains, and offsets, that make images equal where they overlap, by least squares. Their mean over all images is
// about that of no correction.
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
				s.aa, s.bb = s.aa+p*p, s.bb+q*q
			}
		}
	}
	return out
}

// solve finds the gains first. One of two images is as bright, or as rich in contrast, as the other times a ratio, so
// differences of logarithms of gains are known. Minimizing differences between pixels instead would make all gains
// small where images do not fit to the pixel: dark images differ little.
func solve(pairs []moments, images int, offsets bool) []correction {
	var ratios []difference
	for _, p := range pairs {
		a, b := p.a, p.b
		if offsets {
			a, b = p.aa-p.a*p.a/p.n, p.bb-p.b*p.b/p.n
		}
		d := math.Log(b / a)
		if offsets {
			d /= 2 // of standard deviations
		}
		if a > 0 && b > 0 && !math.IsInf(d, 0) && !math.IsNaN(d) {
			ratios = append(ratios, difference{p.i, p.j, p.n, d})
		}
	}
	out := make([]correction, images)
	for i, x := range fit(ratios, images) {
		out[i].gain = math.Exp(x)
	}
	if !offsets {
		return out
	}
	var shifts []difference
	for _, p := range pairs {
		shifts = append(shifts, difference{p.i, p.j, p.n, (out[p.j].gain*p.b - out[p.i].gain*p.a) / p.n})
	}
	for i, x := range fit(shifts, images) {
		out[i].offset = x
	}
	return out
}

// difference says that x[i] - x[j] should be d.
type difference struct {
	i, j      int
	weight, d float64
}

// stiffness is the weight of 0, compared with the differences of an x: it decides what they leave open.
const stiffness = 1e-6

// fit minimizes the weighted squares of x[i] - x[j] - d, by the method of conjugate gradients.
func fit(list []difference, size int) []float64 {
	weight, r := make([]float64, size), make([]float64, size)
	for _, e := range list {
		weight[e.i] += stiffness * e.weight
		weight[e.j] += stiffness * e.weight
		r[e.i] += e.weight * e.d
		r[e.j] -= e.weight * e.d
	}
	x, d, q := make([]float64, size), append([]float64(nil), r...), make([]float64, size)
	rr := dot(r, r)
	for k, start := 0, rr; k < 20*size && rr > 1e-24*start; k++ {
		for i := range q {
			q[i] = weight[i] * d[i]
		}
		for _, e := range list {
			s := e.weight * (d[e.i] - d[e.j])
			q[e.i] += s
			q[e.j] -= s
		}
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
	return x
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}
