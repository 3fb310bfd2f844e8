// Package language has one small kernel for each operation of the kernel
// language. docs/kernel-language.md shows them; the tests run each on every
// device of the machine and compare the results.
//
// A file has the kernels of one chapter and its _test.go their tests. A block of
// Go code in the document must occur in one of the files, so that what the
// document shows is what was tested.
package language

//go:generate go tool quern gen
