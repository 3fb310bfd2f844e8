// Package devicemath implements the float32 functions of package kernel on the
// GPU, which has no mathematical library of its own. The compiler compiles
// these functions as it does any other Go function that a kernel calls.
//
// The functions named as in package kernel are within 2 ULP of the exact result
// for all arguments, subnormal ones included, and have the special cases of
// package math. They stand on operations that IEEE 754 defines and on nothing
// that the hardware approximates, but for Rsqrt, whose approximation is as good
// as that. The results are therefore the same on every device that fuses
// the same operations; the operations whose fusing matters say so, with FMA or
// with a conversion.
//
// The functions named Fast... take the approximations as they are, for kernels
// marked fastmath: their relative error is some 2**-21 where nothing cancels,
// they lose special cases, and FastSin and FastCos lose one bit for each
// doubling of the argument.
//
// The functions declared in prim.go are single instructions of the target,
// which the compiler puts in the place of calls; their bodies say what they
// compute and let this package run as Go.
//
// Polynomials come from the program in directory fit.
//
// The package has no functions that are a single instruction, such as the
// absolute value, and none in float64: the compiler takes package math's own.
package devicemath
