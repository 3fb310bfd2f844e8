// Package kernels has the kernel of package device.
package kernels

//go:generate go tool quern gen
