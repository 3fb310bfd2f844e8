package warp

import (
	"math"
	"slices"

	"quern.dev/geo/warp/internal/kernels"
)

// Fit is how pixels of a source get coordinates.
type Fit uint8

const (
	// FitAuto takes the affine map of the file. Without one, its control points are fitted by a polynomial of order 2, or of
	// order 1 if there are fewer than 6 points.
	FitAuto Fit = iota
	// FitOrder1 to FitOrder3 are the polynomials of that order whose squared distances from the control points have the
	// smallest sum. They need 3, 6 or 10 points.
	FitOrder1
	FitOrder2
	FitOrder3
	// FitSpline is a thin plate spline, which passes through the control points.
	FitSpline
)

// mostSplinePoints bounds the time and the memory for the equations of a spline.
const mostSplinePoints = 4096

// setFit fits the control points of the file, in both directions.
func (s *source) setFit(fit Fit) error {
	points := s.h.Geo.ControlPoints()
	if len(points) == 0 {
		if fit == FitAuto {
			return failf(ErrNoCRS, "%s: the file does not say where its pixels are; a world file or package geo/translate (quern geo translate -a_ullr) can", s.name)
		}
		return failf(ErrArgument, "%s: the file has no control points for a fit", s.name)
	}
	if fit == FitAuto {
		fit = FitOrder1
		if len(points) >= 6 {
			fit = FitOrder2
		}
	}
	n := len(points)
	pixels, places := make([][2]float64, n), make([][2]float64, n)
	for i, p := range points {
		pixels[i], places[i] = [2]float64{p.Column, p.Row}, [2]float64{p.X, p.Y}
		if v := p.Column + p.Row + p.X + p.Y; math.IsNaN(v) || math.IsInf(v, 0) {
			return failf(ErrArgument, "%s: the control point %v is not finite", s.name, p)
		}
	}
	if fit == FitSpline {
		pixels, places = distinct(pixels, places)
		if n = len(pixels); n > mostSplinePoints {
			return failf(ErrArgument, "%s: %d control points; a spline takes at most %d", s.name, n, mostSplinePoints)
		}
	}
	terms := map[Fit]int{FitOrder1: 3, FitOrder2: 6, FitOrder3: kernels.MostTerms, FitSpline: 3}[fit]
	if n < terms {
		return failf(ErrArgument, "%s: %d control points; this fit needs at least %d", s.name, n, terms)
	}
	var ok, back bool
	if fit == FitSpline {
		s.outward, s.outwardSpline, ok = fitSpline(pixels, places)
		s.place.Fit, s.spline, back = fitSpline(places, pixels)
	} else {
		s.outward, ok = fitPolynomial(terms, pixels, places)
		s.place.Fit, back = fitPolynomial(terms, places, pixels)
	}
	if !ok || !back {
		return failf(ErrArgument, "%s: the %d control points do not determine this fit: too many are on a line, or have the same place", s.name, n)
	}
	return nil
}

// distinct leaves out points that are there twice.
func distinct(pixels, places [][2]float64) (p, q [][2]float64) {
	seen := map[[4]float64]bool{}
	for i := range pixels {
		key := [4]float64{pixels[i][0], pixels[i][1], places[i][0], places[i][1]}
		if !seen[key] {
			seen[key] = true
			p, q = append(p, pixels[i]), append(q, places[i])
		}
	}
	return p, q
}

// normalized returns a fit whose offsets and scales make the points' coordinates numbers from -1 to 1.
func normalized(from [][2]float64) kernels.Fit {
	low, high := from[0], from[0]
	for _, p := range from {
		low = [2]float64{min(low[0], p[0]), min(low[1], p[1])}
		high = [2]float64{max(high[0], p[0]), max(high[1], p[1])}
	}
	scale := func(k int) float64 {
		if high[k] == low[k] {
			return 1
		}
		return 2 / (high[k] - low[k])
	}
	return kernels.Fit{OffsetX: (low[0] + high[0]) / 2, OffsetY: (low[1] + high[1]) / 2, ScaleX: scale(0), ScaleY: scale(1)}
}

