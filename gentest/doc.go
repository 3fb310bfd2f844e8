// Package gentest is for tests of packages with kernels: it tells whether what
// quern gen has written is up to date. One line does it, in any file of tests of
// the package:
//
//	func TestGenerated(t *testing.T) { gentest.UpToDate(t) }
//
// The Go compiler finds that the type of a kernel or of a parameter has changed
// since quern_gen.go was written. It cannot find that the body of a kernel has, a
// function that it calls, a constant, or the order of parameters of one type: the
// program builds, and runs the kernel as it was. The test compiles the kernels
// again, in memory, and compares.
//
// The package has the compiler in it. Only tests should import it.
package gentest
