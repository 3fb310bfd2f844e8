package devicemath

// Functions gives for functions of package kernel the name of their float32
// implementation here. Those that are missing are instructions or defined in
// package kernel by others.
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

// Fast gives the implementations that a kernel marked fastmath uses instead.
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
