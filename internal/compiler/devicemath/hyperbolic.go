package devicemath

// Sinh returns the hyperbolic sine of x.
func Sinh(x float32) float32 {
	a := Abs(x)
	if a < 1 {
		z := a * a
		p := FMA(0x1.ab428ap-13, z, 0x1.10f76p-07)
		p = FMA(p, z, 0x1.555598p-03)
		return Copysign(FMA(p, a*z, a), x)
	}
	e := halfExp(a)
	return Copysign(e-0.25/e, x)
}

// Cosh returns the hyperbolic cosine of x.
func Cosh(x float32) float32 {
	e := halfExp(Abs(x))
	return e + 0.25/e
}

// Tanh returns the hyperbolic tangent of x.
func Tanh(x float32) float32 {
	a := Abs(x)
	// The rounding of the exponent matters little: the larger a, the smaller is what it changes.
	y := FMA(-2, ApproxRcpNormal(ApproxExp2Normal(a*(2*log2E))+1), 1)
	if a < 0.6 {
		z := a * a
		p := FMA(-0x1.9921ap-08, z, 0x1.58e518p-06)
		p = FMA(p, z, -0x1.b91e7ep-05)
		p = FMA(p, z, 0x1.110ceep-03)
		p = FMA(p, z, -0x1.55554ap-02)
		y = FMA(p, a*z, a)
	}
	return Copysign(y, x)
}
