// Package output has kernels that print, assert, sample textures and draw random numbers.
// Its tests run them on every device and compare the results with plain Go.
package output

//go:generate go tool quern gen
