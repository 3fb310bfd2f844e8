// Package types holds kernels for every kind of type that a kernel can have: 16-bit
// floats, complex numbers, vectors, nested structs and arrays, and tables. Its tests run
// each on every device of the machine and compare the results with plain Go.
package types

//go:generate go tool quern gen
