package kernels

import "quern.dev/geo/internal/projection"

// MostTerms is how many terms a polynomial of order 3 has.
const MostTerms = 10

// Fit maps points by a polynomial, or by a thin plate spline: a polynomial of order 1 and functions of the distances
// from control points.
type Fit struct {
	Terms   int     // 3, 6 or 10, or 0 if there is no fit
	Points  int     // of a spline
	OffsetX float64 // subtracted from x
	OffsetY float64
	ScaleX  float64 // by which the differences are multiplied
	ScaleY  float64
	X, Y    [MostTerms]float64 // coefficients of 1, u, v, uu, uv, vv, uuu, uuv, uvv, vvv
}

// SplineNumbers is how many numbers a spline has per control point: its place, u and v, and the weights for x and y.
const SplineNumbers = 4

// Terms fills t with the terms of a polynomial.
func Terms(u, v float64) (t [MostTerms]float64) {
	uu, uv, vv := float64(u*u), float64(u*v), float64(v*v)
	return [MostTerms]float64{1, u, v, uu, uv, vv, float64(uu * u), float64(uu * v), float64(u * vv), float64(vv * v)}
}

// Bend returns the function of a thin plate spline of the square of a distance.
func Bend(r2 float64) float64 {
	if !(r2 > 1e-200) {
		return r2 * 0
	}
	return float64(r2 * projection.Log(r2))
}

// Apply maps a point. spline has the control points.
func (f *Fit) Apply(spline []float64, x, y float64) (float64, float64) {
	u, v := float64((x-f.OffsetX)*f.ScaleX), float64((y-f.OffsetY)*f.ScaleY)
	t := Terms(u, v)
	px, py := f.X[0], f.Y[0]
	for i := 1; i < f.Terms; i++ {
		px += float64(t[i] * f.X[i])
		py += float64(t[i] * f.Y[i])
	}
	for i := 0; i < f.Points; i++ {
		p := spline[i*SplineNumbers:][:SplineNumbers]
		du, dv := u-p[0], v-p[1]
		b := Bend(float64(du*du) + float64(dv*dv))
		px += float64(b * p[2])
		py += float64(b * p[3])
	}
	return px, py
}
