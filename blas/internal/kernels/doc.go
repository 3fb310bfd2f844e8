// Package kernels has the kernels of package blas, which documents what they compute, chooses
// among them, and checks their arguments. They are a package of their own because launchers
// are exported.
//
// All matrices are row-major: element (i, j) is at i*stride + j. Indices are checked.
package kernels
