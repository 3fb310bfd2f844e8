// Package accuracy measures the error of package kernel's float32 functions against
// package math in float64, on the device itself: for every float32 on a GPU, for a sample
// elsewhere.
package accuracy

//go:generate go tool quern gen
