// Package frontend converts kernels written in Go to the compiler's intermediate
// representation.
//
// A World knows where packages are: Load fills one with the go command, for the
// generator; Text creates one for a single source file, for compilation at run time. A
// Package is type-checked; Lower converts its kernels, and every function that they
// reach, to an ir.Program.
//
// Code that cannot be a kernel is reported as Diagnostics, all of a package at once.
// Each has file:line:col, the kernel's name, what is unsupported, and what to write
// instead. Lower returns a program only if there are no diagnostics.
//
// Function bodies outside the package are looked up on demand and type-checked from
// source. For the standard library, this is the source for a machine without assembly,
// so that the portable Go version is compiled. For package kernel and the float32
// mathematics, it is the source embedded in the compiler.
//
// docs/ARCHITECTURE.md states the invariants of the front end's output.
package frontend
