package ir

import "math"

// Approximations for float32, as fast as the hardware provides.
var (
	ApproxExp2 = declare(IntrinsicOp{
		Name: "approxExp2", Args: 1, Class: Float32s,
		Calls: []string{"devicemath.ApproxExp2"},
		Fold:  ofFloat(math.Exp2), Approximate: true,
		PTX: "ex2.approx.f32", Go: "kernel.Exp2",
	})

	ApproxExp2Normal = declare(IntrinsicOp{
		Name: "approxExp2Normal", Args: 1, Class: Float32s,
		Calls: []string{"devicemath.ApproxExp2Normal"},
		Fold:  ofFloat(math.Exp2), Approximate: true,
		PTX: "ex2.approx.ftz.f32", Go: "kernel.Exp2",
	})

	ApproxLog2 = declare(IntrinsicOp{
		Name: "approxLog2", Args: 1, Class: Float32s,
		Calls: []string{"devicemath.ApproxLog2"},
		Fold:  ofFloat(math.Log2), Approximate: true,
		PTX: "lg2.approx.f32", Go: "kernel.Log2",
	})

	ApproxSin = declare(IntrinsicOp{
		Name: "approxSin", Args: 1, Class: Float32s,
		Calls: []string{"devicemath.ApproxSin"},
		Fold:  ofFloat(math.Sin), Approximate: true,
		PTX: "sin.approx.f32", Go: "kernel.Sin",
	})

	ApproxCos = declare(IntrinsicOp{
		Name: "approxCos", Args: 1, Class: Float32s,
		Calls: []string{"devicemath.ApproxCos"},
		Fold:  ofFloat(math.Cos), Approximate: true,
		PTX: "cos.approx.f32", Go: "kernel.Cos",
	})

	ApproxRsqrt = declare(IntrinsicOp{
		Name: "approxRsqrt", Args: 1, Class: Float32s,
		Calls: []string{"devicemath.ApproxRsqrt"},
		Fold:  ofFloat(rsqrt), Approximate: true,
		PTX: "rsqrt.approx.f32", Go: "kernel.Rsqrt",
	})

	// ApproxRsqrtNormal is ApproxRsqrt for an argument that is not subnormal. Only
	// passes create it.
	ApproxRsqrtNormal = declare(IntrinsicOp{
		Name: "approxRsqrtNormal", Args: 1, Class: Float32s,
		Fold: ofFloat(rsqrt), Approximate: true,
		PTX: "rsqrt.approx.ftz.f32",
	})

	ApproxRcp = declare(IntrinsicOp{
		Name: "approxRcp", Args: 1, Class: Float32s,
		Calls: []string{"devicemath.ApproxRcp"},
		Fold:  ofFloat(func(x float64) float64 { return 1 / x }), Approximate: true,
		PTX: "rcp.approx.f32",
	})

	ApproxRcpNormal = declare(IntrinsicOp{
		Name: "approxRcpNormal", Args: 1, Class: Float32s,
		Calls: []string{"devicemath.ApproxRcpNormal"},
		Fold:  ofFloat(func(x float64) float64 { return 1 / x }), Approximate: true,
		PTX: "rcp.approx.ftz.f32",
	})

	// ApproxDiv is a division in kernels marked fastmath.
	ApproxDiv = declare(IntrinsicOp{
		Name: "approxDiv", Args: 2, Class: Float32s,
		Fold:        func(t *Type, x []*Const) *Const { return FloatConst(t, x[0].Float/x[1].Float) },
		Approximate: true,
		PTX:         "div.full.f32",
	})

	// ApproxSqrt is Sqrt in kernels marked fastmath.
	ApproxSqrt = declare(IntrinsicOp{
		Name: "approxSqrt", Args: 1, Class: Float32s,
		Fold: ofFloat(math.Sqrt), Approximate: true,
		PTX: "sqrt.approx.f32", Go: "kernel.Sqrt",
	})
)

func rsqrt(x float64) float64 { return 1 / math.Sqrt(x) }
