package projection

// Coefficients of the New Zealand Map Grid, for the ellipsoid of 1924 (Reilly, 1973): from differences of latitude, in
// 100,000 seconds of arc, to isometric latitude, back, and from there to the plane by a complex polynomial.
var (
	zealandTo   = [10]float64{.6399175073, -.1358797613, .063294409, -.02526853, .0117879, -.0055161, .0026906, -.001333, .00067, -.00034}
	zealandFrom = [9]float64{1.5627014243, .5185406398, -.03333098, -.1052906, -.0368594, .007317, .01220, .00394, -.0013}
	zealandReal = [6]float64{.7557853228, .249204646, -.001541739, -.10162907, -.26623489, -.6870983}
	zealandImag = [6]float64{0, .003371507, .041058560, .01727609, -.36249218, -1.1651967}
)

// zealandUnit is 100,000 seconds of arc in radians.
const zealandUnit = 0.48481368110953599358991410235795

// K: latitude of the origin.
func (p *Projection) zealand(dlon, lat float64) (x, y float64) {
	d := (lat - p.K[0]) / zealandUnit
	psi := 0.0
	for i := 9; i >= 0; i-- {
		psi = fma(psi, d, zealandTo[i])
	}
	re, im, _, _ := zealandPlane(float64(psi*d), dlon)
	return float64(p.E.A * im), float64(p.E.A * re)
}

// zealandPlane returns the polynomial and its derivative.
func zealandPlane(a, b float64) (re, im, slopeRe, slopeIm float64) {
	for i := 5; i >= 0; i-- {
		slopeRe, slopeIm = fma(slopeRe, a, fma(-slopeIm, b, re)), fma(slopeRe, b, fma(slopeIm, a, im))
		re, im = fma(re, a, fma(-im, b, zealandReal[i])), fma(re, b, fma(im, a, zealandImag[i]))
	}
	// The polynomial is times the argument.
	slopeRe, slopeIm = fma(slopeRe, a, fma(-slopeIm, b, re)), fma(slopeRe, b, fma(slopeIm, a, im))
	return fma(re, a, float64(-im*b)), fma(re, b, float64(im*a)), slopeRe, slopeIm
}

func (p *Projection) zealandInverse(x, y float64) (dlon, lat float64) {
	x, y = x/p.E.A, y/p.E.A
	a, b := y, x
	for range 20 {
		re, im, sr, si := zealandPlane(a, b)
		re, im = re-y, im-x
		d := fma(sr, sr, float64(si*si))
		a, b = a-fma(re, sr, float64(im*si))/d, b-fma(im, sr, float64(-re*si))/d
	}
	psi := 0.0
	for i := 8; i >= 0; i-- {
		psi = fma(psi, a, zealandFrom[i])
	}
	return b, fma(float64(psi*a), zealandUnit, p.K[0])
}
