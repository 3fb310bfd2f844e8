// Package kernels has the kernel of package algebra, which runs a program of an expression for each pixel.
package kernels

//go:generate go tool quern gen
