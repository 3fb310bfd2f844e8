package devicemath

// FastExp returns e**x.
func FastExp(x float32) float32 { return ApproxExp2(x * log2E) }

// FastExp2 returns 2**x.
func FastExp2(x float32) float32 { return ApproxExp2(x) }

// FastLog returns the natural logarithm of x.
func FastLog(x float32) float32 { return ApproxLog2(x) * ln2Hi }

// FastLog2 returns the binary logarithm of x.
func FastLog2(x float32) float32 { return ApproxLog2(x) }

// FastLog10 returns the decimal logarithm of x.
func FastLog10(x float32) float32 { return ApproxLog2(x) * log10Of2 }

// FastPow returns x**y for positive x.
func FastPow(x, y float32) float32 { return ApproxExp2(y * ApproxLog2(x)) }

// FastSin returns the sine of x.
func FastSin(x float32) float32 { return ApproxSin(x) }

// FastCos returns the cosine of x.
func FastCos(x float32) float32 { return ApproxCos(x) }

// FastTan returns the tangent of x.
func FastTan(x float32) float32 { return ApproxSin(x) * ApproxRcp(ApproxCos(x)) }

// FastSinh returns the hyperbolic sine of x.
func FastSinh(x float32) float32 {
	e := FastExp(x)
	return 0.5 * (e - ApproxRcp(e))
}

// FastCosh returns the hyperbolic cosine of x.
func FastCosh(x float32) float32 {
	e := FastExp(x)
	return 0.5 * (e + ApproxRcp(e))
}

// FastTanh returns the hyperbolic tangent of x.
func FastTanh(x float32) float32 {
	return FMA(ApproxRcp(FastExp(x+x)+1), -2, 1)
}

// FastRsqrt returns 1/Sqrt(x).
func FastRsqrt(x float32) float32 { return ApproxRsqrt(x) }
