// Package language contains one small kernel per operation of the kernel
// language. docs/kernel-language.md shows them. The tests run each kernel on
// every device of the machine and compare the results.
//
// Each file contains the kernels of one chapter, and its _test.go file their
// tests. Every block of Go code in the document must occur in one of the files,
// so that the document shows only tested code.
package language

//go:generate go tool quern gen
