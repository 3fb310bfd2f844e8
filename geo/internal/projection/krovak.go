package projection

// Krovak's projection is a conformal conic one of the Gauss sphere, whose axis is not that of the Earth. K[4] and K[5] are the
// sine and cosine of the latitude of the axis, on the central meridian; the others are those of conic and gauss. K[6] is 1
// for the modified form.

// turned returns a point of the Gauss sphere in the frame of the axis: the angle about it, counted from the south, and the
// sine and cosine of the latitude.
func (p *Projection) turned(dlon, s, c float64) (angle, s2, c2 float64) {
	sl, cl := sincos(dlon)
	front, side := fma(c, cl*p.K[4], float64(-s*p.K[5])), float64(c*sl)
	return atan2(side, front), fma(c, cl*p.K[5], float64(s*p.K[4])), hypot(front, side)
}

// Coefficients of the modified form: IOGP 373-7-2, section 3.2.3.2.
var krovakShifts = [10]float64{0.02946529277, 0.02515965696, 0.1193845912e-6, -0.4668270147e-6, 0.9233980362e-11, 0.1523735715e-11,
	0.1696780024e-17, 0.4408314235e-17, -0.8331083518e-23, -0.3689471323e-23}

// krovakShift returns what the modified form adds to the easting and northing. It changes by less than a micrometer along
// itself, so that it can be subtracted too.
func (p *Projection) krovakShift(x, y float64) (dx, dy float64) {
	if p.K[6] == 0 {
		return 0, 0
	}
	u, v := -y-1089000, -x-654000 // southing and westing
	k := krovakShifts
	u2, v2, uv := float64(u*u), float64(v*v), float64(u*v)
	d := u2 - v2
	a, b := float64(u*(u2-float64(3*v2))), float64(v*(float64(3*u2)-v2)) // the real and the imaginary part of the cube
	e, f := 4*float64(uv*d), float64(d*d)-4*float64(uv*uv)
	south := fma(k[2], u, k[0]) - float64(k[3]*v) - 2*float64(k[5]*uv) + float64(k[4]*d) + float64(k[6]*a) - float64(k[7]*b) + float64(k[8]*e) + float64(k[9]*f)
	west := fma(k[2], v, k[1]) + float64(k[3]*u) + 2*float64(k[4]*uv) + float64(k[5]*d) + float64(k[7]*a) + float64(k[6]*b) - float64(k[9]*e) + float64(k[8]*f)
	return west, south
}
