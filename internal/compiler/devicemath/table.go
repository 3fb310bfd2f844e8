package devicemath

// Functions maps functions of package kernel to the names of their float32
// implementations here. Missing functions are instructions, or are defined in package
// kernel in terms of others.
var Functions = map[string]string{
	"Exp":   "Exp",
	"Exp2":  "Exp2",
	"Expm1": "Expm1",
	"Log":   "Log",
	"Log2":  "Log2",
	"Log10": "Log10",
	"Log1p": "Log1p",
	"Pow":   "Pow",
	"Sin":   "Sin",
	"Cos":   "Cos",
	"Tan":   "Tan",
	"Asin":  "Asin",
	"Acos":  "Acos",
	"Atan":  "Atan",
	"Atan2": "Atan2",
	"Sinh":  "Sinh",
	"Cosh":  "Cosh",
	"Tanh":  "Tanh",
	"Hypot": "Hypot",
	"Cbrt":  "Cbrt",
	"Rsqrt": "Rsqrt",
	"Mod":   "Mod",
	"Round": "Round",
}

// Fast maps functions to the implementations that a kernel marked fastmath uses.
var Fast = map[string]string{
	"Exp":   "FastExp",
	"Exp2":  "FastExp2",
	"Log":   "FastLog",
	"Log2":  "FastLog2",
	"Log10": "FastLog10",
	"Pow":   "FastPow",
	"Sin":   "FastSin",
	"Cos":   "FastCos",
	"Tan":   "FastTan",
	"Sinh":  "FastSinh",
	"Cosh":  "FastCosh",
	"Tanh":  "FastTanh",
	"Rsqrt": "FastRsqrt",
}
