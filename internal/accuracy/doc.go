// Package accuracy measures the float32 mathematics of package kernel against
// package math in float64, on the device itself: over every float32 on a GPU,
// over a sample elsewhere.
package accuracy

//go:generate go tool quern gen
