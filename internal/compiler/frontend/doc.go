// Package frontend turns kernels written in Go into the compiler's
// intermediate representation.
//
// A World knows where packages are: Load fills one through the go command, for
// the generator; Text makes one for a single file of source text, for
// compilation at run time. A Package has been type-checked; Lower turns its
// kernels, and every function in their reach, into an ir.Program.
//
// What cannot be a kernel is reported as Diagnostics, all of a package at once,
// each at file:line:col with the kernel's name, what is unsupported, and what to
// write instead. Lower gives a program only when there is none.
//
// Function bodies outside the package are looked up on demand and type-checked
// from source: those of the standard library as for a machine for which it has
// no assembly, so that what is compiled is the portable Go version; those of
// package kernel and of the float32 mathematics from the sources that the
// compiler carries with it.
//
// What the front end promises about its output is in docs/ARCHITECTURE.md.
package frontend
