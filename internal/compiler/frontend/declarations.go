package frontend

// declarations are the exported declarations of the standard packages that kernels and
// package kernel use, without the bodies of the functions. Where Go is not installed, programs
// compile kernels against them. What the compiler has instructions for needs no body.
var declarations = map[string]string{
	"math": `package math

const (
	E       = 2.71828182845904523536028747135266249775724709369995957496696763
	Pi      = 3.14159265358979323846264338327950288419716939937510582097494459
	Phi     = 1.61803398874989484820458683436563811772030917980576286213544862
	Sqrt2   = 1.41421356237309504880168872420969807856967187537694807317667974
	SqrtE   = 1.64872127070012814684865078781416357165377610071014801157507931
	SqrtPi  = 1.77245385090551602729816748334114518279754945612238712821380779
	SqrtPhi = 1.27201964951406896425242246173749149171560804184009624861664038
	Ln2     = 0.693147180559945309417232121458176568075500134360255254120680009
	Log2E   = 1 / Ln2
	Ln10    = 2.3025850929940456840179914546843642076011014886287729760333279
	Log10E  = 1 / Ln10

	MaxFloat32             = (1<<24 - 1) * 0x1p104
	SmallestNonzeroFloat32 = 0x1p-149
	MaxFloat64             = (1<<53 - 1) * 0x1p971
	SmallestNonzeroFloat64 = 0x1p-1074

	MaxInt8, MinInt8, MaxUint8     = 1<<7 - 1, -1 << 7, 1<<8 - 1
	MaxInt16, MinInt16, MaxUint16  = 1<<15 - 1, -1 << 15, 1<<16 - 1
	MaxInt32, MinInt32, MaxUint32  = 1<<31 - 1, -1 << 31, 1<<32 - 1
	MaxInt64, MinInt64, MaxUint64  = 1<<63 - 1, -1 << 63, 1<<64 - 1
	MaxInt, MinInt, MaxUint        = MaxInt64, MinInt64, MaxUint64
)

func Abs(x float64) float64
func Acos(x float64) float64
func Acosh(x float64) float64
func Asin(x float64) float64
func Asinh(x float64) float64
func Atan(x float64) float64
func Atan2(y float64, x float64) float64
func Atanh(x float64) float64
func Cbrt(x float64) float64
func Ceil(x float64) float64
func Copysign(f float64, sign float64) float64
func Cos(x float64) float64
func Cosh(x float64) float64
func Dim(x float64, y float64) float64
func Erf(x float64) float64
func Erfc(x float64) float64
func Erfcinv(x float64) float64
func Erfinv(x float64) float64
func Exp(x float64) float64
func Exp2(x float64) float64
func Expm1(x float64) float64
func FMA(x float64, y float64, z float64) float64
func Float32bits(f float32) uint32
func Float32frombits(b uint32) float32
func Float64bits(f float64) uint64
func Float64frombits(b uint64) float64
func Floor(x float64) float64
func Frexp(f float64) (frac float64, exp int)
func Gamma(x float64) float64
func Hypot(p float64, q float64) float64
func Ilogb(x float64) int
func Inf(sign int) float64
func IsInf(f float64, sign int) bool
func IsNaN(f float64) (is bool)
func J0(x float64) float64
func J1(x float64) float64
func Jn(n int, x float64) float64
func Ldexp(frac float64, exp int) float64
func Lgamma(x float64) (lgamma float64, sign int)
func Log(x float64) float64
func Log10(x float64) float64
func Log1p(x float64) float64
func Log2(x float64) float64
func Logb(x float64) float64
func Max(x float64, y float64) float64
func Min(x float64, y float64) float64
func Mod(x float64, y float64) float64
func Modf(f float64) (integer float64, fractional float64)
func NaN() float64
func Nextafter(x float64, y float64) (r float64)
func Nextafter32(x float32, y float32) (r float32)
func Pow(x float64, y float64) float64
func Pow10(n int) float64
func Remainder(x float64, y float64) float64
func Round(x float64) float64
func RoundToEven(x float64) float64
func Signbit(x float64) bool
func Sin(x float64) float64
func Sincos(x float64) (sin float64, cos float64)
func Sinh(x float64) float64
func Sqrt(x float64) float64
func Tan(x float64) float64
func Tanh(x float64) float64
func Trunc(x float64) float64
func Y0(x float64) float64
func Y1(x float64) float64
func Yn(n int, x float64) float64
`,
	"math/bits": `package bits

const UintSize = 64

func Add(x uint, y uint, carry uint) (sum uint, carryOut uint)
func Add32(x uint32, y uint32, carry uint32) (sum uint32, carryOut uint32)
func Add64(x uint64, y uint64, carry uint64) (sum uint64, carryOut uint64)
func Div(hi uint, lo uint, y uint) (quo uint, rem uint)
func Div32(hi uint32, lo uint32, y uint32) (quo uint32, rem uint32)
func Div64(hi uint64, lo uint64, y uint64) (quo uint64, rem uint64)
func LeadingZeros(x uint) int
func LeadingZeros16(x uint16) int
func LeadingZeros32(x uint32) int
func LeadingZeros64(x uint64) int
func LeadingZeros8(x uint8) int
func Len(x uint) int
func Len16(x uint16) (n int)
func Len32(x uint32) (n int)
func Len64(x uint64) (n int)
func Len8(x uint8) int
func Mul(x uint, y uint) (hi uint, lo uint)
func Mul32(x uint32, y uint32) (hi uint32, lo uint32)
func Mul64(x uint64, y uint64) (hi uint64, lo uint64)
func OnesCount(x uint) int
func OnesCount16(x uint16) int
func OnesCount32(x uint32) int
func OnesCount64(x uint64) int
func OnesCount8(x uint8) int
func Rem(hi uint, lo uint, y uint) uint
func Rem32(hi uint32, lo uint32, y uint32) uint32
func Rem64(hi uint64, lo uint64, y uint64) uint64
func Reverse(x uint) uint
func Reverse16(x uint16) uint16
func Reverse32(x uint32) uint32
func Reverse64(x uint64) uint64
func Reverse8(x uint8) uint8
func ReverseBytes(x uint) uint
func ReverseBytes16(x uint16) uint16
func ReverseBytes32(x uint32) uint32
func ReverseBytes64(x uint64) uint64
func RotateLeft(x uint, k int) uint
func RotateLeft16(x uint16, k int) uint16
func RotateLeft32(x uint32, k int) uint32
func RotateLeft64(x uint64, k int) uint64
func RotateLeft8(x uint8, k int) uint8
func Sub(x uint, y uint, borrow uint) (diff uint, borrowOut uint)
func Sub32(x uint32, y uint32, borrow uint32) (diff uint32, borrowOut uint32)
func Sub64(x uint64, y uint64, borrow uint64) (diff uint64, borrowOut uint64)
func TrailingZeros(x uint) int
func TrailingZeros16(x uint16) int
func TrailingZeros32(x uint32) int
func TrailingZeros64(x uint64) int
func TrailingZeros8(x uint8) int
`,
}
