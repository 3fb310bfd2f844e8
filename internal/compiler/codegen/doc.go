// Package codegen holds kernels that say which instructions the compiler must,
// and must not, make of them. It has tests only.
//
// A comment at the end of a source line holds regular expressions:
//
//	y[i] += a * x[i] // ptx:"fma.rn.f32" ptx:-"setp"
//
// The first must match in the PTX of that line, the one after the minus sign
// must not. The PTX of a line is what stands between its .loc directives and the
// next ones. Expectations in a kernel's doc comment are about all of its body.
// The code that reports faults, at the end of a module, is not looked at.
//
// ptx is the fastest variant of the kernel that is not coarse; a variant's own
// name (coarse, proven, narrow, wide) stands for that one, which must exist. With
// a minus sign alone, as in wide:-"", the variant must not exist.
//
// Where there is an assembler, every kernel here and every generated module of
// the repository is assembled for each architecture. testdata/registers.golden
// records what they use.
package codegen
