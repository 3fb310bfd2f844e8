// Package codegen contains kernels that state which instructions the compiler must and
// must not generate for them. It has only tests.
//
// A comment at the end of a source line holds regular expressions:
//
//	y[i] += a * x[i] // ptx:"fma.rn.f32" ptx:-"setp"
//
// The first must match the PTX of that line; the one after the minus sign must not. The
// PTX of a line is the text from its .loc directives to the next ones. Expectations in
// a kernel's doc comment apply to its whole body. The code that reports faults, at the
// end of a module, is ignored.
//
// ptx is the fastest variant of the kernel that is not coarse. The name of a variant
// (coarse, proven, narrow, wide) selects that variant, which must exist. With only a
// minus sign, as in wide:-"", the variant must not exist.
//
// If there is an assembler, every kernel here and every generated module of the
// repository is assembled for each architecture. testdata/registers.golden records
// their resource use.
package codegen
