// Package output has kernels that print, assert and draw random numbers, and
// tests that compare them on every device with plain Go.
package output

//go:generate go tool quern gen
