// Package devicemath implements the float32 functions of package kernel for the GPU,
// which has no mathematical library. The compiler compiles these functions like any
// other Go function that a kernel calls.
//
// The functions with names from package kernel are within 2 ULP of the exact result for
// all arguments, including subnormal ones, and have the special cases of package math.
// They use operations defined by IEEE 754 and no approximations of the hardware, except
// Rsqrt, whose approximation is equally accurate. The results are therefore the same on
// every device that fuses the same operations. Operations for which fusing matters use
// FMA or an explicit conversion.
//
// The functions named Fast... use the hardware's approximations directly, for kernels
// marked fastmath. Their relative error is about 2**-21 if there is no cancellation,
// they do not handle special cases, and FastSin and FastCos lose one bit each time the
// argument doubles.
//
// The functions in prim.go are single instructions of the target. The compiler replaces
// calls of them by the instruction; the Go bodies define the result and let this
// package run as Go.
//
// The program in directory fit computes the polynomials.
//
// Functions that are single instructions, such as the absolute value, and float64
// functions are not in this package: for these the compiler uses package math.
package devicemath
