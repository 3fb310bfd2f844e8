// Package limits evaluates the conditions under which the narrow variant of a
// kernel may run.
//
// The compiler narrows int to 32 bits under assumptions about a launch: slices
// have fewer than 2^31 elements, w*h fits, and so on. It writes these assumptions
// as a Program. The launcher evaluates the Program with the launch's arguments
// and uses the wide variant if Hold returns false.
//
// A Program is a sequence of conditions in postfix form. Each condition pushes
// operands, combines them and ends with AtMost, which pops a value and compares
// it with a bound:
//
//	Arg 1, Arg 2, Mul, AtMost 2147483648    // w*h <= 2^31
//
// Arithmetic is exact: the program fails if the result of an operation does not
// fit 64 bits. A condition that holds is therefore true of mathematical integers,
// not only of wrapped ones. An empty program holds.
//
// Hold does not allocate and never panics. It returns false for programs that
// Validate rejects.
package limits
