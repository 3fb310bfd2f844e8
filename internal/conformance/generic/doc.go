// Package generic has kernels with type parameters, function values, loop hints and
// specialized parameters. Its tests run them on every device of the machine and compare
// the results with plain Go.
package generic

//go:generate go tool quern gen
