// Package endless has kernels that never end. Its tests cancel their launches.
package endless

//go:generate go tool quern gen
