// Package endless has kernels that do not end by themselves. Its tests give their
// launches up.
package endless

//go:generate go tool quern gen
