// Package ranges finds the ranges of integers. It does bounds-check elimination: it
// removes the checks of indices, slice bounds, divisors and shift counts that cannot
// fail. And it narrows int to 32 bits where that is exact, which is what GPUs compute
// fastest.
//
//	ranges.Apply(k, ranges.Proven)
//
// An operation's value is a polynomial over launch arguments, thread
// coordinates and values that are not analysed further, as long as it cannot wrap.
// Conditions of branches and checks that have passed are inequalities between such
// polynomials, and so is what is to be proven: 0 <= i and i < len(x). A check that
// has passed thus proves the next one like it, and "i < len(x)" proves x[i].
//
// What cannot be proven from the kernel can be promised by the launch: Kernel.Limits are
// conditions on sizes, grid and block that the launcher evaluates
// before it picks a variant.
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
// A check that is removed may rely on any that is evaluated before it: the
// operands of an operator from left to right, what is assigned before the place
// that is assigned to. Later passes and back ends keep that order.
package ranges
