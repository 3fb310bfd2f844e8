// Package gentest tests that the generated files of a package with kernels are up
// to date. Add one line to any test file of the package:
//
//	func TestGenerated(t *testing.T) { gentest.UpToDate(t) }
//
// The Go compiler notices if the type of a kernel or parameter has changed since
// quern_gen.go was written. It does not notice changes to the body of a kernel,
// to a function that the kernel calls, to a constant, or to the order of
// parameters of the same type: the program builds and runs the old kernel. The
// test compiles the kernels in memory and compares the result with the files.
//
// The package contains the compiler, so import it only from tests.
package gentest
