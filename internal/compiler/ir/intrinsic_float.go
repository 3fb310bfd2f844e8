package ir

import "math"

// Float operations, for float32 and float64 unless stated.
var (
	// Sqrt is correctly rounded.
	Sqrt = declare(IntrinsicOp{
		Name: "sqrt", Args: 1, Class: Floats,
		Calls: []string{"math.Sqrt", "math.sqrt", "kernel.Sqrt", "devicemath.Sqrt"},
		Fold:  ofFloat(math.Sqrt),
		Range: func(x []Interval) Interval { return Interval{math.Sqrt(x[0].Low), math.Sqrt(x[0].High)} }, Rounds: true,
		PTX: "sqrt.rn.T", Go: "math.Sqrt",
	})

	// FMA is x*y+z, rounded once; also for 16-bit floats.
	FMA = declare(IntrinsicOp{
		Name: "fma", Args: 3, Class: Reals,
		Calls: []string{"math.FMA", "kernel.FMA", "devicemath.FMA"},
		Fold: func(t *Type, x []*Const) *Const {
			if t.Kind != Float64 {
				return nil
			}
			return FloatConst(t, math.FMA(x[0].Float, x[1].Float, x[2].Float))
		},
		Range: func(x []Interval) Interval {
			a, b, c, d := x[0].Low*x[1].Low, x[0].Low*x[1].High, x[0].High*x[1].Low, x[0].High*x[1].High
			return Interval{min(a, b, c, d) + x[2].Low, max(a, b, c, d) + x[2].High}
		}, Rounds: true,
		PTX: "fma.rn.T", Go: "kernel.FMA",
	})

	// FMASaturated is FMA limited to 0 and 1, for float32; of NaN it makes 0.
	FMASaturated = declare(IntrinsicOp{
		Name: "fmaSaturated", Args: 3, Class: Float32s,
		Calls: []string{"devicemath.FMASaturated"},
		Range: func([]Interval) Interval { return Interval{0, 1} },
		PTX:   "fma.rn.sat.f32",
	})

	// FMADown is FMA rounded down, for float32.
	FMADown = declare(IntrinsicOp{
		Name: "fmaDown", Args: 3, Class: Float32s,
		Calls: []string{"devicemath.FMADown"},
		PTX:   "fma.rm.f32",
	})

	Abs = declare(IntrinsicOp{
		Name: "abs", Args: 1, Class: Floats,
		Calls: []string{"math.Abs", "kernel.Abs", "devicemath.Abs"},
		Fold:  ofFloat(math.Abs),
		Range: func(x []Interval) Interval { return Interval{0, max(math.Abs(x[0].Low), math.Abs(x[0].High))} },
		PTX:   "abs.T", Go: "math.Abs",
	})

	Floor = declare(IntrinsicOp{
		Name: "floor", Args: 1, Class: Floats,
		Calls: []string{"math.Floor", "kernel.Floor", "devicemath.Floor"},
		Fold:  ofFloat(math.Floor), Range: integral,
		PTX: "cvt.rmi.T.T", Go: "math.Floor",
	})

	Ceil = declare(IntrinsicOp{
		Name: "ceil", Args: 1, Class: Floats,
		Calls: []string{"math.Ceil", "kernel.Ceil", "devicemath.Ceil"},
		Fold:  ofFloat(math.Ceil), Range: integral,
		PTX: "cvt.rpi.T.T", Go: "math.Ceil",
	})

	Trunc = declare(IntrinsicOp{
		Name: "trunc", Args: 1, Class: Floats,
		Calls: []string{"math.Trunc", "kernel.Trunc", "devicemath.Trunc"},
		Fold:  ofFloat(math.Trunc), Range: integral,
		PTX: "cvt.rzi.T.T", Go: "math.Trunc",
	})

	RoundToEven = declare(IntrinsicOp{
		Name: "roundToEven", Args: 1, Class: Floats,
		Calls: []string{"math.RoundToEven", "kernel.RoundToEven", "devicemath.RoundToEven"},
		Fold:  ofFloat(math.RoundToEven), Range: integral,
		PTX: "cvt.rni.T.T", Go: "math.RoundToEven",
	})

	Copysign = declare(IntrinsicOp{
		Name: "copysign", Args: 2, Class: Floats,
		Calls: []string{"math.Copysign", "kernel.Copysign", "devicemath.Copysign"},
		Fold: func(t *Type, x []*Const) *Const {
			return FloatConst(t, math.Copysign(x[0].Float, x[1].Float))
		},
		Go: "math.Copysign",
	})

	// Min and Max are Go's built-in functions, also for integers: NaN wins, and -0 <
	// +0.
	Min = declare(IntrinsicOp{
		Name: "min", Args: 2, Class: Numbers,
		Calls: []string{"kernel.Min"},
		Fold:  func(t *Type, x []*Const) *Const { return extreme(t, x, true) },
		Range: func(x []Interval) Interval { return Interval{min(x[0].Low, x[1].Low), min(x[0].High, x[1].High)} },
	})

	Max = declare(IntrinsicOp{
		Name: "max", Args: 2, Class: Numbers,
		Calls: []string{"kernel.Max"},
		Fold:  func(t *Type, x []*Const) *Const { return extreme(t, x, false) },
		Range: func(x []Interval) Interval { return Interval{max(x[0].Low, x[1].Low), max(x[0].High, x[1].High)} },
	})
)

func extreme(t *Type, x []*Const, least bool) *Const {
	switch {
	case t.IsFloat() && least:
		return FloatConst(t, min(x[0].Float, x[1].Float))
	case t.IsFloat():
		return FloatConst(t, max(x[0].Float, x[1].Float))
	}
	less := x[1].Bits < x[0].Bits
	if x[0].T.IsSigned() {
		less = x[1].Int64() < x[0].Int64()
	}
	if less == least {
		return &Const{T: x[0].T, Bits: x[1].Bits}
	}
	return &Const{T: x[0].T, Bits: x[0].Bits}
}
