// Package limits evaluates the conditions under which a kernel's narrow
// variant may run.
//
// The compiler narrows int to 32 bits under assumptions about a launch: that
// slices have fewer than 2^31 elements, that w*h fits, and so on. It writes the
// assumptions down as a Program; the launcher evaluates it with the launch's
// arguments and takes the wide variant when Hold says no.
//
// A Program is a sequence of conditions in postfix form. Each pushes operands,
// combines them and ends in an AtMost, which pops a value and compares it with
// a bound:
//
//	Arg 1, Arg 2, Mul, AtMost 2147483648    // w*h <= 2^31
//
// Arithmetic is exact: an operation whose result does not fit 64 bits makes
// the program fail, so that a program which holds says something about
// mathematical integers and not about wrapped ones. An empty program holds.
//
// Hold allocates nothing and is total: on a program that Validate rejects it
// returns false.
package limits