// place returns the numbers from -1 to 1 of a point.
func place(f *kernels.Fit, p [2]float64) (u, v float64) {
	return (p[0] - f.OffsetX) * f.ScaleX, (p[1] - f.OffsetY) * f.ScaleY
}

// fitPolynomial returns the polynomial that maps points nearest to others.
func fitPolynomial(terms int, from, to [][2]float64) (kernels.Fit, bool) {
	f := normalized(from)
	f.Terms = terms
	var rows [][]float64
	for i, p := range from {
		t := kernels.Terms(place(&f, p))
		rows = append(rows, append(slices.Clone(t[:terms]), to[i][0], to[i][1]))
	}
	x, ok := leastSquares(rows, terms)
	for i := range x {
		f.X[i], f.Y[i] = x[i][0], x[i][1]
	}
	return f, ok
}

// fitSpline returns the thin plate spline that maps points to others.
func fitSpline(from, to [][2]float64) (kernels.Fit, []float64, bool) {
	f := normalized(from)
	f.ScaleX = min(f.ScaleX, f.ScaleY) // the same for both directions: distances count
	f.ScaleY = f.ScaleX
	f.Terms, f.Points = 3, len(from)
	n := len(from)
	rows := make([][]float64, n+3)
	for i := range rows {
		rows[i] = make([]float64, n+5)
	}
	spline := make([]float64, n*kernels.SplineNumbers)
	for i, p := range from {
		u, v := place(&f, p)
		spline[i*kernels.SplineNumbers], spline[i*kernels.SplineNumbers+1] = u, v
		for k, t := range [3]float64{1, u, v} {
			rows[i][n+k], rows[n+k][i] = t, t
		}
		for j := range i {
			du, dv := u-spline[j*kernels.SplineNumbers], v-spline[j*kernels.SplineNumbers+1]
			b := kernels.Bend(float64(du*du) + float64(dv*dv))
			rows[i][j], rows[j][i] = b, b
		}
		rows[i][n+3], rows[i][n+4] = to[i][0], to[i][1]
	}
	x, ok := leastSquares(rows, n+3)
	for i := range x {
		if i < n {
			spline[i*kernels.SplineNumbers+2], spline[i*kernels.SplineNumbers+3] = x[i][0], x[i][1]
		} else {
			f.X[i-n], f.Y[i-n] = x[i][0], x[i][1]
		}
	}
	return f, spline, ok
}

// leastSquares returns the solution of n unknowns for two right sides, which are the last columns, by Householder
// reflections. It changes the rows, and is false if they do not determine a solution.
func leastSquares(rows [][]float64, n int) (x [][2]float64, ok bool) {
	most := 0.0
	for k := range n {
		norm := 0.0
		for _, r := range rows[k:] {
			norm = math.Hypot(norm, r[k])
		}
		most = max(most, norm)
		if !(norm > 1e-14*most) {
			return nil, false
		}
		if rows[k][k] > 0 {
			norm = -norm
		}
		// The reflection along v, which is what is left of the column, with another first number.
		head := rows[k][k] - norm
		product := make([]float64, n+2-k)
		for i, r := range rows[k:] {
			v := r[k]
			if i == 0 {
				v = head
			}
			for j := range product {
				product[j] += float64(v * r[k+j])
			}
		}
		for i, r := range rows[k:] {
			v := r[k]
			if i == 0 {
				v = head
			}
			for j := 1; j < len(product); j++ {
				r[k+j] += float64(product[j] * v / (norm * head))
			}
		}
		rows[k][k] = norm
	}
	x = make([][2]float64, n)
	for k := n - 1; k >= 0; k-- {
		for side := range 2 {
			v := rows[k][n+side]
			for j := k + 1; j < n; j++ {
				v -= float64(rows[k][j] * x[j][side])
			}
			x[k][side] = v / rows[k][k]
		}
	}
	return x, true
}
