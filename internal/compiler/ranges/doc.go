// Package ranges computes ranges of integers. It eliminates bounds checks: it removes
// checks of indices, slice bounds, divisors and shift counts that cannot fail. It also
// narrows int to 32 bits, the fastest width on GPUs, where the result is exact.
//
//	ranges.Apply(k, ranges.Proven)
//
// The value of an operation is a polynomial over launch arguments, thread coordinates
// and values that are not analysed further, provided that it cannot wrap. Branch
// conditions and passed checks are inequalities between such polynomials, and so are
// the goals: 0 <= i and i < len(x). So a passed check proves later checks like it, and
// "i < len(x)" proves x[i].
//
// What the kernel does not prove, the launch can promise: Kernel.Limits are conditions
// on sizes, grid and block that the launcher evaluates before it selects a variant.
//
//	walk.go, value.go, binary.go, condition.go   interpret the body over polynomials
//	loop.go, join.go                             invariants of loops, and what holds behind branches
//	poly.go, interval.go                         polynomials, and intervals of int64
//	prover.go, bound.go                          whether a polynomial is never negative
//	scan.go                                      what a walk needs to know beforehand
//	limits.go, shared.go                         launch conditions
//	narrow.go                                    rewrites int as int32
//	trips.go                                     how often loops run
//
// A removed check may rely on any check that is evaluated before it. Operands of an
// operator are evaluated from left to right, and an assigned value before its
// destination. Later passes and back ends preserve that order.
package ranges
